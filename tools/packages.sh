#!/bin/sh
# What the tests use beside Python: install what is missing when root and apt are there, else say what to install.
set -eu

missing=""
need() { # package, test
    sh -c "$2" >/dev/null 2>&1 || missing="$missing $1"
}
need git "command -v git"
need ripgrep "command -v rg"
need openssh-client "command -v ssh && command -v ssh-keygen"
need openssh-server "command -v sshd || test -x /usr/sbin/sshd"
for extra in "$@"; do need "$extra" "command -v $extra"; done # what one target alone needs
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of words
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "The tests need:$missing. Debian: apt-get install$missing" >&2
    echo "测试需要：$missing。Debian：apt-get install$missing" >&2
    exit 1
fi
