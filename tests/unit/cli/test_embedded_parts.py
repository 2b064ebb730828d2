from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from handrail.cli.embedded.backoff import CAP_S, STABLE_S, Backoff
from handrail.cli.embedded.layout import LONGEST_SOCKET, MAX_SOCKET_PATH, Layout, prepare, run_dir_for, write_private
from handrail.cli.embedded.logfile import MAX_BYTES, LogFile
from handrail.cli.embedded.ports import check_free
from handrail.cli.embedded.services import parts, service_env
from handrail.cli.errors import CannotListen, DataDirUnusable, PortInUse, RunDirNotOurs
from handrail.cli.options import Options


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "d", tmp_path / "r")
    prepare(layout)
    return layout


@pytest.mark.req("EMB-1")
def test_a_service_that_dies_again_and_again_waits_longer_and_one_that_lived_starts_anew() -> None:
    backoff = Backoff()
    delays = [backoff.after(0.1) for _ in range(12)]
    assert delays[:4] == [0.25, 0.5, 1.0, 2.0]
    assert max(delays) == CAP_S
    assert backoff.after(STABLE_S) == 0.25


@pytest.mark.req("EMB-2")
def test_socket_paths_stay_short_and_one_data_directory_has_one_run_directory(tmp_path: Path) -> None:
    short = Path("/tmp/x")
    assert run_dir_for(short) == short / "run"
    deep = tmp_path / ("long-" * 20)
    run = run_dir_for(deep)
    assert not run.is_relative_to(deep)
    assert len(os.fsencode(run / LONGEST_SOCKET)) <= MAX_SOCKET_PATH
    assert run == run_dir_for(deep) != run_dir_for(deep / "x")


@pytest.mark.req("EMB-2")
def test_directories_are_private_and_a_parent_is_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    layout = Layout(tmp_path / "d", tmp_path / "r")
    prepare(layout)
    for path in (layout.data, layout.run, layout.run / "pg", layout.secrets("api"), layout.logs):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750
    layout.run.chmod(0o755)
    prepare(layout)
    assert stat.S_IMODE(layout.run.stat().st_mode) == 0o700


@pytest.mark.req("EMB-2")
def test_a_link_or_a_file_in_place_of_a_directory_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "r").symlink_to(elsewhere)
    with pytest.raises(RunDirNotOurs):
        prepare(Layout(tmp_path / "d", tmp_path / "r"))
    (tmp_path / "d" / "logs").rmdir()
    (tmp_path / "d" / "logs").write_text("x")
    with pytest.raises(DataDirUnusable):
        prepare(Layout(tmp_path / "d", tmp_path / "r2"))
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataDirUnusable):
        prepare(Layout(tmp_path / "file", tmp_path / "r2"))


def test_a_secret_is_replaced_whole_and_never_through_a_link(layout: Layout, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    path = layout.secrets("init") / "x"
    path.symlink_to(target)
    write_private(path, b"secret", layout)
    assert target.read_text() == "precious"
    assert (path.read_text(), path.is_symlink(), stat.S_IMODE(path.stat().st_mode)) == ("secret", False, 0o600)


@pytest.mark.req("PF-C8")
def test_a_port_in_use_is_told_with_the_way_out() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse, match=f"Port {port} .*--port") as caught:
            check_free("127.0.0.1", port)
        assert "--port" in caught.value.text("zh")
    check_free("127.0.0.1", port)
    with pytest.raises(CannotListen):
        check_free("192.0.2.1", port)


def test_a_log_gives_whole_lines_once_and_is_cut_when_large(layout: Layout) -> None:
    log = LogFile(layout, "x")
    os.write(log.fd, b"one\ntw")
    assert log.new_lines() == ["one"]
    os.write(log.fd, b"o\n\xff\n")
    assert log.new_lines() == ["two", "\N{REPLACEMENT CHARACTER}"]
    assert log.new_lines() == []
    assert log.tail(1) == ["\N{REPLACEMENT CHARACTER}"]
    os.write(log.fd, b"x" * (MAX_BYTES + 1) + b"\n")
    log.rotate()
    assert log.path.stat().st_size == 0
    assert log.path.with_name("x.log.1").stat().st_size > MAX_BYTES
    os.write(log.fd, b"again\n")
    assert log.new_lines()[-1] == "again"
    log.close()


@pytest.mark.req("EMB-3")
def test_a_service_sees_its_own_secrets_and_nothing_of_the_starters_environment(layout: Layout) -> None:
    options = Options(str(layout.data), "127.0.0.1", 5, "/work", "zh", {"HANDRAIL_FILE_MAX_SIZE": "7"})
    environ = {
        "PATH": "/usr/bin",
        "HOME": "/home/x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "DATABASE_URL": "postgresql://u:p@h/d",
        "LD_PRELOAD": "/x.so",
        "PYTHONPATH": "/x",
        "HANDRAIL_CONFIRM": "human",
        "HANDRAIL_PORT": "6",
    }
    env = service_env(layout, options, environ, "sandbox")
    assert set(env) & {"AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "LD_PRELOAD", "PYTHONPATH"} == set()
    assert env["HANDRAIL_SECRETS_DIR"] == str(layout.secrets("sandbox"))
    assert (env["HANDRAIL_CONFIRM"], env["HANDRAIL_PORT"], env["HANDRAIL_FILE_MAX_SIZE"]) == ("human", "5", "7")
    zones = {part.name: part.command()[1]["HANDRAIL_SECRETS_DIR"].rpartition("/")[2] for part in parts(layout, options, environ)}
    assert zones == {"api": "api", "sandbox": "sandbox", "worker": "worker", "beat": "worker"}
    assert all("DATABASE_URL" not in part.command()[1] for part in parts(layout, options, environ))
