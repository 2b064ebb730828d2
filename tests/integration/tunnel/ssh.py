"""A real sshd on a port of its own and a real `ssh -L` through it, with keys made for the test."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Generator
from pathlib import Path

from tests.demo.embedded import free_port
from tests.support.wait import until

SSHD_PLACES = "/usr/sbin:/usr/local/sbin:/sbin"
HINT = "install OpenSSH: apt-get install openssh-server openssh-client"
PATIENCE_S = 20


def program(name: str) -> str:
    """Path of an OpenSSH program. Its absence is a failure that says what to install."""
    found = shutil.which(name) or shutil.which(name, path=SSHD_PLACES)
    assert found is not None, f"{name} is missing: {HINT}"
    return found


def make_key(path: Path) -> Path:
    """An Ed25519 key pair without a pass phrase."""
    subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path


@contextlib.contextmanager
def running_sshd(base: Path, *, forward_to: int) -> Generator[int]:
    """An sshd that lets the key `base`/client in and forwards to one port of 127.0.0.1 only. Yields its own port."""
    host_key, client_key = make_key(base / "host"), make_key(base / "client")
    port = free_port()
    (base / "authorized").write_text(client_key.with_suffix(".pub").read_text("ascii"), "ascii")
    (base / "known").write_text(f"[127.0.0.1]:{port} {host_key.with_suffix('.pub').read_text('ascii')}", "ascii")
    (base / "sshd_config").write_text(
        f"""
ListenAddress 127.0.0.1
Port {port}
HostKey {host_key}
PidFile none
AuthorizedKeysFile {base / "authorized"}
AuthenticationMethods publickey
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
AllowTcpForwarding local
PermitOpen 127.0.0.1:{forward_to}
""",
        "ascii",
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd locks itself in; a boot script makes it elsewhere
    argv = [program("sshd"), "-D", "-e", "-f", str(base / "sshd_config")]
    with _running(argv, base / "sshd.log", port):
        yield port


@contextlib.contextmanager
def tunnel(base: Path, *, sshd_port: int, to: int) -> Generator[int]:
    """`ssh -L PORT:127.0.0.1:to`. Yields PORT, which differs from `to`."""
    port = free_port()
    user = pwd.getpwuid(os.getuid()).pw_name
    options = {
        "BatchMode": "yes",
        "ExitOnForwardFailure": "yes",
        "IdentitiesOnly": "yes",
        "IdentityFile": str(base / "client"),
        "StrictHostKeyChecking": "yes",
        "UserKnownHostsFile": str(base / "known"),
    }
    settings = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    argv = [program("ssh"), "-F", os.devnull, *settings, "-p", str(sshd_port), "-N", "-L", f"{port}:127.0.0.1:{to}", f"{user}@127.0.0.1"]
    with _running(argv, base / "ssh.log", port):
        yield port


@contextlib.contextmanager
def _running(argv: list[str], log: Path, port: int) -> Generator[None]:
    """The program while it listens on `port`; ended together with the block."""
    with log.open("wb") as sink, subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink) as child:

        def listens() -> bool:
            assert child.poll() is None, f"{argv[0]} ended with {child.returncode}: {log.read_text(errors='replace')[-2000:]}"
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return True
            return False

        try:
            until(listens, f"{argv[0]} listens", PATIENCE_S)
            yield
        finally:
            child.terminate()
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
