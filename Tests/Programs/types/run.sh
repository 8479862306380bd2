#!/usr/bin/env bash
# Tests/Programs/types/run.sh: every kind of type in every position, generic calls and typed errors.
#
# Plans are compared with the compiler's own lowering; where there is none the reason must be one of those known. A
# program's generic calls are traced live and held against what its source says.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
products=${SCRIPTHOST_TEST_PRODUCTS:-$root/.build/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checks=0
cd "$work"
python3 "$here/generate.py" Everything.swift
cp "$here"/*.swift .

# What nobody can know from a running program: bit-fields and unions, fields of non-copyable types, packs,
# what a coroutine yields, opaque results, private bodies without their code, self of a body that is not looked at.
known='coroutine|__C\.|NH[0-9]|Int\.Type|\.Type|Protocol|private:|whether it is mutating|depends on generic|the layout of its tuple|its elements are not made yet'
for module in Everything Generics Throwing; do
  compile=(swiftc -swift-version 5 -parse-as-library -suppress-warnings -module-name $module $module.swift)
  "${compile[@]}" -emit-irgen -o $module.ll
  "${compile[@]}" -emit-library -o lib$module.so
  "$products/call-plans" ./lib$module.so >$module.plans
  python3 "$root/Tests/Programs/values/compare_plans.py" $module.plans $module.ll --unexplained >$module.out || failed=1
  grep -v '^opaque\|^    ' $module.out
  # A line without a `?` has hidden arguments only that are not planned.
  if grep '^opaque' $module.out | grep '?' | grep -vE "$known"; then echo "$module: refused without a known reason" && failed=1; fi
  checks=$((checks + $(wc -l <$module.plans)))
done

for level in -Onone -O; do
  swiftc $level -parse-as-library -module-name Live Live.swift -o live 2>/dev/null
  ./live >bare.out
  timeout 60 "$products/scripthost" trace -e 'Live.f*' -e 'Live.Box.*' -e 'Live.G.*' -e 'Live.Shape.*' -- ./live >traced.out 2>trace.err || failed=1
  cmp bare.out traced.out || { echo "$level: the program prints something else when traced" && failed=1; }
  sed -E 's/^ *[0-9.]+ [unm]?s +//; s/ +(->|!!)/ \1/' trace.err | grep -vE 'matched|may miss|\.init|deinit|G\.make|^ *\}' | sed 's/^ *//' >got
  diff "$here/Live.expected" got || { echo "$level: the trace says something else" && failed=1; }
  checks=$((checks + $(wc -l <got)))
done
[ "$failed" -eq 0 ] || exit 1
echo "$checks checks"
