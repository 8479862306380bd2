#!/usr/bin/env bash
# Patches as units of a running process: loaded, replaced, removed and switched while its threads call; the control socket; the command.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
export PYTHONPATH=$here:$PYTHONPATH

cd "$work"
swiftc -O -module-name Server -o server "$here/server.swift"
# More of all of it is for scripts/soak.
judged '' python3 "$here/units.py" "$scripthost" "$work/server" "$work" "${SCRIPTHOST_UNITS_SEED:-20261123}" "${SCRIPTHOST_UNITS_STEPS:-150}" "${SCRIPTHOST_UNITS_RELOADS:-2000}" "$root/docs/control-protocol.md"
judged '' python3 "$here/loading.py" "$scripthost" "$work/server" "$work"
judged '' python3 "$here/sequences.py" "$scripthost" "$work/server" "$work" "${SCRIPTHOST_UNITS_SEED:-20261125}" "${SCRIPTHOST_UNITS_SEQUENCES:-8}"
judged '' python3 "$here/abuse.py" "$scripthost" "$work/server" "$work"
judged '' python3 "$here/garbage.py" "$scripthost" "$work/server" "$work" "${SCRIPTHOST_UNITS_SEED:-20261125}" "${SCRIPTHOST_UNITS_GARBAGE:-4}"
judged '' python3 "$here/living.py" "$scripthost" "$work/server" "$work"
judged '' python3 "$here/top.py" "$scripthost" "$work/server" "$work"
judged '' python3 "$here/failing.py" "$scripthost" "$work/server" "$work"
# How many calls are to meet in a handler, and how often a rule is replaced.
judged '' python3 "$here/together.py" "$scripthost" "$work/server" "$work" "${SCRIPTHOST_UNITS_MEETINGS:-100}" "${SCRIPTHOST_UNITS_RULES:-400}"
judged '' python3 "$here/locks.py" "$scripthost" "$work/server" "$work"
judged '' python3 "$here/policy.py" "$scripthost" "$work/server" "$work"
finish
