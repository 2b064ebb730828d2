"""What can go wrong on the command line. Each says what to do next, in en and zh; `exit_code` is documented in docs/cli.md."""

from __future__ import annotations

from typing import ClassVar

from handrail.contract.errors import HandrailError


class CliError(HandrailError):
    """Base: `exit_code` is what the command ends with."""

    code = "cli.error"
    status = 400
    exit_code: ClassVar[int] = 1


class DataInsideWorkRoot(CliError):
    code = "cli.nested"
    exit_code = 2
    en = (
        "The data directory {data} and the work root {workdir} must not lie inside each other. Choose another one with --data or --workdir."
    )
    zh = "数据目录 {data} 与工作根目录 {workdir} 不能互相包含。请用 --data 或 --workdir 另选一个。"


class PortInUse(CliError):
    code = "cli.port_in_use"
    exit_code = 3
    en = "Port {port} on {host} is already in use. Stop the other program, or choose another port with --port."
    zh = "{host} 的端口 {port} 已被占用。请停止占用它的程序，或用 --port 指定其他端口。"


class CannotListen(CliError):
    code = "cli.cannot_listen"
    exit_code = 3
    en = "Cannot listen on {host}:{port}: {detail}."
    zh = "无法监听 {host}:{port}：{detail}。"


class RemoteHostRefused(CliError):
    code = "cli.remote_host"
    exit_code = 2
    en = (
        "{host} is not a loopback address: everyone on that network could reach Handrail without TLS. Use a tunnel "
        "(ssh -L 18910:127.0.0.1:{port} this-machine), or set HANDRAIL_ALLOW_REMOTE=1 when a TLS proxy stands in front."
    )
    zh = (
        "{host} 不是回环地址：该网络上的任何人都能在没有 TLS 的情况下访问 Handrail。请使用隧道"
        "（ssh -L 18910:127.0.0.1:{port} 本机），或在前面有 TLS 代理时设置 HANDRAIL_ALLOW_REMOTE=1。"
    )


class AlreadyRunning(CliError):
    code = "cli.already_running"
    exit_code = 4
    en = "Handrail already runs with this data directory (process {pid}, {address}). Stop it with: handrail stop --data {data}"
    zh = "Handrail 已在使用此数据目录运行（进程 {pid}，{address}）。停止命令：handrail stop --data {data}"


class NotRunning(CliError):
    code = "cli.not_running"
    exit_code = 5
    en = "Handrail does not run with the data directory {data}. Start it with: handrail start --data {data}"
    zh = "数据目录 {data} 上没有正在运行的 Handrail。启动命令：handrail start --data {data}"


class WorkRootUnusable(CliError):
    code = "cli.work_root"
    exit_code = 6
    en = (
        "The user {user} cannot read and write the work root {workdir}. Do: chown -R {user} {workdir} "
        "(and chmod o+x its parents), or choose another --workdir."
    )
    zh = "用户 {user} 无法读写工作根目录 {workdir}。请执行：chown -R {user} {workdir}（并对上级目录执行 chmod o+x），或用 --workdir 另选。"


class InterpreterUnreachable(CliError):
    code = "cli.interpreter"
    exit_code = 6
    en = (
        "Started by root, the services run as the user {user}, who cannot run {python} with this installation. Move Handrail "
        "(and its Python) to a place that others can read, such as /opt or /srv, or start it as an ordinary user."
    )
    zh = (
        "以 root 启动时，服务以用户 {user} 运行，但该用户无法用 {python} 运行此安装。请将 Handrail（及其 Python）"
        "移到其他用户可读的位置，例如 /opt 或 /srv，或以普通用户启动。"
    )


class DataDirUnusable(CliError):
    code = "cli.data_dir"
    exit_code = 6
    en = "The data directory {data} cannot be used: {detail}. Choose another one with --data."
    zh = "数据目录 {data} 不可用：{detail}。请用 --data 另选一个。"


class RunDirNotOurs(CliError):
    code = "cli.run_dir"
    exit_code = 6
    en = "{path} exists and does not belong to this user alone. Remove it, or choose a shorter --data path."
    zh = "{path} 已存在且不归当前用户独占。请删除它，或使用更短的 --data 路径。"


class ComponentMissing(CliError):
    code = "cli.component"
    exit_code = 7
    en = "{component} is not installed. Do: pip install 'handrail[embedded]', or set {variable}."
    zh = "未安装 {component}。请执行：pip install 'handrail[embedded]'，或设置 {variable}。"


class ComponentFailed(CliError):
    code = "cli.component_failed"
    exit_code = 7
    en = "{component} did not start: {detail}"
    zh = "{component} 未能启动：{detail}"


class NoAccount(CliError):
    code = "cli.account"
    exit_code = 6
    en = "The system user {user} does not exist and could not be created: {detail}"
    zh = "系统用户 {user} 不存在且无法创建：{detail}"


class ConfigUnreadable(CliError):
    code = "cli.config"
    exit_code = 2
    en = "{path} is not valid: {detail}"
    zh = "{path} 无效：{detail}"


class UnknownConfigKey(CliError):
    code = "cli.config_key"
    exit_code = 2
    en = "{path}: unknown key {key}.{hint} Known keys: {known}."
    zh = "{path}：未知的键 {key}。{hint} 可用的键：{known}。"


class ServiceAnswered(CliError):
    code = "cli.answered"
    exit_code = 1
    en = "{error}"
    zh = "{error}"


class NoAnswer(CliError):
    code = "cli.no_answer"
    exit_code = 8
    en = "Handrail runs but does not answer: {detail}. Look at: handrail logs --service"
    zh = "Handrail 正在运行但没有响应：{detail}。请查看：handrail logs --service"


class StartTimedOut(CliError):
    code = "cli.start_timeout"
    exit_code = 8
    en = "Handrail was not ready after {seconds} seconds. The last log lines are above; the whole log is in {logs}."
    zh = "Handrail 在 {seconds} 秒内未就绪。上方是最后的日志，完整日志位于 {logs}。"


class StartFailed(CliError):
    code = "cli.start_failed"
    exit_code = 8
    en = "Handrail ended while starting (exit code {exit}). The whole log is in {logs}."
    zh = "Handrail 在启动过程中退出（退出码 {exit}）。完整日志位于 {logs}。"
