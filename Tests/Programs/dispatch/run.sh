#!/usr/bin/env bash
# The dispatch rules on real calls, in -Onone and in -O.
#
# DISPATCH_ONCE: with it, what takes long and says nothing of how the subjects are compiled is run in -O alone: sentences, and threads by the second.
. "$(dirname "${BASH_SOURCE[0]}")/../support/cases.sh"
once='^(refusals say why|what does not fit is told before anything runs|threads call while others install and remove)$'
if [ -z "${DISPATCH_ONCE:-}" ]; then
  run_cases hook-cases
else
  said=$(mktemp)
  trap 'rm "$said"' EXIT
  echo '== release'
  "$(built_product release hook-cases)" | tee "$said"
  mapfile -t names < <(sed -n 's/^ok  *//p' "$said" | grep -vE "$once")
  echo '== debug'
  "$(built_product debug hook-cases)" "${names[@]}"
fi
