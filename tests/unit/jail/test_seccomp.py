"""The filter program, run by a small interpreter of classic BPF: every decision is a table row."""

from __future__ import annotations

import errno
import struct

import pytest

from handrail.jail import seccomp

ALLOW = seccomp.RET_ALLOW
KILL = seccomp.RET_KILL


def refuse(code: int) -> int:
    return seccomp.RET_ERRNO | code


def decide(program: bytes, nr: int, args: tuple[int, ...] = (), arch: int = seccomp.AUDIT_ARCH["x86_64"]) -> int:
    data = struct.pack("=IIQ6Q", nr & 0xFFFFFFFF, arch, 0, *(list(args) + [0] * 6)[:6])
    ops = list(struct.iter_unpack("=HBBI", program))
    accumulator = at = 0
    for _ in range(len(ops) + 1):
        code, jt, jf, k = ops[at]
        at += 1
        if code == seccomp.LD:
            accumulator = struct.unpack_from("=I", data, k)[0]
        elif code == seccomp.ALU_AND:
            accumulator &= k
        elif code == seccomp.RET:
            return k
        else:
            met = {seccomp.JEQ: accumulator == k, seccomp.JGE: accumulator >= k, seccomp.JSET: bool(accumulator & k)}[code]
            at += jt if met else jf
    raise AssertionError("the program does not end")


OFF = seccomp.build("x86_64", inet=False, truncate=True)
ON = seccomp.build("x86_64", inet=True, truncate=True)
SOCKET, CLONE, IOCTL = 41, 56, 16


@pytest.mark.req("SBX-15")
@pytest.mark.parametrize(
    ("nr", "args", "off", "on"),
    [
        (0, (), ALLOW, ALLOW),  # read
        (59, (), ALLOW, ALLOW),  # execve
        (53, (1, 1), ALLOW, ALLOW),  # socketpair
        (101, (), refuse(errno.EPERM), refuse(errno.EPERM)),  # ptrace
        (425, (), refuse(errno.ENOSYS), refuse(errno.ENOSYS)),  # io_uring_setup
        (435, (), refuse(errno.ENOSYS), refuse(errno.ENOSYS)),  # clone3
        (29, (), refuse(errno.ENOSYS), refuse(errno.ENOSYS)),  # shmget
        (SOCKET, (1, 1), refuse(errno.EACCES), refuse(errno.EACCES)),
        (SOCKET, (2, 1), refuse(errno.EACCES), ALLOW),
        (SOCKET, (2, 2 | 0o4000 | 0o2000000), refuse(errno.EACCES), ALLOW),  # SOCK_NONBLOCK | SOCK_CLOEXEC
        (SOCKET, (10, 1), refuse(errno.EACCES), ALLOW),
        (SOCKET, (2, 3), refuse(errno.EACCES), refuse(errno.EACCES)),  # raw
        (SOCKET, (10, 3), refuse(errno.EACCES), refuse(errno.EACCES)),
        (SOCKET, (16, 3, 0), refuse(errno.EAFNOSUPPORT), ALLOW),  # NETLINK_ROUTE
        (SOCKET, (16, 3, 9), refuse(errno.EAFNOSUPPORT), refuse(errno.EAFNOSUPPORT)),  # NETLINK_AUDIT
        (SOCKET, (17, 3), refuse(errno.EAFNOSUPPORT), refuse(errno.EAFNOSUPPORT)),
        (SOCKET, (40, 1), refuse(errno.EAFNOSUPPORT), refuse(errno.EAFNOSUPPORT)),
        (CLONE, (17,), ALLOW, ALLOW),
        (CLONE, (0x3D0F00,), ALLOW, ALLOW),  # a thread
        (CLONE, (0x10000011,), refuse(errno.EPERM), refuse(errno.EPERM)),
        (IOCTL, (0, 0x5401), ALLOW, ALLOW),
        (IOCTL, (0, 0x5412), refuse(errno.EPERM), refuse(errno.EPERM)),
        (IOCTL, (0, 0x7_0000_5412), refuse(errno.EPERM), refuse(errno.EPERM)),  # the kernel looks at the low word only
        (SOCKET | seccomp.X32_BIT, (1, 1), refuse(errno.ENOSYS), refuse(errno.ENOSYS)),
        (-1, (), refuse(errno.ENOSYS), refuse(errno.ENOSYS)),
    ],
)
def test_the_filter_decides_as_the_table_says(nr: int, args: tuple[int, ...], off: int, on: int) -> None:
    assert (decide(OFF, nr, args), decide(ON, nr, args)) == (off, on)


@pytest.mark.req("SBX-15")
@pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])
def test_every_call_of_the_tables_is_refused_on_both_machines(machine: str, column: int) -> None:
    program = seccomp.build(machine, inet=True, truncate=True)
    arch = seccomp.AUDIT_ARCH[machine]
    for table, code in ((seccomp.DENIED, errno.EPERM), (seccomp.ABSENT, errno.ENOSYS), (seccomp.SHARED_IPC, errno.ENOSYS)):
        for name, row in table.items():
            number = row[column]
            if number is not None and number >= 0:
                assert decide(program, number, arch=arch) == refuse(code), name
    assert decide(program, seccomp.SOCKET[column], (1, 1), arch) == refuse(errno.EACCES)


@pytest.mark.req("SBX-15")
def test_calls_of_another_machine_are_killed() -> None:
    assert decide(OFF, 0, arch=0x40000003) == KILL  # int 0x80
    assert decide(OFF, 0, arch=seccomp.AUDIT_ARCH["aarch64"]) == KILL


def test_truncate_is_refused_only_where_landlock_does_not_mediate_it() -> None:
    assert decide(OFF, 76) == ALLOW
    assert decide(seccomp.build("x86_64", inet=False, truncate=False), 76) == refuse(errno.EACCES)


def test_a_machine_without_a_table_is_an_error() -> None:
    with pytest.raises(KeyError):
        seccomp.build("riscv64", inet=False, truncate=True)
