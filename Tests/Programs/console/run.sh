#!/usr/bin/env bash
# The console: a program under `scripthost run`, driven through `scripthost attach` by pipes, by a terminal and by clients that misbehave.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
export PYTHONPATH=$here/../units PYTHONDONTWRITEBYTECODE=1

cd "$work"
swiftc -O -module-name Server -o server "$here/../units/server.swift"
while IFS= read -r line; do
  case $line in
    'ok '*) good "${line#ok      }" ;;
    'WRONG '*) bad "${line#WRONG   }" ;;
    'ended '*) bad "$line" ;;
    *' checks, '*) ;;
    *) printf '%s\n' "$line" ;;
  esac
done < <(python3 "$here/console.py" "$scripthost" "$work/server" "$work" 2>&1 || printf 'ended %s: console.py\n' "$?")
finish
