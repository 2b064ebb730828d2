"""A work root of the user's own, with the user's own uid: what `make up` does."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.demo.client import Client
from tests.stack.client import paired
from tests.stack.stack import RUN_AS_USER, Stack, run

OTHER_UID = 23456
HELPER = ["docker", "run", "--rm", "--network=none", "--user=0", "debian:trixie-slim"]


@pytest.fixture(scope="module")
def work() -> Generator[Path]:
    """A directory of the host that belongs to OTHER_UID. Whoever runs the tests may use Docker, so Docker sets the owner."""
    with tempfile.TemporaryDirectory(prefix="handrail-work-", ignore_cleanup_errors=True) as name:
        path = Path(name).resolve()
        mount = [f"--volume={path}:{path}"]
        mounted = [*HELPER[:-1], *mount, HELPER[-1]]
        assert run([*mounted, "chown", f"{OTHER_UID}:{OTHER_UID}", str(path)]).code == 0
        yield path
        run([*mounted, "sh", "-c", f"rm -rf {path}/* && chown {os.getuid()}:{os.getgid()} {path}"])


@pytest.fixture(scope="module")
def own(stack: Stack, work: Path) -> Generator[Stack]:
    """The same project again with WORKDIR and the user's uid; afterwards as it was."""
    it = stack.with_settings(WORKDIR=str(work), HANDRAIL_UID=str(OTHER_UID), HANDRAIL_GID=str(OTHER_UID))
    it.up()
    yield it
    stack.up()


@pytest.fixture(scope="module")
def device(own: Stack) -> Generator[Client]:
    with paired(own) as client:
        yield client


@pytest.mark.req("STK-3")
def test_paths_mean_the_same_inside_and_outside(device: Client, work: Path) -> None:
    device.post("/api/fs/write", path=f"{work}/from-api.txt", content="hello")
    assert device.run("cat from-api.txt && pwd > from-command.txt", str(work))["stdout"] == "hello"
    assert (work / "from-api.txt").read_text("utf-8") == "hello"
    assert (work / "from-command.txt").read_text("utf-8") == f"{work}\n"


@pytest.mark.req("STK-7")
def test_files_belong_to_the_user(device: Client, work: Path) -> None:
    device.run("touch mine", str(work))
    device.post("/api/fs/write", path=f"{work}/mine-too", content="")
    assert {(work / name).stat().st_uid for name in ("mine", "mine-too")} == {OTHER_UID}


@pytest.mark.req("STK-7")
@pytest.mark.parametrize("service", RUN_AS_USER)
def test_services_run_as_the_user(own: Stack, service: str) -> None:
    assert own.sh(service, "id -u").out.strip() == str(OTHER_UID)
    assert own.is_healthy(service)


@pytest.mark.req("STK-11")
def test_a_work_root_that_the_user_cannot_write_is_a_clear_error(stack: Stack, tmp_path: Path) -> None:
    """Asked of the init step alone, so that the running stack is left in peace."""
    tmp_path.chmod(0o755)
    bad = stack.with_settings(WORKDIR=str(tmp_path), HANDRAIL_UID="23457", HANDRAIL_GID="23457")
    done = bad.compose("run", "--rm", "--no-deps", "-T", "init")
    assert done.code == 78, done
    assert f"the work root {tmp_path} belongs to uid {os.getuid()} and uid 23457 cannot write it" in done.err


@pytest.mark.req("STK-11")
@pytest.mark.parametrize("uid", ["0", "me", "-1"])
def test_root_or_nonsense_as_the_user_of_the_services_is_refused(stack: Stack, uid: str) -> None:
    done = stack.with_settings(HANDRAIL_UID=uid).compose("run", "--rm", "--no-deps", "-T", "keys")
    assert done.code == 78, done
    assert "must be the numbers of an ordinary user" in done.err
