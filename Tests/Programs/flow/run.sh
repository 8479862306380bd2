#!/usr/bin/env bash
# Tests/Programs/flow/run.sh [SEED [COUNT]]: functions that LLVM may change, checked against what it made of them.
#
# Writes a module of COUNT functions with arguments and results that are not all used, compiles it whole, and compares
# what the plans claim after reading the machine code with the signatures after LLVM's passes. One false claim fails.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
products=${SCRIPTHOST_TEST_PRODUCTS:-$root/.build/release}
seed=${1:-${FLOW_SEED:-${SCRIPTHOST_SEED:-$(date +%j)}}}
count=${2:-${FLOW_COUNT:-400}}
levels=${FLOW_LEVELS:--O -Osize -Onone}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checks=0
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
  echo "$level"
  "$products/call-plans" --evidence ./libPrivate.so >plans
  python3 "$here/compare.py" plans before.ll after.ll || failed=1
  checks=$((checks + $(wc -l <plans)))
done
[ "$failed" -eq 0 ] || { echo "failed; repeat with: $0 $seed $count" && exit 1; }
echo "$checks checks"
