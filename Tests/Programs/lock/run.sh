#!/usr/bin/env bash
# Tests/Programs/lock/run.sh [SEED]: the lock of Lua states, by itself: biased to threads and taken away from them, with the thread
# sanitizer (where it is a plain lock), without barriers, in children.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
seed=${1:-${SCRIPTHOST_SEED:-$RANDOM}}
printf 'seed %s\n' "$seed"

# build NAME FLAG…
build() {
  local name=$1
  shift
  clang -std=c11 -pthread -Wall -Wextra -Werror -I"$root/Sources/CLuaShim/Lua" -I"$root/Sources/CLuaShim/include" -I"$root/Sources/CFrame/include" -o "$work/$name" \
    "$here/stress.c" "$root/Sources/CLuaShim/Lua/shl_lock.c" "$root/Sources/CLuaShim/Lua/shl_thread.c" "$@"
}
# case NAME COMMAND…: ends well, or does not apply here.
applies() {
  local name=$1 status=0
  shift
  "$@" >"$work/said" 2>&1 || status=$?
  case $status in
    0) good "$name$(sed -n '1s/^/: /p' "$work/said")" ;;
    3) printf 'skipped: %s\n' "$name" ;;
    *) bad "$name (seed $seed, status $status)" "$(head -n 12 "$work/said")" ;;
  esac
}

build plain -O2
build slow -O0
# Its runtime has interceptors of what is in these.
libraries=$(dirname "$(toolchain_bin)")/lib/swift/linux
build tsan -O1 -g -fsanitize=thread -L"$libraries" -Wl,-rpath,"$libraries" -ldispatch -lBlocksRuntime
applies 'six threads, -O2' timeout 120 "$work/plain" "${LOCK_SECONDS:-8}" "$seed"
applies 'six threads, -O0' timeout 120 "$work/slow" 3 "$seed"
applies 'six threads, thread sanitizer' timeout 120 "$work/tsan" "${LOCK_SECONDS:-5}" "$seed"
applies 'six threads, no barriers' timeout 120 "$work/plain" 3 "$seed" closed
for case in wait poisoned closed-in fork-outside fork-inside fork-own; do
  applies "$case" timeout 60 "$work/plain" "$case"
done
finish
