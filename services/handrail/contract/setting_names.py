"""Every setting there is, once: name, default as a user reads it, who reads it, what it does in en and zh.

`docs/configuration.md` and `.env.example` are proven complete against this list, `Settings` refuses a field that is
not in it, and an unknown `HANDRAIL_*` variable is an error.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "HANDRAIL_"


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable. `config` is its key in config.json, '' when it has none."""

    name: str
    default: str
    used_by: tuple[str, ...]
    en: str
    zh: str
    config: str = ""
    safe: bool = False  # may be changed by `handrail config set`


EVERY = ("cli", "api", "worker", "sandbox", "init")

SETTINGS: tuple[Setting, ...] = (
    Setting("HANDRAIL_DATA_DIR", "~/.handrail (root: /var/lib/handrail)", EVERY, "Data directory.", "数据目录。"),
    Setting("HANDRAIL_RUN_DIR", "<data>/run", EVERY, "Directory of the Unix sockets.", "Unix 套接字目录。"),
    Setting("HANDRAIL_SECRETS_DIR", "<data>/secrets/<service>", EVERY, "Secrets of this service only.", "仅本服务可见的密钥目录。"),
    Setting("HANDRAIL_LOG_DIR", "<data>/logs", EVERY, "Log directory.", "日志目录。"),
    Setting("HANDRAIL_LANG", "LANG", EVERY, "Language of messages: zh or en.", "消息语言：zh 或 en。"),
    Setting("HANDRAIL_FORM", "embedded", EVERY, "Deployment form: embedded or compose.", "部署形式：embedded 或 compose。"),
    Setting(
        "HANDRAIL_WORKDIR",
        "directory of the start",
        ("cli", "api", "sandbox", "init"),
        "Work root: files and commands stay in it.",
        "工作根目录：文件与命令都限制在其中。",
        "workdir",
        safe=True,
    ),
    Setting("HANDRAIL_HOST", "127.0.0.1", ("cli", "api"), "Address to listen on.", "监听地址。", "host", safe=True),
    Setting("HANDRAIL_PORT", "18910", ("cli", "api"), "Port to listen on.", "监听端口。", "port", safe=True),
    Setting(
        "HANDRAIL_ALLOW_REMOTE",
        "0",
        ("cli",),
        "1 permits a non-loopback address: only behind TLS and a network that you trust.",
        "设为 1 允许监听非回环地址：仅在有 TLS 且网络可信时使用。",
    ),
    Setting(
        "HANDRAIL_ALLOWED_HOSTS",
        "",
        ("cli", "api"),
        "More Host names that are served, comma separated.",
        "额外接受的 Host 名称，以逗号分隔。",
    ),
    Setting(
        "HANDRAIL_ALLOWED_PATHS",
        "",
        ("cli", "api", "init"),
        "More directories that files and commands may use, comma separated.",
        "额外允许访问的目录，以逗号分隔。",
        "allowedPaths",
        safe=True,
    ),
    Setting(
        "HANDRAIL_PAIR_CODE_TTL",
        "30",
        ("cli", "api"),
        "Life of a pairing code in seconds.",
        "配对码有效期（秒）。",
        "pairCodeTTL",
        safe=True,
    ),
    Setting(
        "HANDRAIL_COMMAND_TIMEOUT",
        "300000",
        ("cli", "api", "sandbox"),
        "Time limit of a command in milliseconds.",
        "命令执行超时（毫秒）。",
        "commandTimeout",
        safe=True,
    ),
    Setting(
        "HANDRAIL_FILE_MAX_SIZE",
        "52428800",
        ("cli", "api"),
        "Largest file that is read or written, in bytes.",
        "单个文件读写上限（字节）。",
        "fileMaxSize",
        safe=True,
    ),
    Setting("HANDRAIL_UPLOAD_MAX_SIZE", "209715200", ("api",), "Largest streamed upload in bytes.", "流式上传上限（字节）。"),
    Setting(
        "HANDRAIL_UPLOAD_QUOTA",
        "1073741824",
        ("api",),
        "Bytes that the unfinished uploads of one user may take together.",
        "单个用户所有未完成上传可占用的总字节数。",
    ),
    Setting("HANDRAIL_BODY_MAX_SIZE", "83886080", ("api",), "Largest request body in bytes.", "请求体上限（字节）。"),
    Setting(
        "HANDRAIL_CONFIRM",
        "policy",
        ("cli", "api"),
        "human: a person must approve, `force` of a client never suffices. policy: `force` counts as the user's consent.",
        "human：必须由人批准，客户端的 force 无效。policy：force 视为用户同意。",
    ),
    Setting(
        "HANDRAIL_RATE_LIMIT", "60000", ("api",), "Requests a minute of one device, 0 = no limit.", "单个设备每分钟请求上限，0 为不限。"
    ),
    Setting(
        "HANDRAIL_ANONYMOUS_RATE_LIMIT",
        "1200",
        ("api",),
        "Requests a minute of one address without a token, 0 = no limit.",
        "单个地址无令牌请求每分钟上限，0 为不限。",
    ),
    Setting(
        "HANDRAIL_FAILURE_RATE_LIMIT",
        "60",
        ("api",),
        "Failed authentications a minute of one address, 0 = no limit.",
        "单个地址每分钟认证失败上限，0 为不限。",
    ),
    Setting("HANDRAIL_SANDBOX_SOCKET", "<run>/sandbox.sock", ("api", "sandbox"), "Socket of the sandbox.", "沙箱套接字。"),
    Setting(
        "HANDRAIL_SANDBOX_NETWORK",
        "off",
        ("sandbox",),
        "on: commands may open TCP and UDP connections. off: none, loopback included.",
        "on：命令可使用 TCP 和 UDP；off：全部禁止，包括回环地址。",
    ),
    Setting("HANDRAIL_SANDBOX_COMMANDS", "32", ("sandbox",), "Commands that one user may run at once.", "单个用户可同时运行的命令数。"),
    Setting(
        "HANDRAIL_SANDBOX_RING",
        "16777216",
        ("sandbox",),
        "Bytes of output kept for each command; older output is dropped and counted.",
        "每个命令保留的输出字节数，更早的输出会被丢弃并计数。",
    ),
    Setting(
        "HANDRAIL_SANDBOX_PROCESSES",
        "512",
        ("sandbox",),
        "Processes that commands may add to what runs already for their user.",
        "命令可新增的进程数上限。",
    ),
    Setting(
        "HANDRAIL_SANDBOX_PROCESS_MEMORY",
        "0",
        ("sandbox",),
        "Memory limit of one process of a command in MiB, 0 = three quarters of the machine's.",
        "命令单个进程的内存上限（MiB），0 为机器内存的四分之三。",
    ),
    Setting(
        "HANDRAIL_SANDBOX_FILE_SIZE", "4096", ("sandbox",), "Largest file a command may write, in MiB.", "命令可写入的单个文件上限（MiB）。"
    ),
    Setting("HANDRAIL_ADMIN_SOCKET", "<run>/admin.sock", ("cli", "api"), "Socket of the command line.", "命令行管理套接字。"),
    Setting("HANDRAIL_WORKER_CONCURRENCY", "2", ("worker",), "Tasks that one worker runs at once.", "单个 worker 并发任务数。"),
    Setting(
        "HANDRAIL_WORKER_LEASE",
        "20",
        ("worker",),
        "Seconds after which a job of a worker that died is taken over.",
        "worker 异常退出后，其任务被接管前的秒数。",
    ),
    Setting(
        "HANDRAIL_RETENTION_DAYS",
        "30",
        ("worker",),
        "Days that finished jobs, decided approvals and ended pairings are kept.",
        "已完成任务、已决定的审批和已结束的配对保留的天数。",
    ),
    # read by compose.yaml only, where they shape the containers
    Setting(
        "HANDRAIL_UID", "10001", ("compose",), "User id of the containers that touch the work root.", "接触工作根目录的容器的用户 ID。"
    ),
    Setting("HANDRAIL_GID", "10001", ("compose",), "Group id of the containers that touch the work root.", "接触工作根目录的容器的组 ID。"),
    Setting("HANDRAIL_PUBLISH_PORT", "18910", ("compose",), "Port of the host on 127.0.0.1.", "宿主机 127.0.0.1 上的端口。"),
    Setting("HANDRAIL_DB_MEMORY", "1g", ("compose",), "Memory limit of the db container.", "db 容器内存上限。"),
    Setting("HANDRAIL_API_MEMORY", "1g", ("compose",), "Memory limit of the api container.", "api 容器内存上限。"),
    Setting("HANDRAIL_WORKER_MEMORY", "1g", ("compose",), "Memory limit of the worker container.", "worker 容器内存上限。"),
    Setting("HANDRAIL_SANDBOX_MEMORY", "2g", ("compose",), "Memory limit of the sandbox container.", "sandbox 容器内存上限。"),
    Setting("HANDRAIL_SANDBOX_PIDS", "1024", ("compose",), "Process limit of the sandbox container.", "sandbox 容器进程数上限。"),
    Setting(
        "HANDRAIL_SANDBOX_CPU_PERCENT",
        "200",
        ("compose",),
        "CPU limit of the sandbox, 100 = one core.",
        "sandbox 的 CPU 上限，100 为一核。",
    ),
    Setting("HANDRAIL_SANDBOX_IMAGE", "handrail-sandbox", ("compose",), "Sandbox image, to use your own.", "sandbox 镜像，可换成自己的。"),
)

BY_NAME = {setting.name: setting for setting in SETTINGS}
BY_CONFIG = {setting.config: setting for setting in SETTINGS if setting.config}

# not ours by prefix: the names that the whole world uses for it
DATABASE_URL = Setting(
    "DATABASE_URL",
    "",
    ("cli", "init"),
    "Owner URL of a Postgres of yours instead of the embedded one.",
    "使用自己的 Postgres（所有者 URL）。",
)
REDIS_URL = Setting(
    "REDIS_URL", "", ("cli", "init"), "URL of a Redis or Valkey of yours instead of the embedded one.", "使用自己的 Redis/Valkey。"
)
FOREIGN = (DATABASE_URL, REDIS_URL)
