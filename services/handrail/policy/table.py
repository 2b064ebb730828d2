"""Rules that look at a program's name and arguments alone. Each carries examples that a test runs through the whole policy."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from handrail.policy.verdict import Level

When = Callable[[list[str]], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """`programs` by base name; `when` looks at the known arguments ("" for an unknown one)."""

    id: str
    level: Level
    programs: frozenset[str]
    en: str
    zh: str
    match: tuple[str, ...]
    not_match: tuple[str, ...] = ()
    when: When | None = None


def _rule(rule_id: str, level: Level, programs: str, en: str, zh: str, match: str, not_match: str = "", when: When | None = None) -> Rule:
    return Rule(
        rule_id, level, frozenset(programs.split()), en, zh, tuple(match.split(" ;; ")), tuple(filter(None, not_match.split(" ;; "))), when
    )


def _has(*words: str) -> When:
    return lambda arguments: any(argument in words for argument in arguments)


def _sub(*subcommands: str) -> When:
    """The first operand is one of these."""

    def test(arguments: list[str]) -> bool:
        first = next((argument for argument in arguments if not argument.startswith("-")), "")
        return first in subcommands

    return test


def _both(first: When, second: When) -> When:
    return lambda arguments: first(arguments) and second(arguments)


def _size_zero(arguments: list[str]) -> bool:
    text = " ".join(arguments)
    return bool(re.search(r"(?:^| )(?:-s *0\b|--size[= ]0\b|-s *-)", text))


RULES: tuple[Rule, ...] = (
    _rule("privilege", "confirm", "sudo doas pkexec su runas gosu su-exec run0", "runs with other rights", "以其他权限运行", "sudo id ;; su - ;; doas ls", "man sudo ;; echo sudo"),
    _rule(
        "package.npm_global", "confirm", "npm pnpm yarn bun", "installs a package globally", "全局安装包",
        "npm install -g x ;; npm -g i x ;; yarn global add x ;; pnpm add --global x", "npm install ;; npm ci ;; npm run global",
        lambda a: (_has("-g", "--global", "--location=global")(a) and _has("install", "i", "add", "uninstall", "rm", "remove", "update", "link")(a)) or a[:1] == ["global"],
    ),
    _rule("package.pip", "confirm", "pip pip3 pipx", "changes Python packages", "更改 Python 包", "pip install x ;; pip3 uninstall -y x", "pip list ;; pip --version ;; echo pip install x", _sub("install", "uninstall", "inject", "upgrade", "wheel", "download")),
    _rule("package.uv", "confirm", "uv", "changes Python packages", "更改 Python 包", "uv pip install x ;; uv tool install x", "uv run pytest ;; uv sync", lambda a: (a[:1] in (["pip"], ["tool"]) and _has("install", "uninstall", "upgrade")(a)) or a[:2] == ["self", "update"]),
    _rule("package.system", "confirm", "apt apt-get aptitude dnf yum pacman zypper apk brew port snap flatpak dpkg rpm emerge nix-env", "changes system packages", "更改系统软件包", "apt-get install -y x ;; brew install x ;; dpkg -i x.deb", "apt list ;; brew list ;; dpkg -l", lambda a: bool({"install", "remove", "purge", "upgrade", "dist-upgrade", "full-upgrade", "autoremove", "update", "add", "del", "uninstall", "reinstall", "-i", "-S", "-R", "-e", "-U", "-r", "-P", "--install", "--purge", "erase", "localinstall"} & set(a))),
    _rule("package.cargo_gem", "confirm", "cargo gem go conda mamba", "installs programs for the user", "为用户安装程序", "cargo install x ;; gem install x ;; go install x@latest", "cargo build ;; go test ./...", _sub("install", "uninstall")),
    _rule("owner", "confirm", "chown chgrp", "changes the owner of files", "修改文件属主", "chown bob f ;; chgrp x f"),
    _rule("destroy", "confirm", "shred wipe srm", "destroys file content", "销毁文件内容", "shred f", "echo shred"),
    _rule("destroy.truncate", "confirm", "truncate", "empties a file", "清空文件", "truncate -s 0 f ;; truncate --size=0 f", "truncate -s 10 f", _size_zero),
    _rule("disk.format", "deny", "mkfs mke2fs mkswap mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs mkdosfs newfs", "formats a disk", "格式化磁盘", "mkfs.ext4 /dev/sda1 ;; mkfs -t xfs /dev/sdb", "man mkfs"),
    _rule("disk.edit", "confirm", "fdisk parted sfdisk sgdisk gdisk wipefs blkdiscard hdparm cryptsetup lvremove vgremove pvremove mdadm losetup mount umount swapoff swapon", "changes disks or mounts", "更改磁盘或挂载", "fdisk -l /dev/sda ;; mount /dev/sdb /mnt"),
    _rule("network", "confirm", "curl wget nc ncat netcat telnet ssh scp sftp ftp rsh rlogin socat aria2c http https xh lftp tftp nmap dig nslookup host whois ping traceroute mosh autossh sshfs axel httpie", "opens a network connection", "向外发起网络连接", "curl http://x ;; wget x ;; nc -l 80 ;; ssh h ;; scp a h:b", "which curl ;; man wget ;; ls ssh ;; echo ssh"),
    _rule("network.rsync", "confirm", "rsync rclone", "copies to or from another host", "与其他主机传输文件", "rsync -a x host:y ;; rsync -a rsync://h/x .", "rsync -a src/ dst/", lambda a: any(re.match(r"[\w.@-]+:(?!\\)|rsync://|[\w-]+:", x) for x in a if not x.startswith(("-", "/", "./"))) or _has("-e", "--rsh")(a) or any(x.startswith(("--rsh=", "-e")) for x in a)),
    _rule("network.openssl", "confirm", "openssl", "opens a network connection", "向外发起网络连接", "openssl s_client -connect h:443", "openssl sha256 f", _sub("s_client", "s_server")),
    _rule("process", "confirm", "kill pkill killall skill fuser xkill", "ends processes", "结束进程", "kill 1 ;; killall node ;; pkill -f x", "npm run kill ;; echo kill"),
    _rule("service", "confirm", "systemctl service launchctl crontab sysctl rc-service initctl update-rc.d chkconfig at batch modprobe insmod rmmod loginctl visudo useradd userdel usermod groupadd groupdel passwd chpasswd iptables nft ufw ip6tables firewall-cmd setenforce setcap update-alternatives ldconfig", "changes services, users or the kernel", "更改服务、用户或内核", "systemctl restart x ;; crontab -r ;; launchctl unload x ;; sysctl -w x=1"),
    _rule("power", "confirm", "shutdown reboot halt poweroff init telinit", "changes the power state", "更改电源状态", "shutdown -h now ;; reboot", "shutdownd-log ;; haltlint ."),
    _rule("powershell.remove", "confirm", "remove-item ri del erase rd", "removes files (PowerShell)", "删除文件（PowerShell）", "Remove-Item -Recurse x ;; remove-item -r -fo x", "echo Remove-Item", lambda a: any(re.match(r"-(r|re|rec\w*|fo|for\w*)\b", x, re.IGNORECASE) for x in a)),
    _rule("registry", "confirm", "reg regedit bcdedit diskpart format vssadmin takeown icacls schtasks sc wmic net netsh invoke-expression iex invoke-webrequest iwr invoke-restmethod irm start-process set-executionpolicy stop-process stop-computer restart-computer", "changes the system (Windows)", "更改系统（Windows）", "reg delete HKLM ;; Stop-Process -Id 1"),
    _rule("container", "confirm", "docker podman nerdctl", "starts or enters a container", "启动或进入容器", "docker run -v /:/h x ;; docker exec x sh", "docker ps ;; docker build . ;; docker images", lambda a: _sub("run", "exec", "cp", "system", "volume", "plugin", "swarm")(a) or _has("--privileged")(a)),
    _rule("state.alias", "confirm", "alias", "changes what a later command means", "改变后续命令的含义", "alias ls=rm", "alias", bool),
    _rule("state.builtin", "confirm", "enable bind complete fc", "changes what the shell runs or loads", "改变 shell 运行或加载的内容", "enable -f ./x y ;; bind -x x"),
    _rule("debugger", "confirm", "gdb lldb expect tclsh wish ed ex emacs vim vi nvim nano screen tmux dtach", "an interactive program that can start others", "可启动其他程序的交互程序", "gdb -ex x ;; vim -c :q"),
    _rule("publish", "confirm", "npm pnpm yarn cargo twine gh glab", "publishes to a registry or forge", "发布到远端", "npm publish ;; cargo publish ;; twine upload dist/x", "npm test ;; cargo build", lambda a: _sub("publish", "unpublish", "upload", "yank", "deprecate")(a) or a[:2] in (["repo", "delete"], ["release", "create"], ["pr", "merge"])),
)  # fmt: skip  # one rule a line reads like a table

BY_PROGRAM: dict[str, tuple[Rule, ...]] = {
    program: tuple(rule for rule in RULES if program in rule.programs) for rule in RULES for program in rule.programs
}
