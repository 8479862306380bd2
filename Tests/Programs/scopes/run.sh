#!/usr/bin/env bash
# The hook engine's rules on real calls, in -Onone and in -O: scopes, order, transactions, other engines, forks, another copy
# of ScriptHost in the process; random hooks against a model; threads that change and call hooks at once (scripts/stress is the
# long form). What is random prints its seed: engine-cases --model 300 --seed N, --stress SECONDS --seed N.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
cat >first.lua <<'END'
patch { id = "first", api = 1 }
method "EngineSubjects.free(_:)":before(function(call, n) log.info("first") end)
END
for library in calloc leave; do clang -shared -fPIC -O1 "$here/$library.c" -o "lib$library.so"; done
mapfile -t libraries < <("$here/build-late" "$work")

# random NAME OPTION…: a run of the cases with a seed of its own.
random() {
  local name=$1 seed=${SCRIPTHOST_SEED:-$RANDOM$RANDOM}
  shift
  capture random timeout 300 "$cases" "$@" --seed "$seed"
  cat random.out
  check "$level: $name (seed $seed)" grep -qx 0 random.status
}

for level in debug release; do
  cases=$(built_product $level engine-cases)
  capture "$level" timeout 300 "$cases"
  cat "$level.out"
  check "$level: all cases hold" grep -qx 0 "$level.status"
  checks=$((checks + $(sed -n 's/^\([0-9]*\) checks, .*/\1/p' "$level.out")))

  random 'A3 random hooks are called as the model says' --model 300 --runs "${SCOPES_RUNS:-3}"
  random 'A10 four threads that change and call hooks' --stress "${SCOPES_SECONDS:-5}" "${libraries[@]}"

  capture memory timeout 60 env LD_PRELOAD="$work/libcalloc.so" "$cases" --no-memory
  check "$level: a layer for which there is no memory never runs" grep -qx '0 failures' memory.out

  capture left timeout 60 env LD_PRELOAD="$work/libleave.so" "$cases" --left
  check "$level: calls that are left without returning" grep -qx '0 failures' left.out

  # A9: the program has a copy of its own, and is started with another one.
  capture copies timeout 60 "$scripthost" run -v --state state --patches first.lua -- "$cases" --second-copy
  says "$level: A9 the copy that hooks first goes on" copies.err 'first.lua:2: info: first'
  check "$level: A9 the second copy refuses, with the image of the first" grep -qx \
    'refused: EngineSubjects.free(_:): another copy of ScriptHost, in /.*/libScriptHostBoot.so, hooks functions of this process; use that one, or start the program without it' copies.out
  check "$level: A9 nothing is harmed" grep -qx 0 copies.status
done
# Scripts: the same scopes, options and handles.
for level in -Onone -O; do
  swiftc "$level" -wmo -suppress-warnings -parse-as-library -emit-library -emit-module -disable-cmo -module-name Shop "$here/Shop.swift" -o libShop.so
  swiftc "$level" -suppress-warnings -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Till "$here/main.swift" -o program
  capture scripts timeout 60 "$scripthost" run -v --state "state$level" --patches "$here/patch.lua" -- ./program
  same "$level: what the program says with its hooks" "$here/expected.out" scripts.out
  sed -n 's/.*: info: //p' scripts.err | sed 's/patch.lua:[0-9]*: //' | LC_ALL=C sort -u >scripts.log
  same "$level: what the scripts say" "$here/expected.log" scripts.log
  check "$level: it ends well" grep -qx 0 scripts.status
done
finish
