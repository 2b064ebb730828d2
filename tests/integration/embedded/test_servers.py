from __future__ import annotations

import os
import stat
from pathlib import Path

import psycopg
import pytest
import redis

from handrail.jail import procfs
from tests.support.places import reachable_dir
from tests.support.servers import Postgres, Valkey, layout_in, running_postgres


@pytest.mark.req("EMB-PG")
def test_postgres_has_pgvector_and_understands_chinese_letters(empty_database: str) -> None:
    with psycopg.connect(empty_database) as connection:
        connection.execute("create extension vector")
        row = connection.execute(
            "select '[1,2]'::halfvec(2) <-> '[1,3]'::halfvec(2), upper('é'), show_setting from current_setting('fsync') show_setting"
        ).fetchone()
    assert row == (1.0, "É", "on")


@pytest.mark.req("EMB-PG")
def test_postgres_asks_for_a_password_on_its_socket(postgres: Postgres) -> None:
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://postgres:wrong@/postgres?host={postgres.socket_dir}")
    with psycopg.connect(postgres.url()) as connection:
        assert connection.execute("show listen_addresses").fetchone() == ("",)


@pytest.mark.req("EMB-VALKEY")
def test_valkey_asks_for_a_password_and_never_evicts(valkey: Valkey) -> None:
    stranger = redis.Redis(unix_socket_path=str(valkey.socket))
    with pytest.raises(redis.AuthenticationError):
        stranger.ping()
    stranger.close()
    client = redis.Redis.from_url(valkey.url())
    try:
        assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
        assert client.config_get("appendonly")["appendonly"] == "yes"
    finally:
        client.close()


@pytest.mark.req("EMB-PG", "EMB-VALKEY")
def test_servers_listen_in_private_directories_and_hold_their_passwords_in_private_files(postgres: Postgres, valkey: Valkey) -> None:
    layout = postgres.layout
    for path in (layout.run, layout.run / "pg", layout.data / "pg", layout.data / "valkey", layout.secrets("init")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
        assert path.stat().st_uid == layout.uid
    for path in (
        layout.secrets("init") / "postgres_password",
        layout.secrets("init") / "valkey_password",
        layout.data / "valkey" / "valkey.conf",
    ):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@pytest.mark.req("EMB-ROOT")
def test_servers_never_run_as_root_and_never_change_a_parent_directory() -> None:
    with reachable_dir() as base:
        base.chmod(0o711)
        layout = layout_in(base / "data")
        with running_postgres(layout) as server, psycopg.connect(server.url()) as connection:
            backend = connection.info.backend_pid
            assert Path(f"/proc/{backend}").stat().st_uid == layout.uid != 0
        assert stat.S_IMODE(base.stat().st_mode) == 0o711
        assert procfs.read_stat(backend) is None


@pytest.mark.req("EMB-PG")
def test_a_lock_file_of_another_program_does_not_block_postgres() -> None:
    with reachable_dir() as base:
        layout = layout_in(base / "data")
        with running_postgres(layout):
            pass
        lock: Path = layout.data / "pg" / "data" / "postmaster.pid"
        # a reused pid: this very test process is alive and is no postgres of that directory
        lock.write_text(f"{os.getpid()}\n{lock.parent}\n1\n5432\n{layout.run / 'pg'}\n\n  1  1\nready\n")
        os.chown(lock, layout.uid, layout.gid)
        with running_postgres(layout) as server, psycopg.connect(server.url()) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
