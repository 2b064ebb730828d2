"""Runs inside the api's container: the paths of every file write that the audit log knows. Prints {action: [path]}."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import psycopg

URL = Path("/run/handrail/secrets/audit_database_url")
QUERY = "select action, coalesce(array_agg(details->>'path'), '{}') from audit_log where category = 'fs' group by action"


def main() -> None:
    """One JSON object."""
    with psycopg.connect(URL.read_text("ascii").strip()) as connection:
        rows = connection.execute(QUERY).fetchall()
    sys.stdout.write(json.dumps(dict(rows)))


main()
