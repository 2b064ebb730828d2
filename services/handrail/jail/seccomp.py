"""The system-call filter of a command: a classic BPF program built as a value. Standard library only.

It refuses what a build never needs, and what Landlock does not mediate: pathname Unix sockets, UDP, io_uring (whose
requests no filter sees). A refused call answers with an errno, so that programs can go on.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from dataclasses import dataclass

from handrail.jail import syscalls

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000
RET_KILL, RET_ERRNO, RET_ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
LD, JEQ, JGE, JSET, RET = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF_LD|W|ABS, BPF_JMP|.., BPF_RET|K
ALU_AND = 0x54
NR, ARCH, ARG0, ARG1, ARG2 = 0, 4, 16, 24, 32  # offsets in struct seccomp_data (low words, little endian)

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCK_TYPE_MASK, SOCK_STREAM, SOCK_DGRAM = 0xF, 1, 2
NAMESPACE_FLAGS = 0x7E020000  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}
TIOCSTI, TIOCLINUX = 0x5412, 0x541C  # pushing input into a terminal

# name: (x86_64, aarch64); None = that machine has no such call
DENIED: dict[str, tuple[int | None, int]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "unshare": (272, 97),
    "setns": (308, 268),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "iopl": (172, -1),
    "ioperm": (173, -1),
    "modify_ldt": (154, -1),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
}
# these look as if the kernel had none of them, so that programs take their other way
ABSENT: dict[str, tuple[int | None, int]] = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "clone3": (435, 435),  # its flags are behind a pointer; libc falls back to clone
}
# System V and POSIX message objects are shared by everything with the same uid
SHARED_IPC: dict[str, tuple[int | None, int]] = {
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}
SOCKET, CLONE, IOCTL, TRUNCATE = (41, 198), (56, 220), (16, 29), (76, 45)


@dataclass(frozen=True, slots=True)
class _Op:
    code: int
    k: int
    jt: int = 0
    jf: int = 0


def build(machine: str, *, inet: bool, truncate: bool) -> bytes:
    """The filter program as an array of struct sock_filter. Raises KeyError for a machine that is not supported.

    Unix sockets are refused always (socketpair stays), TCP and UDP only without `inet`.
    `truncate`: Landlock mediates truncate(2) (ABI 3); where it does not, the call is refused (ftruncate stays).
    """
    column = syscalls.SUPPORTED.index(machine) if machine in syscalls.SUPPORTED else -1
    refused = dict.fromkeys(_numbers(DENIED, column), errno.EPERM)
    refused |= dict.fromkeys(_numbers(ABSENT | SHARED_IPC, column), errno.ENOSYS)
    if not truncate:
        refused[TRUNCATE[column]] = errno.EACCES
    ops = _head(machine)
    for number, code in sorted(refused.items()):
        ops += [_Op(JEQ, number, 0, 1), _Op(RET, RET_ERRNO | code)]
    clone = [_Op(LD, ARG0), _Op(JSET, NAMESPACE_FLAGS, 0, 1), _Op(RET, RET_ERRNO | errno.EPERM), _Op(RET, RET_ALLOW)]
    terminal = [_Op(LD, ARG1), _Op(JEQ, TIOCSTI, 1, 0), _Op(JEQ, TIOCLINUX, 0, 1), _Op(RET, RET_ERRNO | errno.EPERM), _Op(RET, RET_ALLOW)]
    ops += _block(CLONE[column], clone)
    ops += _block(IOCTL[column], terminal)
    ops += _block(SOCKET[column], _socket(inet=inet))
    return _pack([*ops, _Op(RET, RET_ALLOW)])


def _head(machine: str) -> list[_Op]:
    """Another ABI's numbers mean other calls: its programs are killed, x32 calls look absent."""
    ops = [_Op(LD, ARCH), _Op(JEQ, AUDIT_ARCH[machine], 1, 0), _Op(RET, RET_KILL), _Op(LD, NR)]
    if machine == "x86_64":
        ops += [_Op(JGE, X32_BIT, 0, 1), _Op(RET, RET_ERRNO | errno.ENOSYS)]
    return ops


def _pack(ops: list[_Op]) -> bytes:
    return b"".join(struct.pack("=HBBI", op.code, op.jt, op.jf, op.k) for op in ops)


def _numbers(table: dict[str, tuple[int | None, int]], column: int) -> list[int]:
    return [number for row in table.values() if (number := row[column]) is not None and number >= 0]


def _block(number: int, body: list[_Op]) -> list[_Op]:
    """`body` only for system call `number`; it must end in RET on every way."""
    return [_Op(JEQ, number, 0, len(body)), *body]


def _socket(*, inet: bool) -> list[_Op]:
    denied = _Op(RET, RET_ERRNO | errno.EACCES)
    unknown = _Op(RET, RET_ERRNO | errno.EAFNOSUPPORT)
    ops = [_Op(LD, ARG0), _Op(JEQ, AF_UNIX, 0, 1), denied]
    if not inet:
        return [*ops, _Op(JEQ, AF_INET, 1, 0), _Op(JEQ, AF_INET6, 0, 1), denied, unknown]
    return [
        *ops,
        _Op(JEQ, AF_INET, 5, 0),
        _Op(JEQ, AF_INET6, 4, 0),
        _Op(JEQ, AF_NETLINK, 0, 2),  # getaddrinfo asks which addresses exist: protocol 0 is NETLINK_ROUTE
        _Op(LD, ARG2),
        _Op(JEQ, 0, 5, 0),
        unknown,
        # a raw socket needs a capability that no command has; refused here too
        _Op(LD, ARG1),
        _Op(ALU_AND, SOCK_TYPE_MASK),
        _Op(JEQ, SOCK_STREAM, 1, 0),
        _Op(JEQ, SOCK_DGRAM, 0, 1),
        _Op(RET, RET_ALLOW),
        denied,
    ]


def install(program: bytes) -> None:
    """Bind the calling process. Needs no_new_privs. Raises OSError."""
    body = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: u16 count, padding, pointer
    head = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(body)))
    syscalls.prctl(syscalls.PR_SET_SECCOMP, syscalls.SECCOMP_MODE_FILTER, ctypes.addressof(head))
