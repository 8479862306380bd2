#!/usr/bin/env bash
# Tests/Programs/values/run.sh [SEED [COUNT]]: random functions of all kinds and types, patched in every way.
#
# Writes a module of COUNT functions, a program that calls them and seven patches; what the program and the patches
# print is known beforehand. Compares the plans of all bodies with the compiler's own lowering as well.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
products=${SCRIPTHOST_TEST_PRODUCTS:-$root/.build/release}
seed=${1:-${VALUES_SEED:-$(date +%j)}}
count=${2:-${VALUES_COUNT:-80}}
levels=${VALUES_LEVELS:--Onone -O}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checks=0
echo "seed $seed, $count functions"

python3 "$here/generate.py" "$seed" "$count" "$work"
cp "$here/Kit.swift" "$work"
cd "$work"
for level in $levels; do
  compile=(swiftc -swift-version 6 -wmo "$level" -I. -suppress-warnings)
  for module in Kit Types Subject; do
    "${compile[@]}" -parse-as-library -emit-module -emit-object -module-name $module $module.swift -o $module.o
  done
  "${compile[@]}" -module-name Caller main.swift Kit.o Types.o Subject.o -o program
  echo "$level"
  # The compiler has bugs of its own: what the program prints without us is not ours to judge.
  ./program >bare.out 2>/dev/null || true
  if ! cmp -s bare.out plain.expected; then
    echo "  skipped: the program itself prints something else, $(diff bare.out plain.expected | grep -c '^[<>]' || true) lines"
    continue
  fi
  strict=0
  [ "$level" != -Onone ] || strict=1
  for mode in plain decode replace around after instead twice; do
    status=0
    timeout 120 "$products/scripthost" run -v --state "$work/state" --patches "$mode" -- ./program >"$mode.out" 2>"$mode.err" || status=$?
    checks=$((checks + count))
    [ "$status" -eq 0 ] || { echo "  $mode: exit status $status" && tail -n 3 "$mode.err" && failed=1; }
    python3 "$here/check.py" . "$mode" "$strict" || failed=1
  done
  if [ "$level" = -Onone ]; then
    # Before LLVM's passes a signature is what the convention says.
    for module in Kit Types Subject; do "${compile[@]}" -parse-as-library -emit-irgen -module-name $module $module.swift -o $module.ll; done
    swiftc -emit-library -o libSubject.so Kit.o Types.o Subject.o
    "$products/call-plans" ./libSubject.so >plans
    python3 "$here/compare_plans.py" plans Kit.ll Types.ll Subject.ll || failed=1
    checks=$((checks + $(wc -l <plans)))
  fi
done
# What the optimiser makes of functions: its clones as they are before LLVM's passes, for tricky functions and for the
# random ones. Private functions and the machine code itself are other suites' matter.
for level in -O -Osize; do
  mkdir -p "clones$level" && cd "clones$level"
  compile=(swiftc -swift-version 6 -wmo "$level" -I. -suppress-warnings -parse-as-library)
  cp "$here/Clones.swift" ../Kit.swift ../Types.swift ../Subject.swift .
  for module in Kit Types Subject Clones; do
    "${compile[@]}" -emit-module -emit-object -module-name $module $module.swift -o $module.o
    "${compile[@]}" -emit-irgen -module-name $module $module.swift -o $module.ll
  done
  swiftc -emit-library -o libClones.so Kit.o Types.o Subject.o Clones.o
  "$products/call-plans" --evidence ./libClones.so >plans
  echo "clones $level: $(cut -f 1 plans | grep -c 'T[fg][0-9]' || true) specialised bodies"
  python3 "$here/compare_plans.py" plans *.ll || failed=1
  checks=$((checks + $(wc -l <plans)))
  cd ..
done
# Structs and enums as self, by value and in place. A body that the optimiser left only parts of self may say so.
for level in -Onone -O; do
  swiftc -swift-version 6 "$level" -parse-as-library -module-name Selves "$here/Selves.swift" -o selves
  timeout 60 "$products/scripthost" run -v --state "$work/state" --patches "$here/selves" -- ./selves >/dev/null 2>selves.err || failed=1
  grep -o '@ Selves.*' selves.err >selves.said || true
  [ "$level" = -Onone ] || sed -i '/<not decoded>$/d' selves.said
  while IFS= read -r line; do
    checks=$((checks + 1))
    grep -qxF "$line" <<'SAID' || { echo "selves $level: $line" && failed=1; }
@ Selves.Point.show(_:) Point(x: 3, y: 2.5, name: "pp")
@ Selves.Point.move(_:) Point(x: 3, y: 2.5, name: "pp")
@ Selves.Point.twice.get Point(x: 7, y: 2.5, name: "pp")
@ Selves.Shape.area(_:) .circle(…)
@ Selves.Shape.area(_:) .named(…)
SAID
  done <selves.said
  [ "$level" = -O ] || [ "$(wc -l <selves.said)" -eq 5 ] || { echo "selves: $(wc -l <selves.said) of 5 calls seen" && failed=1; }
done
# What a million calls with replaced arguments and results leave behind.
rounds=${VALUES_ROUNDS:-40000}
swiftc -swift-version 6 -O -parse-as-library -module-name Lifetimes "$here/Lifetimes.swift" -o lifetimes
timeout 200 "$products/scripthost" run -v --state "$work/state" --patches "$here/lifetimes" -- ./lifetimes "$rounds" >lifetimes.out 2>lifetimes.err || failed=1
read -r _ _ _ live _ grown <lifetimes.out
echo "lifetimes: $rounds rounds of 9 calls, $live objects left, $grown KB grown"
[ "$live" = 0 ] && [ "$grown" -lt 2048 ] && ! grep -q 'the original ran\|runs instead' lifetimes.err || { tail -n 3 lifetimes.err && failed=1; }
checks=$((checks + 2))
[ "$failed" -eq 0 ] || { echo "failed; repeat with: $0 $seed $count" && exit 1; }
echo "$checks checks"
