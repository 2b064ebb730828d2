"""Tables of docs/configuration.md."""

from __future__ import annotations

from handrail.contract.setting_names import FOREIGN, SETTINGS
from tools.docparts.compose_settings import compose_only


def settings() -> str:
    """Every environment variable that a service or the command line reads."""
    rows = ["| variable | default | config.json | read by | meaning |", "|---|---|---|---|---|"]
    for setting in (*SETTINGS, *FOREIGN):
        default = f"`{setting.default}`" if setting.default else "(empty)"
        config = f"`{setting.config}`" if setting.config else ""
        rows.append(f"| `{setting.name}` | {default} | {config} | {', '.join(setting.used_by)} | {setting.en} |")
    return "\n".join(rows)


def compose() -> str:
    """Variables that only the compose stack reads."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    rows += [
        f"| `{name}` | {f'`{default}`' if default else '(empty)'} | {meaning} |" for name, (default, meaning) in compose_only().items()
    ]
    return "\n".join(rows)
