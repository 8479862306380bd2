#!/usr/bin/env bash
# Tests/Programs/clones/run.sh: what the optimiser makes of functions, and structs and enums as self.
#
# Compares the plans of optimised bodies and their clones with the compiler's own lowering before LLVM's passes, then reads
# self of structs and enums in a program that runs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
products=${SCRIPTHOST_TEST_PRODUCTS:-$root/.build/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checks=0
cd "$work"
# compared LEVEL MODULE PATTERN LEAST WHAT [FLAG]: the plans of a module's bodies against the compiler's own lowering.
compared() {
  local level=$1 module=$2 found
  local compile=(swiftc -swift-version 6 -wmo "$level" ${6:-} -suppress-warnings -parse-as-library -module-name "$module" "$here/$module.swift")
  "${compile[@]}" -emit-library -o "lib$module.so"
  "${compile[@]}" -emit-irgen -o "$module.ll"
  "$products/call-plans" --evidence "./lib$module.so" >plans
  found=$(cut -f 1 plans | grep -c "$3" || true)
  echo "$level: $found $5"
  [ "$found" -ge "$4" ] || { echo 'the compiler makes fewer of them than it did' && failed=1; }
  python3 "$root/Tests/Programs/values/compare_plans.py" plans "$module.ll" || failed=1
  checks=$((checks + $(wc -l <plans)))
}
for level in -O -Osize; do
  compared "$level" Clones 'T[fg][0-9]' 50 'specialised bodies'
  # Specialisations for a library's own types, which may change: loaded there, and nowhere else.
  compared "$level" Domain 'B5' 60 "bodies specialised in their library's own domain" -enable-library-evolution
done
# By value and in place. A body that the optimiser left only parts of self may say so.
for level in -Onone -O; do
  swiftc -swift-version 6 "$level" -parse-as-library -module-name Selves "$here/Selves.swift" -o selves
  timeout 60 "$products/scripthost" run -v --state "$work/state" --patches "$here/patch" -- ./selves >/dev/null 2>selves.err || failed=1
  grep -o '@ Selves.*' selves.err >said || true
  [ "$level" = -Onone ] || sed -i '/<not decoded>$/d' said
  [ "$level" = -O ] || [ "$(wc -l <said)" -eq 5 ] || { echo "selves: $(wc -l <said) of 5 calls seen" && failed=1; }
  while IFS= read -r line; do
    checks=$((checks + 1))
    grep -qxF "$line" <<'SAID' || { echo "selves $level: $line" && failed=1; }
@ Selves.Point.show(_:) Point(x: 3, y: 2.5, name: "pp")
@ Selves.Point.move(_:) Point(x: 3, y: 2.5, name: "pp")
@ Selves.Point.twice.get Point(x: 7, y: 2.5, name: "pp")
@ Selves.Shape.area(_:) .circle(…)
@ Selves.Shape.area(_:) .named(…)
SAID
  done <said
done
[ "$failed" -eq 0 ] || exit 1
echo "$checks checks"
