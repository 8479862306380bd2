#!/usr/bin/env bash
# Guards: Foundation's collections under random indices, objects that have ended, calls on other threads.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
export SWIFT_BACKTRACE=enable=no SWIFT_DETERMINISTIC_HASHING=1
ulimit -c 0
for way in O Onone; do
  for subject in bounds objects; do
    swiftc "-$way" -module-name $subject "$here/$subject.swift" -o $subject-$way || fail "$subject.swift does not compile"
  done
done

# patches NAME TEXT: a folder with one patch.
patches() { mkdir -p "$1"; printf 'patch { id = "%s" }\n%s\n' "$1" "$2" >"$1/$1.lua"; }
# run NAME PATCHES PROGRAM ARGUMENTS…
run() {
  local name=$1 patches=$2
  shift 2
  capture_loaded "$name" "$scripthost" run -v --state "state-$name" --patches "$patches" -- "$@"
}
# hits NAME GUARD: how many hits the journal has.
hits() { "$scripthost" events --state "state-$1" --json 2>/dev/null | grep -c "\"guard\":\"$2\"" || true; }

patches contain 'guard { "containers", mode = "contain", records = 100000 }'
patches report 'guard { "containers", mode = "report" }'
patches assert 'guard { containers = "assert" }'
patches elsewhere 'guard { "containers", mode = "contain", modules = { "Nowhere" } }'
patches quiet 'guard { "containers", mode = "contain", records = 3 }'

# MARK: Foundation's collections

cases=$(./bounds-O list | wc -l)
for way in O Onone; do
  ./bounds-$way good 11 60 >plain.out
  run good-$way contain ./bounds-$way good 11 60
  ended "$way: good indices: it ends" good-$way
  same "$way: good indices: $cases methods, 60 calls each, answer what they did without the guard" plain.out good-$way.out
  check "$way: good indices: no hit" [ "$(hits good-$way containers)" = 0 ]

  run bad-$way contain ./bounds-$way loop 12 10
  ended "$way: bad indices: the program lives" bad-$way
  check "$way: bad indices: every method came back, 10 times" [ "$(grep -c ' 10$' bad-$way.out)" = "$cases" ]
  check "$way: bad indices: each was recorded ($(hits bad-$way containers))" [ "$(hits bad-$way containers)" -ge $((cases * 10)) ]
  says "$way: bad indices: the record names the place" bad-$way.err "(in 'closure"
done
# What the original does where nobody contains it: most end the program, some read memory that is not theirs.
./bounds-O bad 12 4 2>/dev/null | grep -c ' died$' >died || true
check "without a guard, bad indices end the program ($(cat died) of $((cases * 4)))" [ "$(cat died)" -ge $((cases * 3)) ]

run report report ./bounds-O loop 12 1
check 'report: the program ends as it does without the guard' [ "$(cat report.status)" -gt 128 ]
says 'report: the hit is told before' report.err "guard containers: 'Foundation.NSArray.object(at:)'"
run assert assert ./bounds-O loop 12 1
check 'assert: the process is ended' [ "$(cat assert.status)" = 134 ]
says 'assert: and the message says why' assert.err "mode 'assert' ends the process"
run elsewhere elsewhere ./bounds-O loop 12 1
check 'modules: calls of other modules are left alone' [ "$(cat elsewhere.status)" -gt 128 ]
check 'modules: and not counted' [ "$(hits elsewhere containers)" = 0 ]
run quiet quiet ./bounds-O loop 12 10
ended 'records: the program lives' quiet
check "records: few are written ($(hits quiet containers))" [ "$(hits quiet containers)" -lt 500 ]

# MARK: Objects that have ended

patches zombies 'guard { zombies = { types = { "objects.*Session", "objects.Plain" }, count = 100, bytes = "1MB" } }'
for way in O Onone; do
  run zombies-$way zombies ./objects-$way zombies
  ended "$way: zombies: the program lives" zombies-$way
  says "$way: zombies: weak references are nil" zombies-$way.out 'weak true'
  says "$way: zombies: a call answers the neutral value" zombies-$way.out 'total 0'
  says "$way: zombies: a text is empty" zombies-$way.out "title ''"
  check "$way: zombies: a call without a result does nothing" [ "$(grep -c closed zombies-$way.out)" = 0 ]
  says "$way: zombies: while it lives, it answers" zombies-$way.out 'alive 4 first 2'
  says "$way: zombies: its deinit calls methods of its own" zombies-$way.out 'end of first 2'
  says "$way: zombies: type and selector are recorded" zombies-$way.err "guard zombies: 'objects.Session.total(_:)': called on an object of objects.Session that has ended"
  run released-$way zombies ./objects-$way released
  ended "$way: zombies: releases too many do nothing" released-$way
  says "$way: zombies: and are recorded" released-$way.err 'the object was released 2 times after its end'
  ./objects-$way many >plain.out 2>/dev/null
  run many-$way zombies ./objects-$way many
  same "$way: zombies: 200000 objects come and go" plain.out many-$way.out
  check "$way: zombies: no hit" [ "$(hits many-$way zombies)" = 0 ]
  check "$way: zombies: what is kept is bounded ($(grep -a '^pages' many-$way.err))" [ "$(sed -n 's/^pages //p' many-$way.err)" -lt 40000 ]
done

# MARK: The main thread

patches main 'guard { main_thread = { methods = "objects.Window.*(*)" } }'
for way in O Onone; do
  for loop in '' dispatch; do
    # shellcheck disable=SC2086
    run main-$way main ./objects-$way main $loop
    ended "$way ${loop:-run loop}: main thread: it ends" main-$way
    says "$way ${loop:-run loop}: a call without a result is moved" main-$way.err "guard main_thread: 'objects.Window.show(_:at:)'"
    check "$way ${loop:-run loop}: it runs once, behind what its thread does next" \
      [ "$(grep -ane '^after$' -e '^show moved' main-$way.out | cut -d : -f 2 | cut -c 1-5 | tr '\n' ' ')" = 'after show  ' ]
    says "$way ${loop:-run loop}: with its arguments, before what the queue gets later" main-$way.out "title moved"
    says "$way ${loop:-run loop}: a call with a result goes on where it is" main-$way.out 'height 8'
    check "$way ${loop:-run loop}: two hits" [ "$(hits main-$way main_thread)" = 2 ]
    rm -rf state-main-$way
  done
done

# MARK: Mistakes of patches, and the command

# refused TEXT REASON
refused() {
  patches wrong "$1"
  run wrong wrong ./objects-O many
  says "refused: $2" wrong.err "$2"
}
refused 'guard { "nothing" }' "there is no guard 'nothing'"
refused 'guard { "zombies" }' "needs 'types'"
refused 'guard { zombies = { types = "objects.Nobody" } }' "no type 'objects.Nobody'"
refused 'guard { "main_thread" }' "needs 'methods'"
refused 'guard { "containers", mode = "hide" }' "'mode' is one of"
refused 'guard { "containers", speed = 3 }' "unknown field 'speed'"
finish
