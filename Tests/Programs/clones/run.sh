#!/usr/bin/env bash
# Tests/Programs/clones/run.sh: what the optimiser makes of functions, and structs and enums as self.
#
# Compares the plans of optimised bodies and their clones with the compiler's own lowering before LLVM's passes, then reads
# self of structs and enums in a program that runs.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
# planned LEVEL MODULE PATTERN LEAST WHAT [FLAG]: the plans of a module's bodies against the compiler's own lowering.
planned() {
  local level=$1 module=$2 found
  local compile=(swiftc -swift-version 6 -wmo "$level" ${6:-} -suppress-warnings -parse-as-library -module-name "$module" "$here/$module.swift")
  "${compile[@]}" -emit-library -o "lib$module.so"
  "${compile[@]}" -emit-irgen -o "$module.ll"
  "$products/call-plans" --evidence "./lib$module.so" >plans
  found=$(cut -f 1 plans | grep -c "$3" || true)
  check "$level: the compiler makes $found $5, and $4 are looked for" [ "$found" -ge "$4" ]
  compared "$(wc -l <plans)" "$level: $module" python3 "$root/Tests/Programs/values/compare_plans.py" plans "$module.ll"
}
for level in -O -Osize; do
  planned "$level" Clones 'T[fg][0-9]' 50 'specialised bodies'
  # Specialisations for a library's own types, which may change: loaded there, and nowhere else.
  planned "$level" Domain 'B5' 60 "bodies specialised in their library's own domain" -enable-library-evolution
done
cat >expected <<'SAID'
@ Selves.Point.show(_:) Point(x: 3, y: 2.5, name: "pp")
@ Selves.Point.move(_:) Point(x: 3, y: 2.5, name: "pp")
@ Selves.Point.twice.get Point(x: 7, y: 2.5, name: "pp")
@ Selves.Shape.area(_:) .circle(…)
@ Selves.Shape.area(_:) .named(…)
SAID
# By value and in place. A body that the optimiser left only parts of self may say so.
for level in -Onone -O; do
  swiftc -swift-version 6 "$level" -parse-as-library -module-name Selves "$here/Selves.swift" -o selves
  capture selves timeout 60 "$scripthost" run -v --state "$work/state" --patches "$here/patch" -- ./selves
  ended "$level: the program ends well" selves
  grep -o '@ Selves.*' selves.err >said || true
  [ "$level" = -Onone ] || sed -i '/<not decoded>$/d; /move(_:) <Selves.Point>$/d' said
  [ "$level" = -O ] || check "$level: five calls are seen" [ "$(wc -l <said)" -eq 5 ]
  while IFS= read -r line; do
    check "$level: $line" grep -qxF "$line" expected
  done <said
done
finish
