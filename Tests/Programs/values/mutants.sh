#!/usr/bin/env bash
# Tests/Programs/values/mutants.sh [SEED [COUNT]]: does the test notice lowering that is wrong on purpose?
#
# Puts every change of mutants.py into one copy of the sources, each behind a number that the environment chooses, builds it
# once, and runs generated programs with each: something must be found wrong in one of them, and nothing in any without a
# mutant. The programs are those of MUTANTS_PROGRAMS, seeds from SEED on at their levels. Every step has a time limit, so that
# a mutant that hangs is one that was caught; the whole takes ten minutes or so and is not part of scripts/test.
# MUTANTS_DIRECTORY keeps the copy, which is not built again when it is there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
seed=${1:-160}
count=${2:-500}
read -ra levels <<<"${MUTANTS_PROGRAMS:--O -Onone -O -Onone -Osize}"
limit=${MUTANTS_LIMIT:-40}  # seconds for one run of a program; without a mutant it takes two
copy=${MUTANTS_DIRECTORY:-$(mktemp -d)}
[ -n "${MUTANTS_DIRECTORY:-}" ] || trap 'rm -rf "$copy"' EXIT
. "$here/patched.sh"
export PYTHONDONTWRITEBYTECODE=1 SWIFT_BACKTRACE=enable=no
say() { printf '%(%H:%M:%S)T %s\n' -1 "$*" >&2; }

python3 "$here/mutants.py" --check "$root/Sources"
products=$copy/.build/debug
if [ ! -x "$products/call-plans" ]; then
  mkdir -p "$copy"
  cp -r "$root/Package.swift" "$root/Sources" "$root/Tests" "$root/scripts" "$root/Benchmarks" "$copy"
  python3 "$here/mutants.py" "$copy/Sources"
  for product in scripthost ScriptHostBoot call-plans; do
    say "building $product with the mutants"
    timeout 1800 swift build --package-path "$copy" --product "$product" >"$copy/build.log" 2>&1 || { tail "$copy/build.log"; exit 1; }
  done
  "$root/scripts/build-preload" "$products"
fi

# compile SEED LEVEL: the program and what it is compared with.
compile() {
  local module swift=(swiftc -swift-version 5 -wmo "$2" -disable-cmo -I. -suppress-warnings -parse-as-library)
  say "compiling $count functions, seed $1, $2"
  rm -rf "$copy/program$1" && mkdir "$copy/program$1" && cd "$copy/program$1"
  python3 "$here/generate.py" "$1" "$count" .
  cp "$here/Kit.swift" .
  for module in Kit Types Subject; do
    "${swift[@]}" -emit-module -emit-object -module-name $module $module.swift -o $module.o
    "${swift[@]}" -emit-irgen -module-name $module $module.swift -o $module.ll
  done
  "${swift[@]}" -module-name Caller main.swift Kit.o Types.o Subject.o -o program
  "${swift[@]}" -module-name Subject Private.swift Kit.o Types.o -o private
  swiftc -emit-library -o libSubject.so Kit.o Types.o Subject.o
  timeout "$limit" ./program values.bin bare.out >/dev/null
  timeout "$limit" ./private values.bin bare-private.out >/dev/null || true
}

# found SEED LEVEL: what the runs with the mutant in SCRIPTHOST_MUTANT get wrong; nothing where all is well.
found() {
  local mode patches binary status modes=(decode replace twice private)
  # What is private in one module is another test where nothing is optimised.
  [ "$2" != -Onone ] || modes=(decode replace twice)
  cd "$copy/program$1"
  for mode in "${modes[@]}"; do
    patches=$mode binary=program status=0
    [ $mode != private ] || patches=decode binary=private
    patched $mode $binary $patches "$limit" || status=$?
    [ $status = 0 ] || echo "$mode: exit status $status"
  done
  timeout 120 python3 "$here/check.py" "$1" "$count" . "${modes[@]}" | sed -n 's/^  \([a-z]*:\).* \([1-9][0-9]* wrong\)$/\1 \2/p' || true
  timeout 120 "$products/call-plans" ./libSubject.so >plans || true
  timeout 120 python3 "$here/compare_plans.py" plans Kit.ll Types.ll Subject.ll \
    | sed -n 's/.*agree but for \([1-9][0-9]* bodies\);.*/plans: \1 wrong/p' || true
}

for k in "${!levels[@]}"; do compile $((seed + k)) "${levels[k]}"; done
failed=0 caught=0 mutants=0
printf '%-82s %s\n' MUTANT RESULT
while IFS=$'\t' read -r number what; do
  how=
  for k in "${!levels[@]}"; do
    # A mutant is caught by the first program that shows it. The shell's words on crashes are not wanted.
    how=$({ SCRIPTHOST_MUTANT=$number found $((seed + k)) "${levels[k]}"; } 2>/dev/null | paste -sd';')
    [ -z "$how" ] || break
  done
  if [ "$number" = 0 ]; then
    result=${how:+FAILS}
  else
    mutants=$((mutants + 1))
    result=MISSED
    if [ -n "$how" ]; then result=caught caught=$((caught + 1)); fi
  fi
  printf '%-82s %s %s\n' "$what" "${result:-passes}" "${how:+seed $((seed + k)) ${levels[k]}: $how}"
  [ "${result:-passes}" = passes ] || [ "$result" = caught ] || failed=1
done < <(python3 "$here/mutants.py")
echo "$caught of $mutants mutants caught"
exit $failed
