"""What a command must not reach, each tried by a real command. A marker that appears means that the attack worked."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from handrail.jail import spawn
from tests.support.places import account
from tests.support.sandbox import Box

PY = "/usr/bin/python3"


def python(code: str) -> str:
    return f"{PY} -c '{code}'"


@pytest.mark.req("SBX-10", "D31", "ATK-59")
@pytest.mark.parametrize(
    "command",
    [
        'echo x > "$OUT"',
        'echo x > "../outside/made"',
        'cp /bin/true "$OUT"',
        'ln -s "$(dirname "$OUT")" link && echo x > link/made',
        'ln -s "$OUT" file-link && echo x > file-link',
        "cd .. && echo x > outside/made",
        'mkdir -p "$OUT"',
        'mkfifo "$OUT"',
        'ln /etc/hostname "$OUT"',
        'mv "$KEEP" "$OUT"',
        'rm -f "$KEEP"',
        'truncate --size=1 "$KEEP"',
        'chmod 777 "$KEEP" && false',
        'touch hl && ln hl "$OUT"',
        'echo x > "/proc/self/root$OUT"',
        'echo x > "/proc/self/cwd/../outside/made"',
        '/usr/bin/python3 -c "import os,sys; os.rename(\\"k\\", os.environ[\\"OUT\\"])"',
    ],
)
def test_nothing_outside_the_work_root_is_made_changed_or_removed(box: Box, command: str) -> None:
    outside = box.base / "outside"
    outside.mkdir(exist_ok=True)
    outside.chmod(0o777)  # the file system itself would allow it
    keep = box.own_file(outside / "keep", "kept", 0o666)
    (box.work / "k").touch()
    result = box.attack(f"OUT={outside}/made KEEP={keep}; export OUT KEEP; {command}")
    assert not (outside / "made").exists()
    assert keep.read_text() == "kept"
    if "chmod" not in command:
        assert result["exit_code"] != 0


@pytest.mark.req("SBX-11", "D31")
@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "/etc/gshadow",
        "/etc/sudoers",
        "~/.ssh/id",
        "data/secrets/public.json",
        "data/sandbox/jti.sqlite",
        "data/sandbox/records.jsonl",
        "home",
    ],
)
def test_secrets_are_not_readable(box: Box, path: str) -> None:
    if path.startswith("~"):
        # a key in the home of the account that the service runs as; the command's own HOME is another
        import pwd

        who = account()
        home = Path(pwd.getpwuid(who.uid if who else os.getuid()).pw_dir)
        path = str(home / path[2:])
    elif path == "home":
        path = "/root/.bashrc"
    elif path.startswith("data"):
        path = str(box.base / path)
    result = box.attack(f"cat {path}; ls {Path(path).parent}/ > listed")
    assert result["stdout"] == ""
    assert result["exit_code"] != 0 or not path.startswith(str(box.base))


@pytest.mark.req("SBX-11")
def test_another_workspaces_home_and_root_are_not_there(box: Box) -> None:
    other = box.work.parent / "other"
    other.mkdir(exist_ok=True)
    secret = box.own_file(other / "secret", "of another workspace")
    assert box.attack("echo mine > ~/mine; echo mine > $TMPDIR/mine", claims={"ws": "ws-2"})["exit_code"] == 0
    home = box.data / "homes" / "ws-2"
    result = box.attack(f"cat {secret} {home}/home/mine {home}/tmp/mine; ls {home} {home}/home {other}")
    assert (result["stdout"], result["exit_code"]) == ("", 2)


@pytest.mark.req("SBX-12", "D34", "PF-A13")
def test_the_environment_is_clean(box: Box) -> None:
    env = dict(line.split("=", 1) for line in box.attack("env -0 | tr '\\0' '\\n'")["stdout"].splitlines())
    assert not {"SECRET_OF_THE_SERVICE", "SSH_AUTH_SOCK", "LD_LIBRARY_PATH", "PYTHONPATH", "GIT_SSH_COMMAND"} & set(env)
    assert not [name for name in env if name.startswith("HANDRAIL_")]
    assert (env["TERM"], env["FORCE_COLOR"], env["HOME"]) == ("dumb", "0", str(box.data / "homes" / "ws-1" / "home"))
    assert env["TMPDIR"] == str(box.data / "homes" / "ws-1" / "tmp")
    assert len([name for name in env if not name.startswith("GIT_CONFIG_")]) <= 45
    for part in env["PATH"].split(":"):
        assert part.startswith("/")
        assert not part.startswith(str(box.work))


@pytest.mark.req("SBX-13", "ATK-59")
def test_other_processes_can_be_neither_read_nor_signalled_nor_traced(box: Box) -> None:
    assert box.process is not None
    who = account()
    victim = spawn.start(["/bin/sleep", "60"], env={"SECRET": "of-the-victim"}, account=who)
    try:
        for pid in (victim.pid, box.process.pid):
            result = box.attack(
                f"for f in environ maps mem cwd root fd/1 exe; do cat /proc/{pid}/$f || readlink /proc/{pid}/$f; done; ls /proc/{pid}/cwd/;"
                f"for s in TERM KILL STOP HUP 0; do kill -$s {pid} && echo signalled; done"
            )
            assert result["stdout"] == ""
        assert victim.poll() is None
        assert box.healthy()
    finally:
        victim.stop(0)


@pytest.mark.req("SBX-14", "ATK-59")
def test_no_privilege_is_left_and_none_can_be_gained(box: Box) -> None:
    status = dict(line.split(":\t", 1) for line in box.attack("cat /proc/self/status")["stdout"].splitlines() if ":\t" in line)
    assert [status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")] == ["0" * 16] * 4
    assert (status["NoNewPrivs"].strip(), status["Seccomp"].strip()) == ("1", "2")
    assert "0" not in status["Uid"].split()
    if os.geteuid() == 0:
        assert status["CapBnd"].strip() == "0" * 16
    # setuid programs run, but as nobody special
    result = box.attack(
        "for p in /usr/bin/su /usr/bin/passwd /usr/bin/chsh /usr/bin/mount;"
        " do [ -u $p ] && timeout 2 $p -c id root; done < /dev/null; id -u"
    )
    assert result["stdout"].strip().splitlines()[-1] != "0"
    assert "uid=0" not in result["stdout"]


REFUSED_CALLS = {
    "ptrace": "libc.ptrace(0, 0, 0, 0)",
    "mount": 'libc.mount(b"none", b"/proc", b"tmpfs", 0, None)',
    "unshare user": "libc.unshare(0x10000000)",
    "unshare net": "libc.unshare(0x40000000)",
    "chroot": 'libc.chroot(b"/")',
    "keyctl": "libc.syscall(nr(250, 219), 0, -3, 0)",
    "add_key": 'libc.syscall(nr(248, 217), b"user", b"x", b"y", 1, -2)',
    "bpf": "libc.syscall(nr(321, 280), 0, 0, 0)",
    "userfaultfd": "libc.syscall(nr(323, 282), 0)",
    "io_uring_setup": "libc.syscall(425, 1, buf)",
    "perf_event_open": "libc.syscall(nr(298, 241), buf, 0, -1, -1, 0)",
    "kexec_load": "libc.syscall(nr(246, 104), 0, 0, 0, 0)",
    "open_by_handle_at": "libc.syscall(nr(304, 265), -100, buf, 0)",
    "process_vm_readv": "libc.syscall(nr(310, 270), os.getppid(), 0, 0, 0, 0, 0)",
    "pidfd_getfd": "libc.syscall(438, 0, 0, 0)",
    "setns": "libc.setns(0, 0)",
    "clone new user": "libc.syscall(nr(56, 220), 0x10000011, 0, 0, 0, 0)",
    "clone3": "libc.syscall(435, buf, 88)",
    "shmget": "libc.shmget(1, 4096, 0o1600)",
    "socket unix": "libc.socket(1, 1, 0)",
    "socket inet": "libc.socket(2, 1, 0)",
    "socket inet6 udp": "libc.socket(10, 2, 0)",
    "socket netlink": "libc.socket(16, 3, 0)",
    "socket packet": "libc.socket(17, 3, 0)",
    "socket vsock": "libc.socket(40, 1, 0)",
    "tiocsti": "libc.ioctl(0, 0x5412, buf)",
    "setuid": "libc.setuid(0)",
    "setgid": "libc.setgid(0)",
    "reboot": "libc.reboot(0)",
    "sethostname": 'libc.sethostname(b"x", 1)',
    "mknod": 'libc.mknod(b"dev", 0o20666, 0x103)',
}


@pytest.mark.req("SBX-15", "ATK-59", "D31")
@pytest.mark.parametrize("call", list(REFUSED_CALLS))
def test_calls_that_no_build_needs_are_refused_by_the_kernel(box: Box, call: str) -> None:
    box.own_file(
        box.work / "call.py",
        "import ctypes, errno, os, platform, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "buf = ctypes.create_string_buffer(256)\n"
        "nr = lambda x86, arm: x86 if platform.machine() == 'x86_64' else arm\n"
        f"result = {REFUSED_CALLS[call]}\n"
        "print(result, errno.errorcode.get(ctypes.get_errno(), ''))\n",
        0o644,
    )
    result = box.attack(f"{PY} call.py")
    value, error = result["stdout"].split()
    assert (int(value), error in ("EPERM", "EACCES", "ENOSYS", "EAFNOSUPPORT")) == (-1, True), result


@pytest.mark.req("SBX-15")
def test_what_programs_do_need_still_works(box: Box) -> None:
    code = (
        "import socket, os, threading, mmap, subprocess, asyncio, tempfile, fcntl\n"
        "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'\n"
        "t = threading.Thread(target=lambda: None); t.start(); t.join()\n"
        "mmap.mmap(-1, 4096); os.memfd_create('x')\n"
        "assert subprocess.run(['true']).returncode == 0\n"
        "asyncio.run(asyncio.sleep(0))\n"
        "with tempfile.NamedTemporaryFile() as f: fcntl.flock(f, fcntl.LOCK_EX)\n"
        "pid = os.fork()\n"
        "if pid == 0: os._exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7\n"
        "for d in ('null', 'zero', 'urandom', 'random', 'full'): open('/dev/' + d, 'rb').close()\n"
        "open('/dev/null', 'w').write('x')\n"
        "print(open('/proc/self/comm').read().strip())\n"
    )
    box.own_file(box.work / "needs.py", code, 0o644)
    result = box.attack(f"{PY} needs.py; cat <(echo sub); echo err > /dev/stderr; cat < /dev/stdin | wc -c")
    assert result["exit_code"] == 0, result
    assert result["stdout"].split() == ["python3", "sub", "0"]
    assert result["stderr"] == "err\n"


@pytest.mark.req("SBX-16", "D33")
def test_no_socket_of_the_host_is_reached(box: Box) -> None:
    path = str(box.work / "host.sock")  # inside the work root, where the file itself is open to the command
    reached: list[str] = []
    stop = threading.Event()
    with socket.socket(socket.AF_UNIX) as unix, socket.socket() as tcp, socket.socket(socket.AF_UNIX) as abstract:
        unix.bind(path)
        os.chmod(path, 0o777)  # noqa: S103 - open to everybody, so that only the jail can refuse
        abstract.bind("\0handrail-test-abstract")
        tcp.bind(("127.0.0.1", 0))
        for server in (unix, tcp, abstract):
            server.listen()
            server.settimeout(0.2)

        def accept(server: socket.socket, name: str) -> None:
            while not stop.is_set():
                try:
                    server.accept()[0].close()
                    reached.append(name)
                except TimeoutError:
                    continue

        threads = [threading.Thread(target=accept, args=pair) for pair in ((unix, "unix"), (tcp, "tcp"), (abstract, "abstract"))]
        for thread in threads:
            thread.start()
        port = tcp.getsockname()[1]
        code = (
            "import socket\n"
            f"targets = [(socket.AF_UNIX, {path!r}), (socket.AF_UNIX, chr(0) + 'handrail-test-abstract')]\n"
            f"for family, address in [*targets, (socket.AF_INET, ('127.0.0.1', {port}))]:\n"
            "    try: socket.socket(family).connect(address); print('reached', address)\n"
            "    except OSError as exc: print(type(exc).__name__)\n"
        )
        box.own_file(box.work / "reach.py", code, 0o644)
        result = box.attack(
            f"{PY} reach.py; exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached;"
            f" curl -s -m 2 http://127.0.0.1:{port} && echo reached; git ls-remote ext::'touch x' ; true"
        )
        stop.set()
        for thread in threads:
            thread.join()
    os.unlink(path)
    assert reached == []
    assert result["stdout"].split() == ["PermissionError"] * 3
    assert not (box.work / "x").exists()


@pytest.mark.req("SBX-17", "ATK-59")
def test_no_descriptor_is_inherited(box: Box) -> None:
    result = box.attack(
        f"{PY} -c \"import os; here = '/proc/self/fd/'; "
        "print(sorted((fd, os.readlink(here + fd).split(':')[0]) for fd in os.listdir(here) if fd < '3'))\"; ls /proc/self/fd | wc -l"
    )
    assert result["stdout"].splitlines() == ["[('0', '/dev/null'), ('1', 'pipe'), ('2', 'pipe')]", "4"]


@pytest.mark.req("SBX-18", "D31")
def test_every_reply_names_the_mechanism(box: Box) -> None:
    assert box.attack("true")["mechanism"].startswith("landlock-v")
    assert box.run("true", wait=False)["mechanism"].endswith("+seccomp")


@pytest.mark.req("SBX-19", "ATK-14")
def test_files_of_the_project_cannot_stand_in_for_tools(box: Box) -> None:
    for name in ("git", "ls", "bash"):
        box.own_file(box.work / name, "#!/bin/sh\ntouch shadowed\n", 0o755)
    box.attack("git --version; ls; bash -c true; mkdir -p ~/bin ~/.local/bin; cp ls ~/bin; cp ls ~/.local/bin; ls", cwd=str(box.work))
    assert not (box.work / "shadowed").exists()
    for name in ("git", "ls", "bash"):
        (box.work / name).unlink()


@pytest.mark.req("SBX-20", "ATK-11")
def test_git_runs_no_program_that_only_a_repositorys_configuration_names(box: Box) -> None:
    result = box.attack(
        "rm -rf evil && git init -q evil && cd evil && echo a > f && git add f && git commit -qm one && echo b > f"
        " && for key in core.fsmonitor core.pager core.editor sequence.editor core.sshCommand core.askPass gpg.program core.gitProxy"
        " credential.helper; do git config $key 'touch ../pwned-'$key; done; git config commit.gpgSign true"
        "; git config core.fsmonitor 'touch ../pwned-fsmonitor'"
        "; git status; git diff; git log; git commit -qam two; git commit --amend; git rebase -i HEAD~1"
        "; git ls-remote ssh://h/x; git ls-remote https://h/x; true"
    )
    assert result["state"] == "completed", result
    assert [path.name for path in box.work.glob("pwned*")] == []


@pytest.mark.req("SBX-21")
@pytest.mark.parametrize("root", ["/", "/etc", "/usr/local", "DATA", "DATA/secrets", "BASE", "LINK"])
def test_a_work_root_that_would_open_the_machine_is_refused(box: Box, root: str) -> None:
    link = box.base / "link-to-work"
    if not link.is_symlink():
        link.symlink_to(box.work)
    real = root.replace("DATA", str(box.data)).replace("BASE", str(box.base)).replace("LINK", str(link))
    answer = box.try_run("touch made", root=real, cwd=real)
    assert (answer.status, answer.json()["code"]) == (403, "process.bad_directory")


@pytest.mark.req("SBX-21", "D1")
@pytest.mark.parametrize("cwd", ["/tmp", "WORK/../outside", "WORK/missing", "WORK/file", "WORK/out-link", "relative"])
def test_a_working_directory_outside_the_roots_is_refused(box: Box, cwd: str) -> None:
    (box.work / "file").touch()
    link = box.work / "out-link"
    if not link.is_symlink():
        link.symlink_to("/tmp")
    answer = box.try_run("true", cwd=cwd.replace("WORK", str(box.work)))
    assert (answer.status, answer.json()["code"]) == (403, "process.bad_directory")


@pytest.mark.req("SBX-21")
def test_an_extra_root_is_writable_and_a_protected_one_is_left_out(box: Box) -> None:
    extra = box.base / "extra"
    extra.mkdir(exist_ok=True)
    extra.chmod(0o777)
    result = box.attack(
        f"echo x > {extra}/made; ls {box.data}/secrets",
        extra_roots=[str(extra), str(box.data), "/etc", str(box.base / "missing")],
        cwd=str(extra),
    )
    assert (extra / "made").read_text() == "x\n"
    assert result["stdout"] == ""


def test_this_interpreter_can_be_used_by_the_account() -> None:
    """The tests start the service with it: a venv below /root would fail them all with a strange message."""
    who = account()
    if who is not None:
        assert subprocess.run([sys.executable, "-c", ""], user=who.uid, group=who.gid, check=False).returncode == 0
