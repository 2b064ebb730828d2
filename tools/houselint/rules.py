"""The rules with their exemptions. An exemption names files and says why; one that nothing needs is itself a finding."""

from __future__ import annotations

from tools.houselint import effects, honesty, values
from tools.houselint.base import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        "spawn",
        effects.spawn,
        allowed={"services/handrail/jail/spawn*.py": "the one place that spawns", "services/handrail/jail/zygote*.py": "its forked helper"},
    ),
    Rule(
        "user-paths",
        effects.user_paths,
        scope=("services/handrail/api/*", "services/handrail/sandbox/*"),
        allowed={},
    ),
    Rule("http-client", effects.http_client, allowed={"services/handrail/kit/http.py": "the one client"}),
    Rule("tenant-session", effects.tenant_session, allowed={"services/handrail/store/*": "the one room with SQL"}),
    Rule(
        "clock",
        values.clock,
        allowed={
            "services/handrail/kit/clock.py": "the one clock",
            "services/handrail/jail/*": "deadlines of real processes: moving a clock does not make a process end",
        },
    ),
    Rule("json-parser", values.json_parser, allowed={"services/handrail/kit/canonical.py": "the one parser"}),
    Rule("built-sql", values.built_sql, scope=("services/handrail/*", "tools/*")),
    Rule("broad-except", honesty.broad_except),
    Rule("silenced", honesty.silenced, scope=("services/handrail/*", "tools/*", "tests/*")),
    Rule("fixed-sleep", honesty.fixed_sleep, scope=("tests/*",)),
    Rule("skipped", honesty.skipped, scope=("tests/*",)),
)
