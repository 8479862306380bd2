#!/usr/bin/env bash
# Tests/Programs/values/mutants.sh [COUNT]: does run.sh notice lowering that is wrong on purpose?
#
# Puts every change of mutants.py into one copy of the sources, each behind a number that the environment chooses, builds it
# once, and runs a small differential test with each: it must fail, and must pass with none. Slow; not part of scripts/test.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
count=${1:-400}
copy=${MUTANTS_DIRECTORY:-$(mktemp -d)}
[ -n "${MUTANTS_DIRECTORY:-}" ] || trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy"
cp -r "$root/Package.swift" "$root/Sources" "$root/Tests" "$root/scripts" "$copy"
[ ! -e "$root/Benchmarks" ] || cp -r "$root/Benchmarks" "$copy"
python3 "$here/mutants.py" "$copy/Sources"
for product in scripthost ScriptHostBoot call-plans; do swift build --package-path "$copy" --product "$product" >"$copy/build.log" 2>&1 || { tail "$copy/build.log"; exit 1; }; done
"$root/scripts/build-preload" "$copy/.build/debug"
failed=0
printf '%-64s %s\n' MUTANT RESULT
while IFS=$'\t' read -r number what; do
  if SCRIPTHOST_MUTANT=$number SCRIPTHOST_TEST_PRODUCTS=$copy/.build/debug VALUES_LEVELS=${VALUES_LEVELS:--Onone} VALUES_ROUNDS=400 VALUES_TABLES=0 \
    timeout 300 "$copy/Tests/Programs/values/run.sh" "${VALUES_SEED:-5}" "$count" >"$copy/mutant$number.log" 2>&1; then result=passes; else result=fails; fi
  wanted=fails
  [ "$number" != 0 ] || wanted=passes
  how=$(grep -oE '^  [a-z]+: .* [1-9][0-9]* wrong$|agree but for [1-9][0-9]* bodies|exit status [0-9]+' "$copy/mutant$number.log" | sed 's/ functions.*compiler itself gets wrong,//' | tr -s ' ' | head -n 4 | paste -sd';' || true)
  printf '%-64s %s %s\n' "$what" "$([ $number = 0 ] && echo "${result}" || { [ $result = $wanted ] && echo caught || echo MISSED; })" "${how:-}"
  [ $result = $wanted ] || failed=1
done < <(python3 "$here/mutants.py")
exit $failed
