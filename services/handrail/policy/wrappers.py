"""Programs that start another program: where in their arguments it stands. One readable table."""

from __future__ import annotations

import re
from dataclasses import dataclass

from handrail.policy.verdict import Level
from handrail.policy.words import Word

ASSIGNMENT = re.compile(r"[^=]+=")  # env and sudo take any name


@dataclass(frozen=True, slots=True)
class Wrapper:
    """`values`: options that take a value. `flags`: options that do not. `skip`: operands before the command.

    `level`: what the wrapper itself is worth. `assignments`: NAME=value may stand before the command.
    `joined`: what follows is handed to a shell as one string.
    """

    values: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    skip: int = 0
    level: Level = "allow"
    assignments: bool = False
    joined: bool = False


def _w(
    values: str = "", flags: str = "", skip: int = 0, *, level: Level = "allow", assignments: bool = False, joined: bool = False
) -> Wrapper:
    return Wrapper(frozenset(values.split()), frozenset(flags.split()), skip, level, assignments, joined)


PRIVILEGE = frozenset({"sudo", "doas", "pkexec", "su", "runas", "gosu", "su-exec", "run0", "machinectl"})

WRAPPERS: dict[str, Wrapper] = {
    "sudo": _w(
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type --close-from --other-user",
        "-A -b -E -e -H -i -K -k -l -n -P -S -s -v --askpass --background --login --shell --non-interactive --stdin --preserve-env",
        level="confirm",
        assignments=True,
    ),
    "doas": _w("-u -C -a", "-n -s -L", level="confirm"),
    "pkexec": _w("--user", "--disable-internal-agent --keep-cwd", level="confirm"),
    "gosu": _w(skip=1, level="confirm"),
    "su-exec": _w(skip=1, level="confirm"),
    "run0": _w("-u -g -D --user --group --chdir --setenv", level="confirm"),
    "nohup": _w(),
    "setsid": _w("", "-c -f -w --ctty --fork --wait"),
    "time": _w("-f -o --format --output", "-p -a -v --append --verbose --portability"),
    "builtin": _w(),
    "exec": _w("-a", "-c -l"),
    "coproc": _w(assignments=True),
    "nice": _w("-n --adjustment", ""),
    "ionice": _w("-c -n -p -P -u --class --classdata", "-t --ignore"),
    "chrt": _w("-T -P -D", "-b -f -i -o -r -R -a -v -m", skip=1),
    "taskset": _w("", "-a -c -p --all-tasks --cpu-list", skip=1),
    "numactl": _w("-N -m -i -p -C", "-l -s -H"),
    "timeout": _w("-s -k --signal --kill-after", "-f -v --foreground --preserve-status --verbose", skip=1),
    "gtimeout": _w("-s -k --signal --kill-after", "-f -v --foreground --preserve-status --verbose", skip=1),
    "stdbuf": _w("-i -o -e --input --output --error"),
    "unbuffer": _w("", "-p"),
    "rlwrap": _w("-f -H -s -C -b -q -S -p", "-a -c -i -r -R"),
    "chroot": _w("--userspec --groups", "--skip-chdir", skip=1, level="confirm"),
    "unshare": _w("-S -G -R -w --root --wd --setuid --setgid --map-user --map-group", level="confirm"),
    "nsenter": _w("-t -S -G --target", level="confirm"),
    "bwrap": _w("--bind --ro-bind --dev --proc --tmpfs --chdir --setenv --dev-bind", level="confirm"),
    "firejail": _w(level="confirm"),
    "systemd-run": _w("-p -u --unit --property --uid --gid -E --setenv", level="confirm"),
    "strace": _w(
        "-o -e -p -s -S -u -E -a -b -I -O -P -X", "-c -C -d -D -f -ff -F -h -i -k -n -q -qq -r -t -tt -ttt -T -v -V -w -x -xx -y -yy -z -Z"
    ),
    "ltrace": _w("-o -e -p -s -u -a -n -l -x -A -D -F", "-c -C -f -h -i -L -r -S -t -tt -ttt -T -V"),
    "xvfb-run": _w("-e -f -n -p -s -w", "-a -l"),
    "dbus-run-session": _w(),
    "fakeroot": _w("-l -s -i -b", "-u"),
    "faketime": _w("-f", "-m", skip=1),
    "catchsegv": _w(),
    "caffeinate": _w("-t -w", "-d -i -m -s -u"),
    "watch": _w("-n --interval", "-b -c -d -e -g -p -t -x -w --beep --color --differences --errexit --chgexit --no-title", joined=True),
    "setpriv": _w("--reuid --regid --groups --bounding-set --inh-caps", level="confirm"),
    "capsh": _w(level="confirm"),
    "valgrind": _w(),
    "retry": _w(),
    "setarch": _w("", ""),
    "linux64": _w("", "-R -v"),
    "hyperfine": _w("-w -r -m -M -s -p -c -S -n -i -L -P", joined=True),
    "chpst": _w("-u -U -b -e -/ -n -l -L -m -d -o -p -f -c -r -t", level="confirm"),
    "linux32": _w("", "-R -v"),
    "prlimit": _w("-o --output", "--noheadings --raw --verbose"),
    "chronic": _w("", "-v -e"),
    "ts": _w("", "-r -i -s -m"),
    "proxychains": _w("-f", "-q"),
    "proxychains4": _w("-f", "-q"),
    "torsocks": _w("-a -P -u -p", "-d -i"),
    "torify": _w(),
    "annotate-output": _w("", "-h"),
    "eatmydata": _w(),
    "softlimit": _w("-a -c -d -f -l -m -o -p -r -s -t"),
    "cpulimit": _w("-l -p -e -P --limit", "-b -f -i -k -m -q -r -s -v -z"),
    "trickle": _w("-d -u -w -t -l -n", "-s -v"),
    "ssh-agent": _w("-a -t -E -P", "-c -s -D -d -k"),
    "runuser": _w("-u -g -G -s -w --user --group --shell", "-l -m -p --login", level="confirm"),
    "newgrp": _w(level="confirm"),
    "tsocks": _w(),
    "sem": _w("-j --id --jobs", "--fg --bg -w"),
    "daemonize": _w("-a -c -e -o -p -l -u -E"),
    "setlock": _w("", "-n -N -x -X", skip=1),
    "lockf": _w("-t", "-k -s -n", skip=1),
    "envdir": _w(skip=1),
    "envuidgid": _w(skip=1),
    "with-contenv": _w(),
    "tini": _w("", "-s -g -v -w"),
    "dumb-init": _w("", "-c -v -r"),
    "cgexec": _w("-g", "--sticky"),
    "vglrun": _w(),
    "primusrun": _w(),
    "optirun": _w(),
    "wine": _w(),
    "gdb": _w("-x -ex -p -c", "--args -q -batch -nx", level="confirm"),
    "entr": _w("", "-a -c -d -n -p -r -s -z"),
}


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper starts. `doubtful`: an option was not known, so that the start of the command is a guess."""

    words: list[Word]
    assigned: list[Word]
    doubtful: bool


def unwrap(wrapper: Wrapper, arguments: list[Word]) -> Inner:
    """Skip the wrapper's own options and operands."""
    index = 0
    doubtful = False
    assigned: list[Word] = []
    while index < len(arguments):
        value = arguments[index].value
        if value is None:
            doubtful = True
            break
        if value == "--":
            index += 1
            break
        if value.startswith("-") and len(value) > 1:
            name, equals, _ = value.partition("=")
            if name in wrapper.values and not equals:
                index += 2
                continue
            attached = value[:2] in wrapper.values and value[2:] and not value.startswith("--")
            doubtful = doubtful or not (name in wrapper.values or name in wrapper.flags or attached or value[1:].isdigit())
        elif wrapper.assignments and ASSIGNMENT.match(value):
            assigned.append(arguments[index])
        else:
            break
        index += 1
    return Inner(arguments[index + wrapper.skip :], assigned, doubtful)
