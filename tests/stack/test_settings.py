"""The compose file hands every setting of a service through, and nothing that no service knows."""

from __future__ import annotations

import json
import re

import pytest

from handrail.contract.setting_names import BY_NAME
from tests.stack.stack import ROOT, Stack

# fixed by the form itself: a user changes the left side of a port or volume instead
FIXED = {
    "HANDRAIL_ADMIN_SOCKET",
    "HANDRAIL_DATA_DIR",
    "HANDRAIL_FORM",
    "HANDRAIL_HOST",
    "HANDRAIL_LOG_DIR",
    "HANDRAIL_PORT",
    "HANDRAIL_RUN_DIR",
    "HANDRAIL_SANDBOX_NETWORK",  # the container has none
    "HANDRAIL_SANDBOX_SOCKET",
    "HANDRAIL_SECRETS_DIR",
    "HANDRAIL_WORKDIR",
}
SERVICES = ("api", "worker", "sandbox")


@pytest.mark.req("STK-1")
@pytest.mark.parametrize("service", SERVICES)
def test_every_setting_of_a_service_can_be_set_from_outside(service: str) -> None:
    wanted = {name for name, setting in BY_NAME.items() if service in setting.used_by} - FIXED
    stack = Stack("handrail-config", dict.fromkeys(wanted, "17"))
    done = stack.compose("config", "--format", "json")
    assert done.code == 0, done.err
    environment = json.loads(done.out)["services"][service]["environment"]
    missing = {name for name in wanted if environment.get(name) != "17"}
    assert missing == set()


@pytest.mark.req("STK-1")
@pytest.mark.parametrize("service", [*SERVICES, "beat", "init"])
def test_no_service_gets_a_setting_that_does_not_exist(service: str) -> None:
    done = Stack("handrail-config", {}).compose("config", "--format", "json")
    given = json.loads(done.out)["services"][service]["environment"]
    unknown = {name for name in given if name.startswith("HANDRAIL_")} - set(BY_NAME)
    assert unknown == set()


@pytest.mark.req("STK-2")
def test_without_any_variable_the_work_root_is_a_volume_and_the_port_is_on_loopback() -> None:
    config = json.loads(Stack("handrail-config", {}).compose("config", "--format", "json").out)
    for service in ("api", "sandbox", "init"):
        mounts = {mount["target"]: mount for mount in config["services"][service]["volumes"]}
        assert mounts["/work"]["type"] == "volume"
    assert [(p["host_ip"], p["published"], p["target"]) for p in config["services"]["api"]["ports"]] == [("127.0.0.1", "18910", 18910)]
    assert [name for name, service in config["services"].items() if service.get("ports")] == ["api"]


@pytest.mark.req("STK-3")
def test_with_workdir_set_the_path_is_the_same_inside_and_outside() -> None:
    config = json.loads(Stack("handrail-config", {"WORKDIR": "/srv/projects"}).compose("config", "--format", "json").out)
    for service in ("api", "sandbox", "init"):
        binds = [(m["source"], m["target"]) for m in config["services"][service]["volumes"] if m["type"] == "bind"]
        assert binds == [("/srv/projects", "/srv/projects")]
        assert config["services"][service]["environment"]["HANDRAIL_WORKDIR"] == "/srv/projects"


@pytest.mark.req("PG-37")
def test_no_secret_and_no_docker_socket_is_in_the_compose_file() -> None:
    text = (ROOT / "compose.yaml").read_text("utf-8")
    assert "docker.sock" not in text
    assert re.search(r"(?i)password\s*[:=]|://[^/\s]*:[^/\s]*@", text) is None


@pytest.mark.req("STK-4")
def test_every_image_stands_on_the_one_base() -> None:
    files = sorted((ROOT / "images").glob("*/Dockerfile"))
    assert [file.parent.name for file in files] == ["api", "broker", "db", "init", "sandbox", "worker"]
    for file in files:
        text = file.read_text("utf-8")
        stages = set(re.findall(r"^FROM \S+ AS (\S+)", text, re.MULTILINE))
        bases = set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) - stages
        assert bases == {"debian:trixie-slim"}, file
        assert "syntax=" not in text, file
        assert re.search(r"^USER 10001:10001$", text, re.MULTILINE), file


@pytest.mark.req("STK-4")
def test_no_image_is_ever_taken_from_a_registry_by_its_name() -> None:
    services = json.loads(Stack("handrail-config", {}).compose("config", "--format", "json").out)["services"]
    assert {name: service["pull_policy"] for name, service in services.items()} == dict.fromkeys(services, "never")
    built = {service["image"] for service in services.values() if "build" in service}
    assert {service["image"] for service in services.values()} == built
