#!/usr/bin/env bash
# Resolve pyproject.toml into one pinned, hashed lock file a service under locks/.
# Needs uv (pip install uv); the lock files themselves are installed with plain pip.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=${UV:-.venv/bin/uv}
[ -x "$uv" ] || .venv/bin/pip install -q uv
compile() { # extra
    "$uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --extra "$1" pyproject.toml -o "locks/$1.txt"
    # the project itself is not a dependency of itself
    sed -i '/^handrail[ @]/d' "locks/$1.txt"
}
for extra in "${@:-}"; do [ -n "$extra" ] && compile "$extra"; done
[ $# -gt 0 ] || for extra in api worker sandbox embedded dev; do compile "$extra"; done
