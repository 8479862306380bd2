#!/usr/bin/env bash
# The console: a program under `scripthost run`, driven through `scripthost attach` by pipes, by a terminal and by clients that misbehave.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
export PYTHONPATH=$here/../units:$PYTHONPATH

cd "$work"
swiftc -O -module-name Server -o server "$here/../units/server.swift"
judged '' python3 "$here/console.py" "$scripthost" "$work/server" "$work"
judged '' python3 "$here/screens.py" "$scripthost" "$work/server" "$work" "$root/docs/console.md"
judged '' python3 "$here/repl.py" "$scripthost" "$work/server" "$work"
judged '' python3 "$here/rights.py" "$scripthost" "$work/server" "$work"
finish
