#!/bin/sh
# Prints the path of a Python that the project can use: 3.12 or newer, able to make a virtual
# environment. PYTHON names one that is tried first. Each candidate is run, not only looked up: a
# version manager's stand-in may be on PATH for a Python that is not installed.

new_enough='import sys; sys.version_info >= (3, 12) or sys.exit(1); print(sys.executable)'
without_venv=

for candidate in "${PYTHON:-}" python3.13 python3.12 python3.14 python3 \
    "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3.1[234].*/bin/python3; do
    [ -n "$candidate" ] || continue
    python=$("$candidate" -c "$new_enough" 2>/dev/null) || continue
    if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        printf '%s\n' "$python"
        exit 0
    fi
    without_venv=$python
done

if [ -n "$without_venv" ]; then
    echo "$without_venv cannot make virtual environments." >&2
    echo "On Debian and Ubuntu: apt-get install python3-venv" >&2
else
    echo "Keeproom needs Python 3.12 or newer, and none was found." >&2
    echo "Install one, or name it: make serve PYTHON=/path/to/python3" >&2
fi
exit 1
