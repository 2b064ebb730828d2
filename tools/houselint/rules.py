"""The rules with their exemptions. An exemption names files and says why; one that nothing needs is itself a finding."""

from __future__ import annotations

from tools.houselint import effects, honesty, values
from tools.houselint.base import Rule

ROOM = "services/handrail/"

SPAWN = {
    ROOM + "jail/spawn.py": "the one place that starts trusted children",
    ROOM + "jail/zygote.py": "the fork server behind the jail",
    ROOM + "jail/launch.py": "the exec at the end of a shim's child",
}

USER_PATHS = {
    ROOM + "api/__main__.py": "the service's own socket",
    ROOM + "api/page.py": "static files of the package, read once at start",
    ROOM + "api/system/platform_facts.py": "/proc/self/statm",
    ROOM + "api/system/workdir.py": "the work root itself: an owner names it, it is checked here and only then opened as a root",
    ROOM + "api/files/service.py": "the data directory's real name, to protect it from file tools",
    ROOM + "sandbox/__main__.py": "the service's own socket and directories",
    ROOM + "sandbox/probe.py": "a scratch directory of the service, to try the jail at start",
    ROOM + "sandbox/sessions.py": "output files of commands, in the service's own data directory",
    ROOM + "sandbox/environment.py": "directories of the start-up PATH, by their real names",
    ROOM + "sandbox/places.py": "the roots that the jail is given: checked by name, then granted by descriptor in the child",
    ROOM + "sandbox/records.py": "the service's own record file",
}

HTTP = {
    ROOM + "kit/http.py": "the one client of our own services",
    ROOM + "kit/fetch.py": "the one client for addresses of others: it connects to an address that the URL guard has checked",
}

JSON_PARSER = {
    ROOM + "kit/canonical.py": "the one parser",
    ROOM + "kit/http.py": "answers of our own services; size-capped, no client's text",
    ROOM + "kit/trash.py": "metadata that this module wrote itself",
    ROOM + "jail/*.py": "messages between the jail's own processes; standard library only, each fork pays for what it imports",
}

CLOCK = {
    ROOM + "kit/clock.py": "the one clock",
    ROOM + "jail/*": "deadlines of real processes: moving a clock does not make a process end",
}

RULES: tuple[Rule, ...] = (
    Rule("spawn", effects.spawn, allowed=SPAWN),
    Rule("user-paths", effects.user_paths, scope=(ROOM + "api/*", ROOM + "sandbox/*"), allowed=USER_PATHS),
    Rule("http-client", effects.http_client, allowed=HTTP),
    Rule("tenant-session", effects.tenant_session, allowed={ROOM + "store/*": "the one room with SQL"}),
    Rule("clock", values.clock, allowed=CLOCK),
    Rule("json-parser", values.json_parser, allowed=JSON_PARSER),
    Rule("built-sql", values.built_sql, scope=(ROOM + "*", "tools/*")),
    Rule(
        "broad-except",
        honesty.broad_except,
        allowed={ROOM + "jail/shim.py": "the edge of a forked child: it reports over a pipe or prints the trace; no logger is loaded"},
    ),
    Rule("silenced", honesty.silenced, scope=(ROOM + "*", "tools/*", "tests/*")),
    Rule(
        "fixed-sleep",
        honesty.fixed_sleep,
        scope=("tests/*",),
        allowed={"tests/bench/startup_bench.py": "memory settles with time: the pause stands between two looks at it"},
    ),
    Rule("skipped", honesty.skipped, scope=("tests/*",)),
)
