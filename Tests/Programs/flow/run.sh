#!/usr/bin/env bash
# Tests/Programs/flow/run.sh [SEED [COUNT]]: functions that LLVM may change, checked against what it made of them.
#
# Writes a module of COUNT functions with arguments and results that are not all used, compiles it whole, and compares
# what the plans claim after reading the machine code with the signatures after LLVM's passes. One false claim fails.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
seed=${1:-${FLOW_SEED:-${SCRIPTHOST_SEED:-$(date +%j)}}}
count=${2:-${FLOW_COUNT:-400}}
levels=${FLOW_LEVELS:--O -Osize -Onone}
echo "seed $seed, $count functions"

python3 "$here/generate.py" "$seed" "$count" >"$work/Private.swift"
cp "$here/Sinks.swift" "$work"
cd "$work"
swiftc -swift-version 6 -O -wmo -parse-as-library -emit-module -emit-library -module-name Sinks Sinks.swift -o libSinks.so
for level in $levels; do
  compile=(swiftc -swift-version 6 -suppress-warnings -wmo -parse-as-library -I. -module-name Private "$level" Private.swift)
  "${compile[@]}" -emit-irgen -o before.ll
  "${compile[@]}" -emit-ir -o after.ll
  "${compile[@]}" -emit-library -L. -lSinks -Xlinker -rpath='$ORIGIN' -o libPrivate.so
  "$products/call-plans" --evidence ./libPrivate.so >plans
  compared "$(wc -l <plans)" "$level (seed $seed, repeat with: $0 $seed $count)" python3 "$here/compare.py" plans before.ll after.ll
done
finish
