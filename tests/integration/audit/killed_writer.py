"""A process that records without end until it is killed; prints each id or number once it was acknowledged."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from handrail.api.audit.events import AuditEvent
from tests.support.database import Prepared
from tests.support.parts import audit_of


async def main(name: str, secrets: str, superuser: str, base: str) -> None:
    prepared = Prepared(name, Path(secrets), Path("/"), superuser)
    async with audit_of(prepared, Path(base)) as audit:
        sys.stdout.write(f"{audit.writer}\n")
        n = 0
        while True:
            for _ in range(20):
                n += 1
                audit.read(AuditEvent("fs", "read", details={"n": n}))
                sys.stdout.write(f"{n}\n")
            n += 1
            await audit.effect(AuditEvent("fs", "write", details={"n": n}))
            sys.stdout.write(f"{n}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
