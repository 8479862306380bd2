#!/usr/bin/env bash
# Tests/Programs/values/mutants.sh [SEED [COUNT]]: does the test notice lowering that is wrong on purpose?
#
# Puts every change of mutants.py into one copy of the sources, each behind a number that the environment chooses, builds it
# once, and runs the same generated program with each: something must be found wrong, and nothing with none. Slow; not part
# of scripts/test.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
seed=${1:-5}
count=${2:-500}
copy=${MUTANTS_DIRECTORY:-$(mktemp -d)}
[ -n "${MUTANTS_DIRECTORY:-}" ] || trap 'rm -rf "$copy"' EXIT
export PYTHONDONTWRITEBYTECODE=1 SWIFT_BACKTRACE=enable=no
mkdir -p "$copy"
cp -r "$root/Package.swift" "$root/Sources" "$root/Tests" "$root/scripts" "$copy"
[ ! -e "$root/Benchmarks" ] || cp -r "$root/Benchmarks" "$copy"
python3 "$here/mutants.py" "$copy/Sources"
products=$copy/.build/debug
for product in scripthost ScriptHostBoot call-plans; do swift build --package-path "$copy" --product "$product" >"$copy/build.log" 2>&1 || { tail "$copy/build.log"; exit 1; }; done
"$root/scripts/build-preload" "$products"

program=$copy/program
rm -rf "$program" && mkdir "$program" && cd "$program"
python3 "$here/generate.py" "$seed" "$count" .
cp "$here/Kit.swift" .
compile=(swiftc -swift-version 5 -wmo -O -disable-cmo -I. -suppress-warnings -parse-as-library)
for module in Kit Types Subject; do
  "${compile[@]}" -emit-module -emit-object -module-name $module $module.swift -o $module.o
  "${compile[@]}" -emit-irgen -module-name $module $module.swift -o $module.ll
done
"${compile[@]}" -module-name Caller main.swift Kit.o Types.o Subject.o -o program
"${compile[@]}" -module-name Subject Private.swift Kit.o Types.o -o private
swiftc -emit-library -o libSubject.so Kit.o Types.o Subject.o
./program values.bin bare.out >/dev/null
./private values.bin bare-private.out >/dev/null

# found: what the runs with the mutant in SCRIPTHOST_MUTANT get wrong; nothing where all is well.
found() {
  local mode patches binary status
  for mode in decode replace twice private; do
    patches=$mode binary=program status=0
    [ $mode != private ] || patches=decode binary=private
    timeout 120 "$products/scripthost" run -v --state state --patches $patches -- ./$binary values.bin $mode.out >/dev/null 2>$mode.err || status=$?
    [ $status = 0 ] || echo "$mode: exit status $status"
  done
  python3 "$here/check.py" "$seed" "$count" . decode replace twice private | sed -n 's/^  \([a-z]*:\).* \([1-9][0-9]* wrong\)$/\1 \2/p' || true
  "$products/call-plans" ./libSubject.so >plans || true
  python3 "$here/compare_plans.py" plans Kit.ll Types.ll Subject.ll | sed -n 's/.*agree but for \([1-9][0-9]* bodies\);.*/plans: \1 wrong/p' || true
}

failed=0
printf '%-82s %s\n' MUTANT RESULT
while IFS=$'\t' read -r number what; do
  how=$(SCRIPTHOST_MUTANT=$number found | paste -sd';')
  if [ "$number" = 0 ]; then result=${how:+FAILS}; else result=MISSED; [ -z "$how" ] || result=caught; fi
  printf '%-82s %s %s\n' "$what" "${result:-passes}" "$how"
  [ "${result:-passes}" = passes ] || [ "$result" = caught ] || failed=1
done < <(python3 "$here/mutants.py")
exit $failed
