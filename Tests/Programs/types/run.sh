#!/usr/bin/env bash
# Tests/Programs/types/run.sh: every kind of type in every position, generic calls and typed errors.
#
# Plans are compared with the compiler's own lowering; where there is none the reason must be one of those known. A
# program's generic calls are traced live and held against what its source says.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
python3 "$here/generate.py" Everything.swift
cp "$here"/*.swift .

# What nobody can know from a running program: bit-fields and unions, fields of non-copyable types, packs,
# what a coroutine yields, opaque results, private bodies without their code, self of a body that is not looked at.
known='coroutine|__C\.|NH[0-9]|Int\.Type|\.Type|Protocol|private:|whether it is mutating|depends on generic|the layout of its tuple|its elements are not made yet'
for module in Everything Generics Throwing; do
  compile=(swiftc -swift-version 5 -parse-as-library -suppress-warnings -module-name $module $module.swift)
  "${compile[@]}" -emit-irgen -o $module.ll
  # The library is made of the same text of LLVM's, so that its source is compiled once.
  swiftc -frontend -c $module.ll -module-name $module -o $module.o
  swiftc $module.o -emit-library -o lib$module.so
  "$products/call-plans" ./lib$module.so >$module.plans
  compared "$(wc -l <$module.plans)" "$module" python3 "$root/Tests/Programs/values/compare_plans.py" $module.plans $module.ll --unexplained
  # A line without a `?` has hidden arguments only that are not planned.
  grep '^opaque' .compared | grep '?' | grep -vE "$known" >unknown || true
  same "$module: what is refused is so for a known reason" /dev/null unknown
done

for level in -Onone -O; do
  swiftc $level -parse-as-library -module-name Live Live.swift -o live 2>/dev/null
  ./live >bare.out
  capture trace timeout 60 "$scripthost" trace -e 'Live.f*' -e 'Live.Box.*' -e 'Live.G.*' -e 'Live.Shape.*' -- ./live
  ended "$level: the traced program ends well" trace
  same "$level: the program prints what it prints alone" bare.out trace.out
  sed -E 's/^ *[0-9.]+ [unm]?s +//; s/ +(->|!!)/ \1/' trace.err | grep -vE 'matched|may miss|\.init|deinit|G\.make|^ *\}' | sed 's/^ *//' >got
  same "$level: the trace says what the source does" "$here/Live.expected" got
  checks=$((checks + $(wc -l <got) - 1))
done
finish
