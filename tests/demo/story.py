"""The story the demo tells: a bug is found, mended, tested and committed, and the audit log knows every step."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.demo.client import Client, WireError

SAMPLE = Path(__file__).parent / "sample"
TEST_COMMAND = "python3 -m unittest -q"
FORBIDDEN = 403
WRONG = "    share = cents // parts\n    return [share] * parts\n"
RIGHT = "    share, rest = divmod(cents, parts)\n    return [share + (index < rest) for index in range(parts)]\n"
EXPECTED_AUDIT = {
    *(("fs", action) for action in ("write", "read", "edit", "search_content", "delete", "restore")),
    *(("exec", action) for action in ("started", "completed")),
    *(("security", action) for action in ("exec_denied", "confirm")),
    ("auth", "pair"),
}


class StepFailed(Exception):
    """A step did not do what the story says."""


@dataclass
class Tale:
    """What the steps hand on to each other."""

    client: Client
    code: str
    say: Callable[[str], None]
    root: str = ""
    place: str = ""  # the file with the bug
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


def expect(condition: object, what: str) -> None:
    """Raise StepFailed unless `condition`."""
    if not condition:
        raise StepFailed(what)


def sample_files() -> dict[str, str]:
    """Relative path -> text of every file of the sample repository."""
    paths = sorted(path for path in SAMPLE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(SAMPLE).as_posix(): path.read_text("utf-8") for path in paths}


def greet(tale: Tale) -> None:
    status = tale.client.get("/api/status")
    expect(status["running"], "the service runs")
    tale.say(f"Handrail {status['version']} on {status['platformName']}, search tools {status['searchTools']}")


def pair(tale: Tale) -> None:
    tale.client.pair(tale.code, "demo-client")
    detail = tale.client.get("/api/status/detail")
    tale.root = f"{detail['workdir']}/demo-{secrets.token_hex(3)}"
    tale.say(f"paired; work root {detail['workdir']}")


def bring(tale: Tale) -> None:
    tale.client.post("/api/fs/mkdir", path=tale.root)
    files = sample_files()
    for name, text in files.items():
        tale.client.post("/api/fs/write", path=f"{tale.root}/{name}", content=text)
    listing = tale.client.post("/api/fs/list", path=tale.root)
    expect({entry["name"] for entry in listing["entries"]} >= {"fairshare", "tests", "README.md"}, f"the sample is there: {listing}")
    _done(tale, "git init -q -b main && git add . && git commit -q -m 'A bill splitter with a bug'")
    tale.say(f"{len(files)} files written to {tale.root} and committed")


def fail_first(tale: Tale) -> None:
    exit_code, output = _watched(tale, TEST_COMMAND)
    expect(exit_code == 1 and "FAILED" in output, f"the tests fail before the fix: exit {exit_code}")


def search(tale: Tale) -> None:
    found = tale.client.post("/api/fs/search_content", path=tale.root, pattern="def split_evenly", filePattern="*.py")
    expect(found["total"] == 1, f"one definition is found: {found}")
    hit = found["results"][0]
    named = tale.client.post("/api/fs/search_files", path=tale.root, pattern="test_*.py")
    expect(named["total"] == len([name for name in sample_files() if "/test_" in name]), f"both test files are found: {named}")
    tale.place = hit["file"]
    tale.say(f"split_evenly is defined at {hit['file']}:{hit['line']} (engine {found['engine']})")


def read(tale: Tale) -> None:
    answer = tale.client.post("/api/fs/read", path=tale.place)
    expect(WRONG in answer["content"], "the file holds the wrong line")
    tale.say(f"{answer['size']} bytes; the remainder of `cents // parts` is lost")


def edit(tale: Tale) -> None:
    answer = tale.client.post("/api/tools/Edit", path=tale.place, old_string=WRONG, new_string=RIGHT)
    expect(answer["success"], f"edited: {answer}")
    again = tale.client.post("/api/fs/read", path=tale.place)
    expect(RIGHT in again["content"] and WRONG not in again["content"], "the file holds the right line")
    tale.say("share, rest = divmod(cents, parts): the first ones take the remainder")


def pass_now(tale: Tale) -> None:
    exit_code, output = _watched(tale, TEST_COMMAND)
    expect(exit_code == 0 and "OK" in output, f"the tests pass after the fix: exit {exit_code}")


def commit(tale: Tale) -> None:
    _done(tale, "git commit -q -a -m 'Splitting loses no cent'")
    log = _done(tale, "git log --oneline --stat -1")
    expect("split.py" in log and "Splitting loses no cent" in log, f"the commit is there: {log}")
    tale.say(log.strip().splitlines()[0])


def refuse(tale: Tale) -> None:
    try:
        tale.client.run("rm -rf /usr", tale.root)
    except WireError as exc:
        expect(exc.status == FORBIDDEN and exc.body["level"] == "deny", f"denied, not failed: {exc}")
        tale.say(f"rm -rf /usr -> 403: {exc.body['error']}")
    else:
        raise StepFailed("a command that destroys the system was let through")
    asked = tale.client.run("sudo id", tale.root)
    expect(asked["level"] == "confirm" and "exitCode" not in asked, f"asked, not run: {asked}")
    tale.say(f"sudo id -> asks first: {asked['reason']}")


def undo(tale: Tale) -> None:
    path = f"{tale.root}/README.md"
    gone = tale.client.post("/api/fs/delete", path=path)
    back = tale.client.post("/api/trash/restore", trashId=gone["trashId"])
    expect(back["restoredPath"] == path, f"restored to its place: {back}")
    tale.say("README.md deleted to the trash and restored")


def audit(tale: Tale) -> None:
    answer = tale.client.get("/api/logs", limit=200)
    rows: list[dict[str, Any]] = answer["entries"]
    seen = {(row["category"], row["action"]) for row in rows}
    expect(seen >= EXPECTED_AUDIT, f"the audit log has {sorted(EXPECTED_AUDIT)}; it has {sorted(seen)}")
    tale.facts["audit"] = rows
    tale.say(f"{answer['total']} rows; the newest of this run:")


def _done(tale: Tale, command: str) -> str:
    answer = tale.client.run(command, tale.root)
    expect(answer["level"] == "allow", f"`{command}` is allowed: {answer}")
    expect(answer["exitCode"] == 0, f"`{command}` exits with 0: {answer}")
    tale.facts["mechanism"] = answer.get("jail")
    return str(answer["stdout"])


def _watched(tale: Tale, command: str) -> tuple[int, str]:
    output = ""
    for frame in tale.client.stream(command, tale.root):
        if frame["type"] in ("stdout", "stderr"):
            output += frame["data"]
        elif frame["type"] == "exit":
            lines = [line for line in output.splitlines() if line.strip()]
            tale.say(f"{command} -> exit {frame['exitCode']}: {' / '.join(lines[-2:])}")
            return int(frame["exitCode"]), output
        else:
            raise StepFailed(f"the stream ended with {frame}")
    raise StepFailed("the stream ended without an exit frame")


STEPS: tuple[tuple[str, Callable[[Tale], None]], ...] = (
    ("Ask what is there", greet),
    ("Pair with the 6-digit code", pair),
    ("Bring a repository", bring),
    ("Run its tests: they fail", fail_first),
    ("Search for the cause", search),
    ("Read the file", read),
    ("Edit the bug away", edit),
    ("Run the tests again: they pass", pass_now),
    ("Commit", commit),
    ("Try what must not happen", refuse),
    ("Delete and restore", undo),
    ("Look at the audit trail", audit),
)
