#!/usr/bin/env bash
# Tests/Programs/values/run.sh [SEED [COUNT]]: random functions of all kinds over types of all kinds, patched in every way.
#
# Writes modules of COUNT functions and a program that calls them, for each of VALUES_LEVELS; what the program and the
# patches print is known beforehand. Compares the plans of all bodies with the compiler's own lowering as well.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
products=${SCRIPTHOST_TEST_PRODUCTS:-$root/.build/release}
seed=${1:-${VALUES_SEED:-$(date +%j)}}
count=${2:-${VALUES_COUNT:-2000}}
read -ra levels <<<"${VALUES_LEVELS:--Onone -O -Osize}"
read -ra modes <<<"${VALUES_MODES:-decode replace around instead twice}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
# Groups and kinds of functions that wait for work elsewhere: consuming methods of structs do not say so in their names.
export VALUES_WITHOUT=${VALUES_WITHOUT-async/actor/struct consuming}
echo "seed $seed, $count functions, levels ${levels[*]}"

# level DIRECTORY LEVEL: compiles, runs bare and under every patch, compares. Prints what it found.
level() {
  local directory=$1 compile=(swiftc -swift-version 5 -wmo "$2" -I. -suppress-warnings) mode module failed=0 status
  cp -r "$work/sources" "$directory" && cd "$directory"
  for module in Kit Types Subject; do
    "${compile[@]}" -parse-as-library -emit-module -emit-object -module-name $module $module.swift -o $module.o
  done
  "${compile[@]}" -parse-as-library -module-name Caller main.swift Kit.o Types.o Subject.o -o program
  timeout 60 ./program values.bin bare.out >/dev/null 2>bare.err || { echo "  the program itself fails: $(tail -n 1 bare.err)"; failed=1; }
  for mode in "${modes[@]}"; do
    status=0
    timeout 120 "$products/scripthost" run -v --state state --patches "$mode" -- ./program values.bin "$mode.out" \
      >/dev/null 2>"$mode.err" || status=$?
    [ "$status" -eq 0 ] || { echo "  $mode: exit status $status, last $(tr -d '\0' <"$mode.out" | tail -n 1 | cut -c1-80)"; failed=1; }
  done
  local compared=("${modes[@]}")
  if [ "$2" != -Onone ] && [ -z "${VALUES_NO_PRIVATE:-}" ]; then
    # One module, private functions: what is said must be right, the rest flagged.
    "${compile[@]}" -parse-as-library -module-name Subject Private.swift Kit.o Types.o -o private
    timeout 60 ./private values.bin bare-private.out >/dev/null 2>&1 || true
    timeout 120 "$products/scripthost" run -v --state state --patches decode -- ./private values.bin private.out >/dev/null 2>private.err || echo "  private: exit status $?"
    compared+=(private)
  fi
  python3 "$here/check.py" "$seed" "$count" . "${compared[@]}" || failed=1
  # Before LLVM's passes a signature is what the convention says.
  for module in Kit Types Subject; do "${compile[@]}" -parse-as-library -emit-irgen -module-name $module $module.swift -o $module.ll; done
  swiftc -emit-library -o libSubject.so Kit.o Types.o Subject.o
  "$products/call-plans" ./libSubject.so >plans
  python3 "$here/compare_plans.py" plans Kit.ll Types.ll Subject.ll >plans.compared || failed=1
  tail -n 40 plans.compared | cut -c1-400 | sed 's/^/  /'
  wc -l <plans >checks
  return $failed
}

mkdir "$work/sources"
python3 "$here/generate.py" "$seed" "$count" "$work/sources"
cp "$here/Kit.swift" "$work/sources"
failed=0 running=()
for level in "${levels[@]}"; do
  (level "$work/level$level" "$level") >"$work/log$level" 2>&1 &
  running+=($!)
  # Two at a time.
  if [ ${#running[@]} -ge 2 ]; then wait "${running[0]}" || failed=1; running=("${running[@]:1}"); fi
done
for process in "${running[@]}"; do wait "$process" || failed=1; done
checks=0
for level in "${levels[@]}"; do
  echo "$level"
  cat "$work/log$level"
  checks=$((checks + count * ${#modes[@]} + $(cat "$work/level$level/checks" 2>/dev/null || echo 0)))
done
python3 "$here/report.py" "$seed" "$count" "$work"/level*/counts.json || failed=1
[ -z "${VALUES_KEEP:-}" ] || { mkdir -p "$VALUES_KEEP" && cp -r "$work"/. "$VALUES_KEEP"; }

# What a million calls with replaced arguments and results leave behind.
rounds=${VALUES_ROUNDS:-40000}
cd "$work"
swiftc -swift-version 6 -O -parse-as-library -module-name Lifetimes "$here/Lifetimes.swift" -o lifetimes
timeout 200 "$products/scripthost" run -v --state "$work/state" --patches "$here/lifetimes" -- ./lifetimes "$rounds" >lifetimes.out 2>lifetimes.err || failed=1
read -r _ _ _ live _ grown <lifetimes.out
echo "lifetimes: $rounds rounds of 9 calls, $live objects left, $grown KB grown"
[ "$live" = 0 ] && [ "$grown" -lt 2048 ] && ! grep -q 'the original ran\|runs instead' lifetimes.err || { tail -n 3 lifetimes.err && failed=1; }
checks=$((checks + 2))
[ "$failed" -eq 0 ] || { echo "failed; repeat with: $0 $seed $count" && exit 1; }
echo "$checks checks"
