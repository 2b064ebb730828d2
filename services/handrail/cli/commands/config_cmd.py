"""config show | get | set | unset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from handrail.cli import config, say
from handrail.cli.options import data_dir, decide, remembered
from handrail.cli.say import t
from handrail.cli.settings import CliSettings
from handrail.cli.types import AsJson, Data
from handrail.contract.setting_names import BY_CONFIG

Key = Annotated[str, typer.Argument(metavar="KEY", help=", ".join(BY_CONFIG))]
Value = Annotated[str, typer.Argument(metavar="VALUE", help=t("New value.", "新值。"))]


def register(app: typer.Typer) -> None:
    """Add `config` with its subcommands; alone it shows."""
    group = typer.Typer(
        help=t("Show or change config.json.", "查看或修改 config.json。"), invoke_without_command=True, rich_markup_mode=None
    )
    group.callback()(root)
    group.command("show", help=t("Show the settings that a start would use.", "显示启动时将使用的设置。"))(show)
    group.command("get", help=t("Print one field.", "输出一个字段。"))(get)
    group.command("set", help=t("Change one field of config.json.", "修改 config.json 的一个字段。"))(set_value)
    group.command("unset", help=t("Remove one field: its default counts again.", "删除一个字段，恢复默认值。"))(unset)
    app.add_typer(group, name="config")


def root(context: typer.Context, as_json: AsJson = False, data: Data = None) -> None:
    """`handrail config` shows."""
    if context.invoked_subcommand is None:
        show(as_json, data)


def effective(data: str | None) -> dict[str, object]:
    """Every field with the value that a start would use (options of the last start included)."""
    settings = CliSettings.load()
    folder = data_dir(data, settings)
    options = decide(remembered(folder), settings, Path.cwd())
    env = options.env
    return {
        "port": options.port,
        "host": options.host,
        "workdir": options.workdir,
        "allowedPaths": [path for path in env.get("HANDRAIL_ALLOWED_PATHS", "").split(",") if path],
        "pairCodeTTL": int(env.get("HANDRAIL_PAIR_CODE_TTL", BY_CONFIG["pairCodeTTL"].default)),
        "commandTimeout": int(env.get("HANDRAIL_COMMAND_TIMEOUT", BY_CONFIG["commandTimeout"].default)),
        "fileMaxSize": int(env.get("HANDRAIL_FILE_MAX_SIZE", BY_CONFIG["fileMaxSize"].default)),
    }


def show(as_json: AsJson = False, data: Data = None) -> None:
    """The effective settings and where the file is."""
    values = effective(data)
    path = data_dir(data, CliSettings.load()) / "config.json"
    if as_json:
        say.data({"path": str(path), "config": values})
        return
    say.note(str(path))
    say.table((t("field", "字段"), t("value", "值")), [(key, str(value)) for key, value in values.items()])


def get(key: Key, as_json: AsJson = False, data: Data = None) -> None:
    """One field."""
    config.check_key(data_dir(data, CliSettings.load()) / "config.json", key)
    value = effective(data)[key]
    if as_json:
        say.data({key: value})
    else:
        say.out(",".join(str(item) for item in value) if isinstance(value, list) else str(value))  # type: ignore[arg-type]  # allowedPaths


def set_value(key: Key, value: Value, data: Data = None) -> None:
    """Checked before it is written; takes effect at the next start."""
    _save(data, key, config.parse_value(key, value))


def unset(key: Key, data: Data = None) -> None:
    """Back to the default."""
    _save(data, key, None)


def _save(data: str | None, key: str, value: object) -> None:
    folder = data_dir(data, CliSettings.load())
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    config.save_value(folder / "config.json", key, value)
    say.note(t("Saved. It takes effect with: handrail restart", "已保存。执行 handrail restart 后生效。"))
