from __future__ import annotations

from importlib import resources

import pytest

from handrail.store.migrate import latest, migrations
from handrail.store.statements import Statements, load
from handrail.store.urls import celery_url, with_database, with_role

DOMAINS = sorted(path.name[:-4] for path in resources.files("handrail.store").joinpath("sql").iterdir() if path.name.endswith(".sql"))


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_sql_file_is_a_list_of_named_statements(domain: str) -> None:
    statements = load(domain)
    assert len(statements) > 0
    assert all(statement.strip() for statement in statements.values())


def test_a_name_that_is_there_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="twice"):
        Statements("x", "-- name: a\nselect 1;\n-- name: a\nselect 2;\n")


def test_text_before_the_first_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="must begin"):
        Statements("x", "select 1;\n-- name: a\nselect 2;\n")


def test_migrations_are_numbered_pairs_and_part_of_the_package() -> None:
    found = migrations()
    assert [m.phase for m in found] == ["pre", "post"] * latest()
    assert [m.number for m in found if m.phase == "pre"] == list(range(1, latest() + 1))


def test_the_url_of_a_role_keeps_server_and_options_and_quotes_the_password() -> None:
    admin = "postgresql://postgres:admin@db.test:5433/postgres?sslmode=require"
    url = with_role(admin, role="handrail_api", password="p@ss/w:rd", database="handrail")
    assert url.startswith("postgresql://handrail_api:p%40ss%2Fw%3Ard@/handrail?")
    assert "host=db.test" in url
    assert "port=5433" in url
    assert "sslmode=require" in url
    assert "admin" not in url


def test_the_url_of_another_database_keeps_the_role() -> None:
    url = with_database("postgresql://postgres:pw@/postgres?host=/run/pg", "handrail")
    assert url == "postgresql://postgres:pw@/handrail?host=/run/pg"


@pytest.mark.parametrize(
    ("url", "kombu"),
    [
        ("unix://:pw@/run/valkey.sock?db=2", "redis+socket://:pw@/run/valkey.sock?virtual_host=2"),
        ("unix:///run/valkey.sock", "redis+socket:///run/valkey.sock?virtual_host=0"),
        ("redis://:pw@broker:6379/0", "redis://:pw@broker:6379/0"),
    ],
)
def test_redis_addresses_in_the_spelling_of_celery(url: str, kombu: str) -> None:
    assert celery_url(url) == kombu
