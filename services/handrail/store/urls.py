"""Connection addresses: another role or database at the same server, and the two spellings of a Redis address."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from psycopg.conninfo import conninfo_to_dict


def with_role(admin: str, *, role: str, password: str, database: str) -> str:
    """The URL of `role` on the server of the URL or DSN `admin`."""
    known = conninfo_to_dict(admin)
    kept = {key: str(value) for key, value in known.items() if key not in ("user", "password", "dbname") and value is not None}
    query = urlencode(kept, quote_via=quote, safe="/")
    return f"postgresql://{quote(role, safe='')}:{quote(password, safe='')}@/{quote(database, safe='')}?{query}"


def with_database(admin: str, database: str) -> str:
    """The same role in another database."""
    known = conninfo_to_dict(admin)
    return with_role(admin, role=str(known.get("user") or ""), password=str(known.get("password") or ""), database=database)


def celery_url(redis_url: str) -> str:
    """The address as kombu spells it: `unix://:pw@/path?db=0` becomes `redis+socket://:pw@/path?virtual_host=0`."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    password = f":{quote(unquote(parts.password), safe='')}@" if parts.password else ""
    fields = dict(parse_qsl(parts.query))
    return f"redis+socket://{password}{parts.path}?virtual_host={fields.get('db', '0')}"
