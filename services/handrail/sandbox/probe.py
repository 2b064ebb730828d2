"""Proof at start that the jail holds here: a real jailed command tries what it must not be able to do."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from handrail.jail.errors import JailUnavailable
from handrail.jail.jailer import Jailer
from handrail.jail.profile import Job, Profile
from handrail.kit import ringlog

WAIT_S = 15.0
# every line that is printed is a hole; "done" shows that the script ran to its end
SCRIPT = """
exec 2>/dev/null
( : > "$1/escaped" ) && echo "wrote outside the work root"
( read -r line < "$1/jti.sqlite" ) && echo "read the data directory"
( : < /etc/shadow ) && echo "read /etc/shadow"
while IFS=$'\\t' read -r name value; do
  case $name in
    CapEff:|CapPrm:|CapInh:) [ "$value" = 0000000000000000 ] || echo "$name $value" ;;
    NoNewPrivs:) [ "$value" = 1 ] || echo "no_new_privs is off" ;;
    Seccomp:) [ "$value" = 2 ] || echo "no system-call filter" ;;
  esac
done < /proc/self/status
[ "$(ulimit -c)" = 0 ] || echo "limits are not set"
echo "done"
"""


async def prove(jailer: Jailer, directory: Path, data_dir: str) -> None:
    """Run the probe. Raises JailUnavailable naming the hole; nothing may run then."""
    work = directory.with_name("probe-work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700)
    job = Job(
        argv=("/bin/bash", "--noprofile", "--norc", "-c", SCRIPT, "probe", f"{data_dir}/sandbox"),
        env={"PATH": "/usr/bin:/bin"},
        cwd=str(work.resolve()),
        directory=str(directory),
        profile=Profile((str(work.resolve()),)),
        timeout_ms=int(WAIT_S * 1000),
        ring_bytes=65536,
    )
    try:
        session = await jailer.launch(job)
        async with asyncio.timeout(WAIT_S + 5):
            end = await session.exit
    except TimeoutError as exc:
        raise JailUnavailable(detail="the probe did not end") from exc
    page = ringlog.read(str(directory), 0)
    said = b"".join(piece.data for piece in page.pieces).decode("utf-8", "replace").split("\n")[:-1]
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(directory, ignore_errors=True)
    if end.error or said != ["done"]:
        raise JailUnavailable(detail=end.error or "; ".join(line for line in said if line != "done") or "the probe did not run")
