"""Failures of the database layer."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class StoreUnavailable(HandrailError):
    code = "store.unavailable"
    status = 503
    en = "The database is not available at the moment."
    zh = "数据库暂时不可用。"


class UnboundSession(HandrailError):
    """A programming error made visible: a session was asked for without the value that it is about."""

    code = "store.unbound"
    status = 500
    en = "A database session needs {what}."
    zh = "数据库会话缺少 {what}。"


class UnsafeRole(HandrailError):
    code = "store.unsafe_role"
    status = 500
    en = "The database role {role} {why}: the service does not start with it."
    zh = "数据库角色 {role} {why}：服务拒绝以此角色启动。"


class WrongSchema(HandrailError):
    code = "store.schema"
    status = 500
    en = "The database schema is at version {found}, this program needs {expected}. `python -m handrail.store.init` migrates it."
    zh = "数据库结构版本为 {found}，本程序需要 {expected}。请运行 `python -m handrail.store.init` 进行迁移。"


class EditedMigration(HandrailError):
    code = "store.edited_migration"
    status = 500
    en = "Migration {name} was changed after it ran. Write a new one instead."
    zh = "迁移 {name} 在执行之后被修改。请另写一个新的迁移。"


class AdminUrlMissing(HandrailError):
    code = "init.no_admin_url"
    status = 500
    en = "No {name}: set it in the environment, or put it into the file {path}."
    zh = "缺少 {name}：请在环境变量中设置，或写入文件 {path}。"


class InitFailed(HandrailError):
    code = "init.failed"
    status = 500
    en = "Set-up failed at '{step}': {detail}"
    zh = "初始化在“{step}”步骤失败：{detail}"
