#!/usr/bin/env bash
# With less than it is used to, ScriptHost works, or says in one sentence what does not; the program runs.
#
# CONFINED_TRACE: the selectors that are traced where no page may be written and executed (**).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
"$(toolchain_bin)/clang" -O1 -Wall -Werror -o "$work/launch" "$here/launch.c"
swiftc -O "$here/descriptors.swift" -o "$work/descriptors"
cd "$work"
printf 'let a=1\nfunc f( x:Int ){}\n' >a.swift
printf 'patch { id = "banner" }\nmethod "SwiftFormat.PrettyPrinter.prettyPrint()":around(function(call) return "// patched\\n" .. call:original() end)\n' >banner.lua
chmod 755 . && chmod 644 a.swift banner.lua
capture alone swift-format a.swift
{ printf '// patched\n'; cat alone.out; } >patched.expected

# works NAME COMMAND…: the patch does its work, and nothing is said.
works() {
  local name=$1
  shift
  capture run "$@"
  same "$name" patched.expected run.out
  check "$name: nothing is said" [ ! -s run.err ]
}
# works_saying NAME SENTENCE COMMAND…: it does its work and says one sentence.
works_saying() {
  local name=$1 sentence=$2
  shift 2
  capture run "$@"
  same "$name" patched.expected run.out
  says "$name: $sentence" run.err "$sentence"
  check "$name: in one line" [ "$(wc -l <run.err)" -eq 1 ]
}
run=("$scripthost" run --state "$work/state" --patches "$work/banner.lua" -- swift-format a.swift)

# MARK: Code pages

works 'an ordinary start' "${run[@]}"
if ./launch mdwe -- true 2>/dev/null; then
  works 'memory-deny-write-execute' ./launch mdwe -- "${run[@]}"
  capture run ./launch mdwe -- "$scripthost" trace --state "$work/state" -c -o trace -e "${CONFINED_TRACE:-**}" -- swift-format a.swift
  same_run "memory-deny-write-execute: a trace of '${CONFINED_TRACE:-**}': $(sed -n 1p trace)" alone run
  capture run ./launch mdwe -- "$scripthost" doctor swift-format
  check 'memory-deny-write-execute: doctor says that it works' [ "$(cat run.status)" -eq 0 ]
else
  printf 'skipped: this kernel has no memory-deny-write-execute (Linux 6.3)\n'
fi
for limits in no-memfd no-ptrace no-membarrier 'no-memfd no-ptrace no-membarrier' 'mdwe no-memfd no-ptrace'; do
  # shellcheck disable=SC2086
  ./launch $limits -- true 2>/dev/null || continue
  # shellcheck disable=SC2086
  works "seccomp: $limits" ./launch $limits -- "${run[@]}"
done

# MARK: Users and directories

plain=("$scripthost" run --patches "$work/banner.lua" -- swift-format a.swift)
works 'without HOME' env -u HOME "${plain[@]}"
works 'with an empty environment' env -i PATH="$PATH" "${plain[@]}"
works 'with an empty HOME' env HOME= "${plain[@]}"
works_saying 'a state directory that is a file' 'the journal cannot be written' "$scripthost" run --state "$work/a.swift" --patches banner.lua -- swift-format a.swift
if [ "$(id -u)" -eq 0 ]; then
  nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  mkdir sealed && chmod 555 sealed
  works 'another user, without HOME' "${nobody[@]}" env -u HOME "${plain[@]}"
  works_saying 'another user, a HOME that cannot be written' "the journal cannot be written, permission denied; events stay in memory, use --state DIR or --events FILE" "${nobody[@]}" env HOME=/nonexistent "${plain[@]}"
  works_saying 'another user, a sealed state directory' "'$work/sealed/journal': the journal cannot be written" "${nobody[@]}" "$scripthost" run --state "$work/sealed" --patches banner.lua -- swift-format a.swift
  works 'another user without privileges to gain' "${nobody[@]}" --no-new-privs env -u HOME "${plain[@]}"
  if unshare -m true 2>/dev/null; then
    mkdir -p state-ro
    # shellcheck disable=SC2016
    works_saying 'a read-only file system' 'the journal cannot be written, read-only file system' unshare -m bash -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && cd "$1" && shift && exec "$@"' - "$work" "$scripthost" run --state "$work/state-ro" --patches "$work/banner.lua" -- swift-format a.swift
  fi
fi

# MARK: Streams

for closed in '<&-' '>&-' '2>&-' '<&- 2>&-' '<&- >&- 2>&-' '2>/dev/full'; do
  capture alone bash -c "./descriptors alone.fds $closed"
  # No file here has a name that the pattern of the trace would stand for.
  for way in "run -v --patches banner.lua" "run -v --patches banner.lua --events events.jsonl" "trace -o trace -e descriptors.*"; do
    # shellcheck disable=SC2086
    capture run bash -c "\"\$@\" -- ./descriptors run.fds $closed" - "$scripthost" ${way%% *} --state "$work/state" ${way#* }
    same "$closed, ${way%% --*}: the program finds the same streams, and the same number for its next file" alone.fds run.fds
    check "$closed, ${way%% --*}: the same status" cmp -s alone.status run.status
  done
done
says 'events did not go to a stream of the program' events.jsonl '"kind"'
capture alone swift-format a.swift
# shellcheck disable=SC2016
capture run bash -c '"$@" 2>&-' - "$scripthost" run -v --state "$work/state" --patches banner.lua -- swift-format a.swift
same 'a closed stderr: the program goes on' patched.expected run.out

# A reader that goes away ends what it read, not the program.
printf 'patch { id = "talk" }\nmethod "SwiftFormat.**":before(function(call) print(("x"):rep(2000)) end)\n' >talk.lua
# shellcheck disable=SC2016
capture run bash -c '"$@" 2> >(exec true)' - "$scripthost" run -v --state "$work/state" --patches talk.lua -- swift-format a.swift
same_run 'a stderr that nobody reads' alone run

# MARK: Memory

for kilobytes in 150000 250000; do
  capture alone bash -c "ulimit -v $kilobytes; swift-format a.swift"
  capture run bash -c "ulimit -v $kilobytes; \"\$@\"" - "${run[@]}"
  unchanged "an address space of $kilobytes KB: the program runs" alone run
  says "an address space of $kilobytes KB: the sentence" run.err 'MiB are left, ScriptHost needs 256 MiB; raise the limit (ulimit -v); the program runs without patches'
  check "an address space of $kilobytes KB: in one line" [ "$(wc -l <run.err)" -eq 1 ]
done
works 'an address space of 1 GB' bash -c 'ulimit -v 1000000; "$@"' - "${run[@]}"
works 'a stack of 1 MB' bash -c 'ulimit -s 1024; "$@"' - "${run[@]}"
capture alone swift-format a.swift
capture run bash -c 'ulimit -s 256; "$@"' - "${run[@]}"
unchanged 'a stack of 256 KB: the program runs' alone run
says 'a stack of 256 KB: the sentence' run.err 'Lua cannot be used: '
works 'sixteen open files' bash -c 'ulimit -n 16; "$@"' - "${run[@]}"
for files in 24 40; do
  capture alone bash -c "ulimit -n $files; ./descriptors alone.fds"
  for way in "run -v --patches banner.lua --events events.jsonl" "trace -o trace -e descriptors.write(*"; do
    # shellcheck disable=SC2086
    capture run bash -c "ulimit -n $files; \"\$@\" -- ./descriptors run.fds" - "$scripthost" ${way%% *} --state "$work/state" ${way#* }
    same "$files open files, $way: the program finds the same low numbers" alone.fds run.fds
  done
done
capture alone swift-format a.swift
works 'no core, no locked memory' bash -c 'ulimit -c 0; ulimit -l 0; "$@"' - "${run[@]}"
# The output goes through pipes: it is the files of the host that have no size.
for signal in '' 'trap "" XFSZ;'; do
  bash -c "(ulimit -f 0; $signal \"\$@\"; echo \"status \$?\" >&2) 2> >(cat >run.err) | cat" - "$scripthost" run --state "$work/state-small" --patches banner.lua -- swift-format a.swift >run.out
  same "files of no size ($signal): the program runs patched" patched.expected run.out
  says "files of no size ($signal): its status" run.err 'status 0'
  says "files of no size ($signal): the sentence" run.err 'the journal cannot be written, file too large; events stay in memory'
done

# MARK: The user's own preloaded libraries

printf 'const char *who(void) { return "user"; }\n' >user.c
"$(toolchain_bin)/clang" -shared -fPIC -o libuser.so user.c
works 'LD_PRELOAD of the user' env LD_PRELOAD="$work/libuser.so" "${run[@]}"
LD_PRELOAD="$work/libuser.so" "$scripthost" run --state "$work/state" --patches banner.lua -- ./descriptors run.fds environment >run.out 2>&1
says 'the program sees the LD_PRELOAD of the user' run.out "LD_PRELOAD=$work/libuser.so"
check 'and nothing of ScriptHost' bash -c '! grep -qi scripthost_boot run.out'

# MARK: Separate debug files

swiftc -O "$here/descriptors.swift" -Xlinker --build-id -o stripped
id=$(readelf -n stripped | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug stripped "debug/.build-id/${id:0:2}/${id:2}.debug"
strip -s stripped
capture run "$scripthost" trace -e 'stripped.write(*' -- ./stripped fds
says 'a stripped program' run.err 'no selector matches'
for way in "trace -e stripped.write(*" "run -v --patches stripped.lua"; do
  printf 'patch { id = "stripped" }\nmethod "stripped.write(_:to:)":before(function() print("@ seen") end)\n' >stripped.lua
  # shellcheck disable=SC2086
  capture run "$scripthost" ${way%% *} --state "$work/state-debug" --debug-dir debug ${way#* } -- ./stripped fds
  check "--debug-dir: ${way%% *}" grep -qE 'write\(|@ seen' run.err
done
check '--debug-dir: coverage' grep -q 'stripped.write' <("$scripthost" coverage --debug-dir debug --list --state "$work/state-debug" ./stripped)
check '--debug-dir: doctor' grep -q '^ok .*symbols.*separate debug file' <("$scripthost" doctor --debug-dir debug ./stripped)
finish
