#!/usr/bin/env bash
# Patches as units of a running process: loaded, replaced, removed and switched while its threads call; the control socket; the command.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1

cd "$work"
swiftc -O -module-name Server -o server "$here/server.swift"
# part SCRIPT ARGUMENTS…: a part in Python, whose checks count here.
part() {
  local line
  while IFS= read -r line; do
    case $line in
      'ok '*) good "${line#ok      }" ;;
      'WRONG '*) bad "${line#WRONG   }" ;;
      *' checks, '*) ;;
      'ended '*) bad "$line" ;;
      *) printf '%s\n' "$line" ;;
    esac
  done < <(python3 "$@" 2>&1 || printf 'ended %s: %s\n' "$?" "$1")
}
# More steps and reloads are for scripts/soak: SCRIPTHOST_UNITS_STEPS, SCRIPTHOST_UNITS_RELOADS.
part "$here/units.py" "$scripthost" "$work/server" "$work" "${SCRIPTHOST_UNITS_SEED:-20261123}" "${SCRIPTHOST_UNITS_STEPS:-150}" "${SCRIPTHOST_UNITS_RELOADS:-2000}"
part "$here/abuse.py" "$scripthost" "$work/server" "$work"
part "$here/living.py" "$scripthost" "$work/server" "$work"
finish
