#!/bin/sh
# Print the Python to make .venv with: >= 3.11 with venv and ensurepip. For root one that every user can reach, because
# services then run as the user `handrail` and a Python below /root is closed to it. $PYTHON overrides the choice.
set -u

reachable() { # every directory above the real binary lets others through, and the binary itself runs for them
    at=$1
    while :; do
        mode=$(stat -Lc %a "$at") || return 1
        [ $((0$mode & 1)) = 1 ] || return 1
        [ "$at" = / ] && return 0
        at=$(dirname "$at")
    done
}

usable() {
    real=$("$1" -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1)
import ensurepip, os, venv
print(os.path.realpath(sys.executable))' 2>/dev/null) || return 1
    [ "$(id -u)" != 0 ] || reachable "$real"
}

if [ -n "${PYTHON:-}" ]; then
    command -v "$PYTHON"
    exit
fi
for name in python3 python3.14 python3.13 python3.12 python3.11; do
    for place in "" /usr/local/bin/ /usr/bin/; do
        found=$(command -v "$place$name") || continue
        if usable "$found"; then
            echo "$found"
            exit 0
        fi
    done
done
echo "No usable Python: 3.11 or newer with venv is needed (Debian: apt-get install python3 python3-venv)." >&2
echo "没有可用的 Python：需要 3.11 或更新版本并带有 venv（Debian：apt-get install python3 python3-venv）。" >&2
[ "$(id -u)" != 0 ] || echo "As root it must lie where other users can reach it (not below /root); PYTHON=/path/to/python3 names one. / 以 root 运行时，Python 须位于其他用户可访问的位置（不能在 /root 下）。" >&2
exit 1
