#!/usr/bin/env bash
# Tests/Programs/merged/run.sh [SEED]: hooks on functions that the compiler merged count their own calls and no others,
# where the constants that tell them apart are in registers and where they are on the stack.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
seed=${1:-${SCRIPTHOST_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}}
printf 'seed %s (SCRIPTHOST_SEED)\n' "$seed"
python3 -B "$here/generate.py" "$seed" 60 >"$work/Merged.swift"
for level in -Onone -O -Osize; do
  swiftc -swift-version 6 "$level" -wmo -parse-as-library -suppress-warnings -module-name Merged "$work/Merged.swift" -o "$work/merged$level"
  mkdir "$work/$level"
  if python3 -B "$here/check.py" "$scripthost" "$work/merged$level" "$work/Merged.swift" "$work/$level"; then
    good "$level: events are as many as calls"
  else
    bad "$level: events are as many as calls" "again with $0 $seed"
  fi
done
finish
