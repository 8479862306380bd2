#!/usr/bin/env bash
# Traps that do not end the program: of what scripts call, on every kind of trap, thread and way of compiling.
. "$(dirname "$0")/../support/checks.sh"
ulimit -c 0
export SWIFT_BACKTRACE=enable=no
# TRAPS_PART=N: an Nth of what is repeated many times.
part=${TRAPS_PART:-1}
for way in O Onone; do
  swiftc "-$way" -module-name traps -o "$work/traps-$way" "$here/traps.swift" 2>"$work/swiftc" || fail "traps.swift does not compile: $(head "$work/swiftc")"
done

# run NAME PATCHES PROGRAM ARGUMENTS…: with the patches in that folder.
run() {
  local name=$1 patches=$2
  shift 2
  capture "$work/$name" "$scripthost" run -v --state "$work/state-$name" --patches "$here/$patches" -- "$@"
  [ "$(cat "$work/$name.status")" -le 128 ] || "$scripthost" crashes --state "$work/state-$name" show 2>&1 | sed -n 1,12p | tee -a "$work/$name.err" >>"$work/.deaths"
}

for way in O Onone; do
  for thread in main other task; do
    name=calls-$way-$thread
    run "$name" calls "$work/traps-$way" script "$thread"
    for kind in range nil overflow cast fatal null inside divide overlap try precondition unowned wild; do
      says "$name: $kind becomes an error of Lua" "$work/$name.err" "calls.lua:7: $kind	false	calls.lua:6: 'traps.Till.trap(_:)', called with (Swift.String \"$kind\"), trapped"
    done
    says "$name: calls that do not trap answer" "$work/$name.err" $'none\ttrue\t42'
    says "$name: the runtime's message" "$work/$name.err" 'traps.swift:32: Fatal error: the till is empty (SIGILL)'
    for message in 'Could not cast value of type' 'Fatal access conflict detected' 'Attempted to read an unowned reference'; do
      says "$name: an end by abort, with its message: $message" <(grep -a '(SIGABRT)' "$work/$name.err") "$message"
    done
    says "$name: an error that try! met" <(grep -a '(SIGILL)' "$work/$name.err") "'try!' expression unexpectedly raised an error"
    says "$name: an address that nobody has" "$work/$name.err" 'memory at 0x123456780000 cannot be accessed (SIGSEGV)'
    says "$name: what the calls did before stays done" "$work/$name.err" $'count\t14'
    says "$name: a closure's, too" "$work/$name.err" $'closure\t2\tfalse\tcalls.lua:11: a closure'
    says "$name: with its argument" "$work/$name.err" 'called with (Swift.Int 9), trapped'
    says "$name: a secret is not shown, a long text is cut" "$work/$name.err" 'called with (pin: Swift.Int <masked>, Swift.String "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"), trapped'
    says "$name: the patch is switched off" "$work/$name.err" "patch 'calls' is switched off"
    says "$name: the handler's call goes on" "$work/$name.out" '2'
    says "$name: the program's work is right" "$work/$name.out" 'done 500510 3'
    check "$name: it ends well" [ "$(cat "$work/$name.status")" = 0 ]
  done
done

# Swift's own handlers, which are behind ours, are not asked.
SWIFT_BACKTRACE=enable=yes,color=no,output-to=stderr,interactive=no,timeout=0s run tracer calls "$work/traps-O" script
says "with Swift's backtracer on: contained" "$work/tracer.out" 'done 500510 3'
check "with Swift's backtracer on: it does not print" [ "$(grep -c 'Program crashed' "$work/tracer.err")" = 0 ]

# told NAME REASON: the report of that run says why its trap was not contained. With TRAPS_PART `crashes show`, which looks up the names of all
# frames, is asked for the first of each reason; of the others the line that it reads is looked at.
declare -A asked
told() {
  if [ "$part" -gt 1 ] && [ "${asked[$2]:-}" ]; then
    says "$1: the report says why" <(cat "$work/state-$1"/crashes/*) "refusal $2"
    return
  fi
  asked[$2]=1
  capture "$work/$1.show" "$scripthost" crashes --state "$work/state-$1" show
  says "$1: the report says why" "$work/$1.show.out" "not contained: $2"
}
# refused NAME FUNCTION REASON [WAY]: a call that must not be left ends the program, and the report says why.
refused() {
  mkdir -p "$work/$1-patches"
  printf 'local till = swift.new("traps.Till", "init()")\nmethod "static traps.Desk.tick(_:)":before(function() return till:%s end)\n' "$2" >"$work/$1-patches/refused.lua"
  capture "$work/$1" "$scripthost" run --state "$work/state-$1" --patches "$work/$1-patches" -- "$work/traps-${4:-O}"
  check "$1: the program ends as it would" [ "$(cat "$work/$1.status")" = 132 ]
  told "$1" "$3"
}
refused once 'once()' 'a global or static variable is being initialised'
refused sorted 'sorted()' 'the C library is in the middle of something'
refused guarded 'guarded()' 'a lock is held'
refused writing 'writing()' 'a lock is held'
# A dictionary that optimised code has moved out of its property, of a struct or of an array of structs in one, too.
for kind in moved 'moved field' 'moved element'; do refused "${kind/ /-}" "trap(\"$kind\")" 'a dictionary or a set is being changed'; done
# A Mutex of Synchronization: in an object, with the trap in its closure and below it, and a global one.
for function in locked lockedBelow lockedGlobal; do
  for way in O Onone; do refused "$function-$way" "$function()" 'a lock is held' "$way"; done
done
mkdir "$work/unlocked"
printf 'local vault = swift.new("traps.Vault", "init()")\nprint(pcall(function() return vault:unlocked() end))\n' >"$work/unlocked/unlocked.lua"
for way in O Onone; do
  capture "$work/unlocked-$way" "$scripthost" run -v --state "$work/state-unlocked-$way" --patches "$work/unlocked" -- "$work/traps-$way"
  check "unlocked-$way: a Mutex that was given back keeps nothing from being contained" [ "$(cat "$work/unlocked-$way.status")" = 0 ]
  says "unlocked-$way: contained" "$work/unlocked-$way.err" "'traps.Vault.unlocked()', called with (), trapped"
done

# refused_below NAME SUBJECT HOW FUNCTION REASON: nor below a function that is contained.
refused_below() {
  mkdir -p "$work/$1-patches"
  printf 'method "%s":contain { value = 0 }\n' "$4" >"$work/$1-patches/refused.lua"
  capture "$work/$1" "$scripthost" run --state "$work/state-$1" --patches "$work/$1-patches" -- "$2" "$3"
  check "$1: the program ends as it would" [ "$(cat "$work/$1.status")" = 132 ]
  told "$1" "$5"
}
for way in O Onone; do
  for function in once/'a global or static variable is being initialised' sorted/'the C library is in the middle of something' guarded/'a lock is held' \
    writing/'a lock is held' locked/'a lock is held' lockedBelow/'a lock is held' lockedGlobal/'a lock is held'; do
    refused_below "below-${function%/*}-$way" "$work/traps-$way" "${function%/*}" "traps.Till.${function%/*}()" "${function#*/}"
  done
done
# Foundation's locks.
for way in O Onone; do
  swiftc "-$way" -module-name locks -o "$work/locks-$way" "$here/locks.swift" 2>"$work/swiftc" || fail "locks.swift does not compile: $(head "$work/swiftc")"
  for function in locked recursive helped helpedNSLock helpedMutex helpedGlobal; do
    refused_below "lock-$function-$way" "$work/locks-$way" $function "locks.Book.$function()" 'a lock is held'
  done
  for function in free given; do
    mkdir -p "$work/$function"
    printf 'method "locks.Book.%s()":contain { value = -1 }\n' $function >"$work/$function/free.lua"
    capture "$work/$function-$way" "$scripthost" run --state "$work/state-$function-$way" --patches "$work/$function" -- "$work/locks-$way" $function
    ended "$way: a lock that was given back keeps nothing from being contained" "$work/$function-$way"
    says 'and the call is answered' "$work/$function-$way.out" '-1'
  done
done

# Arrays, dictionaries and Data that are being changed: what the library has taken apart is not left, everything else is, and is whole.
rounds=$((37 / part))
whole=index,remove,removeTwo,swap,rangeless,map,each,filter,reduce,sorted,first,copy,append,partition,removeSome,point,bump,rank,readByte
for way in O Onone; do
  swiftc "-$way" -module-name arrays -o "$work/arrays-$way" "$here/arrays.swift" 2>"$work/swiftc" || fail "arrays.swift does not compile: $(head "$work/swiftc")"
  # apart NAME PATCHES ARGUMENTS…: the program ends, and the report says why.
  apart() {
    local name=$1-$way patches=$2 reason=$3
    shift 3
    capture "$work/$name" "$scripthost" run --state "$work/state-$name" --patches "$here/$patches" -- "$work/arrays-$way" "$@"
    check "$name: the program ends as it would" [ "$(cat "$work/$name.status")" = 132 ]
    told "$name" "$reason"
  }
  array='an array is being changed in place'
  for kind in sort compare sortSlim sortCut sortRow sortNumbers sortWords; do apart $kind arrays "$array" contain $kind 20 1; done
  for kind in insert insertHere replace fillRow; do apart $kind arrays "$array" contain $kind 7 1; done
  for kind in sort sortSlim insert fillRow; do apart shared-$kind arrays "$array" contain $kind 20 1 shared; done
  apart late-sort arrays "$array" contain sort 400 1
  for kind in setByte replaceBytes touchBytes; do apart $kind arrays 'the bytes of a Data are being changed' contain $kind 1 1; done
  apart merge arrays 'a dictionary or a set is being changed' contain merge 1 1
  for kind in sort insert fillRow; do apart called-$kind array-calls "$array" script $kind 20 1; done
  apart called-setByte array-calls 'the bytes of a Data are being changed' script setByte 1 1
  # With shared storage, optimised code removes from a copy that the variable does not have yet.
  [ "$way" = Onone ] || apart shared-remove arrays "$array" contain remove 3 1 shared
  for storage in own shared; do
    kinds=$whole
    [ "$way-$storage" = O-shared ] && kinds=${whole/,remove,/,}
    run "whole-$way-$storage" arrays "$work/arrays-$way" contain "$kinds" 3 $rounds $storage
    ended "$way, $storage storage: traps of other kinds are contained" "$work/whole-$way-$storage"
    says "$way, $storage storage: and all is whole" "$work/whole-$way-$storage.out" ', broken 0'
    check "$way, $storage storage: each is answered" grep -qE "^answered $(($(tr ',' '\n' <<<"$kinds" | wc -l) * rounds))," "$work/whole-$way-$storage.out"
  done
  run "whole-called-$way" array-calls "$work/arrays-$way" script "${whole//,/+}" 3 1
  ended "$way: and in a script's calls" "$work/whole-called-$way"
  says "$way: where all is whole" "$work/whole-called-$way.out" ', broken 0'
  check "$way: each is an error of Lua" [ "$(grep -ac $'called\t.*\tfalse\t.*trapped' "$work/whole-called-$way.err")" = "$(tr ',' '\n' <<<"$whole" | wc -l)" ]
done

# Functions that are contained: the same traps, in calls of the program.
cat >"$work/expected" <<'END'
range -1
nil -1
overflow -1
cast -1
fatal -1
null -1
inside -1
divide -1
overlap -1
try -1
precondition -1
unowned -1
wild -1
none 42
thrown: sold out
thrown: closed
["nobody"]
outer -3 43
count 19
done 500510 3
END
for way in O Onone; do
  for thread in main other task; do
    name=answers-$way-$thread
    run "$name" answers "$work/traps-$way" kinds "$thread"
    same "$name: every trap is answered, and the program's work is right" "$work/expected" "$work/$name.out"
    check "$name: it ends well" [ "$(cat "$work/$name.status")" = 0 ]
    says "$name: told once, with place and reason" "$work/$name.err" "answers.lua:3: 'traps.Till.price(_:)' trapped"
    says "$name: a handler in between is left, too" "$work/$name.err" "the original trapped"
  done
done
name=answers-O-main
for reason in "async	false" "inout	false" "init	false" "type	false" "throw	false	answers.lua:15: cannot contain 'traps.Till.price(_:)': it cannot throw" \
  "two	false"; do
  says "refused: $reason" "$work/$name.err" "refused	$reason"
done
says "explain says so" "$work/$name.err" "contain    no, it changes argument 1 in place"
capture "$work/records" "$scripthost" events --state "$work/state-$name" --json
says "each trap is a record" "$work/records.out" 'trap contained'

# `explain` says of each kind why it must not be contained, or where not. The handler of the signal is there by then.
clang++ -O1 -shared -fPIC -o "$work/libbelow.so" "$here/below.cpp" || fail 'below.cpp does not compile'
mkdir "$work/kinds-patches"
cat >"$work/kinds-patches/kinds.lua" <<'LUA'
local names = {
  "kinds.Thing.plain(_:)", "kinds.Thing.waits(_:)", "kinds.Thing.never()", "kinds.Thing.stub()", "kinds.Thing.grow(_:)", "kinds.Thing.take(_:)", "kinds.Thing.locks(_:)",
  "kinds.Thing.mutex(_:)", "kinds.Thing.sorts(_:)", "kinds.Thing.orders(_:)", "kinds.Thing.foreign(_:)", "kinds.Thing.queued(_:)", "kinds.Thing.global(_:)",
  "kinds.Thing.held.modify", "kinds.Thing.init(_:)", "kinds.Thing.deinit", "kinds.Box.push(_:)", "kinds.Box.end()", "kinds.Box.keep()", "kinds.Thing.end()", "kinds.caught(_:)",
  "C.qsort",
}
local next = 0
method "kinds.ready()":before(function()
  next = next + 1
  local name = names[next]
  if not name then return end
  local found, text = pcall(function() return method(name):explain() end)
  local said = {}
  local is_on = false
  for line in tostring(text):gmatch("[^\n]+") do
    if line:match("^  contain") then is_on = true elseif is_on and not line:match("^             nor") then is_on = false end
    if is_on then said[#said + 1] = line:gsub("^%s+", "") end
  end
  print(name .. "\t" .. (found and table.concat(said, "; ") or tostring(text)))
end)
LUA
for way in O Onone; do
  swiftc "-$way" -parse-as-library -module-name kinds -o "$work/kinds-$way" "$here/kinds.swift" -L"$work" -lbelow -Xlinker -rpath -Xlinker "$work" \
    2>"$work/swiftc" || fail "kinds.swift does not compile: $(head "$work/swiftc")"
  capture_loaded "$work/kinds-run-$way" "$scripthost" run -v --state "$work/state-kinds-$way" --patches "$work/kinds-patches" -- "$work/kinds-$way"
  ended "explain, $way: the program ends well" "$work/kinds-run-$way"
  # explained FUNCTION TEXT
  explained() { says "explain, $way: $1: $2" <(grep -aF "$1	" "$work/kinds-run-$way.err") "$2"; }
  explained 'Thing.plain(_:)' 'contain    yes'
  explained 'Thing.waits(_:)' 'contain    no, it is async'
  explained 'Thing.never()' 'contain    no, it never returns'
  explained 'Thing.stub()' 'contain    no, it never returns'
  explained 'Thing.grow(_:)' 'contain    no, it changes argument 1 in place'
  # Where the optimiser leaves nothing of the result's place, that comes first.
  explained 'Thing.take(_:)' 'contain    no, it'
  explained 'Thing.held.modify' 'contain    no, it is a coroutine accessor'
  explained 'Thing.init(_:)' 'contain    no, it is an initialiser of a class'
  explained 'Thing.deinit' 'contain    no, it ends an object'
  explained 'Box.push(_:)' 'contain    no, it changes its self in place'
  # Without optimisation its code does not tell, which its row 'self' says.
  explained 'Box.end()' "contain    $([ "$way" = O ] && echo 'no, it consumes its self' || echo yes)"
  explained 'Box.keep()' 'contain    yes'
  explained 'Thing.end()' 'contain    no, it consumes its self'
  # Without optimisation the handler is the closure that calls it.
  [ "$way" = Onone ] || explained 'kinds.caught(_:)' 'contain    no, it is the handler of signal 10'
  explained 'C.qsort' 'contain    no, it is a C function'
  explained 'Thing.locks(_:)' 'yes, but not while the lock is held that it takes itself'
  explained 'Thing.mutex(_:)' "while a 'Mutex' is held that it takes itself"
  explained 'Thing.sorts(_:)' 'in a function that it hands to the C library'
  explained 'Thing.orders(_:)' 'while the elements of an array are out of their places that it sorts or inserts into'
  explained 'Thing.foreign(_:)' "in C++ code that it calls, such as '_ZN5below7runThisEPFvvE'"
  explained 'Thing.queued(_:)' 'in work that it hands to a dispatch queue'
done

# Frames that were left under the address sanitizer: what it noted of them is gone, far below the landing, too.
swiftc -O -sanitize=address -module-name traps -o "$work/traps-asan" "$here/traps.swift" 2>"$work/swiftc" || fail "traps.swift does not compile with the address sanitizer"
for kind in range inside fatal; do
  capture "$work/asan-$kind" env "${asan[@]}" "$scripthost" run -v --state "$work/state-asan-$kind" --patches "$here/answers" -- \
    "$work/traps-asan" many $((300 / part)) $kind
  ended "address sanitizer, $kind: $((300 / part)) traps are contained, some of them below 300 frames" "$work/asan-$kind"
  check "address sanitizer, $kind: nothing is reported" [ "$(grep -ac 'AddressSanitizer' "$work/asan-$kind.err")" = 0 ]
done
swiftc -Onone -sanitize=address -module-name poisoned -o "$work/poisoned" "$here/poisoned.swift" -L"$work" -lbelow \
  -Xlinker -rpath -Xlinker "$work" 2>"$work/swiftc" || fail "poisoned.swift does not compile: $(head "$work/swiftc")"
mkdir "$work/poisoned-patches"
printf 'method "poisoned.descend(_:_:)":contain { value = -1, limit = 0 }\n' >"$work/poisoned-patches/poisoned.lua"
# Frames on the stack itself, not beside it.
capture_loaded "$work/poisoned-run" env "${asan[@]}:detect_stack_use_after_return=0" "$scripthost" run -v --state "$work/state-poisoned" --patches "$work/poisoned-patches" -- "$work/poisoned" $((100 / part))
ended 'address sanitizer: frames that lie where others were left are clean' "$work/poisoned-run"
says 'address sanitizer: each was answered, and nothing of the frames is left' "$work/poisoned-run.out" "contained $((100 / part)), poisoned 0"
check 'address sanitizer: no false report' [ "$(grep -ac 'AddressSanitizer' "$work/poisoned-run.err")" = 0 ]

# What is not moved out can be changed on: 1,200 traps while it is changed, an Nth of them with TRAPS_PART. Where it is, the first trap ends the program.
run moved-Onone answers "$work/traps-Onone" moved $((400 / part))
ended "moved, -Onone: it ends well" "$work/moved-Onone"
says "moved, -Onone: the dictionaries are as they were" "$work/moved-Onone.out" 'tables [[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]]'
run moved-O answers "$work/traps-O" moved
check "moved, -O: the program ends as it would" [ "$(cat "$work/moved-O.status")" = 132 ]
run lowest answers "$work/traps-O" price lowest
says "numbers that look like it are none" "$work/lowest.out" '-1'

run deep answers "$work/traps-O" deep fatal
says "below 5000 frames" "$work/deep.out" '-2'
says "a function that answers is told the reason" "$work/deep.err" 'reason	traps/traps.swift:32: Fatal error: the till is empty (SIGILL)'

run taken taken "$work/traps-Onone" keep "a text"
says "an argument that the original took over is not read" "$work/taken.err" $'taken\t<consumed>'
says "the function answers all the same" "$work/taken.out" '-5'

run limit limit "$work/traps-O" price range
check "beyond the limit the program ends as it would" [ "$(cat "$work/limit.status")" = 132 ]
says "the limit is told" "$work/limit.err" 'trapped 2 times in 60 s and is not contained any more'

run failing failing "$work/traps-O" price range
check "an answer that fails is the end, not a wrong result" [ "$(cat "$work/failing.status")" = 132 ]
says "and says so" "$work/failing.err" 'its answer failed'

# many WAY COUNT KINDS: so many of them one after another.
many() {
  local name=many-$1-${3%%,*} sum=$((($2 + 100) / 20)) grown
  run "$name" answers "$work/traps-$1" many "$2" "$3"
  # A twentieth of them below 300 frames, a tenth of the rest in tasks.
  says "$1, $3: $2 traps: the sum is right" "$work/$name.out" "sum -$(($2 + 100 + 3 * sum))"
  says "$1, $3: $2 traps: the program's work is right" "$work/$name.out" 'done 500510 3'
  grown=$(sed -n 's/^grew by \([0-9]*\) KiB.*/\1/p' "$work/$name.err")
  check "$1, $3: $2 traps made the process less than 16 MB larger (${grown:-nothing told} KiB)" [ "${grown:-999999}" -lt 16384 ]
}
# What the runtime writes for each one at -Onone, a stack, takes longer than containing it.
for kinds in range,nil,inside fatal,cast; do
  many O $((10000 / part)) $kinds
  many Onone "$([ "${TRAPS_ALL:-}" ] && echo 10000 || echo $((2000 / part)))" $kinds
done

# In a container thread ids are small numbers, as those are that a program counts with: none of them is taken for a lock's owner.
if unshare -pf true 2>/dev/null; then
  count=$((1600 / part))
  for way in O Onone; do
    capture "$work/small-$way" unshare -pf "$scripthost" run -v --state "$work/state-small-$way" --patches "$here/answers" -- "$work/traps-$way" many $count range,fatal
    says "$way: small thread ids: $count traps are contained" "$work/small-$way.out" "sum -$((count + 100 + 3 * ((count + 100) / 20)))"
    for function in guarded writing; do
      mkdir -p "$work/small-$function"
      printf 'method "traps.Till.%s()":contain { value = 0 }\n' $function >"$work/small-$function/refused.lua"
      capture "$work/small-$function-$way" unshare -pf "$scripthost" run --state "$work/state-small-$function-$way" --patches "$work/small-$function" -- \
        "$work/traps-$way" $function
      check "$way: small thread ids: the lock that '$function' takes is seen" [ "$(cat "$work/small-$function-$way.status")" = 132 ]
    done
  done
else
  echo 'left out: small thread ids; no pid namespace may be made here'
fi

# MARK: The table of docs/crashes.md

# What becomes of a trap of the program itself, and of one in the original of a hook: the end it would have had, with a report.
# TRAPS_ALL=1 makes all of them; else each kind once in each place, which of the ways and threads the seed draws.
RANDOM=$((${SCRIPTHOST_SEED:-$RANDOM} % 32768))
say_end() { [ "$(cat "$work/$1.status")" = "$2" ] && "$scripthost" crashes --state "$work/state-$1" 2>/dev/null | grep -q "$3" && echo "ends by $3, with a report" || echo "status $(cat "$work/$1.status")"; }
table=$work/table.md
printf '| trap | in a script%s call | below a contained function | in the program itself | in a hook%s original |\n|---|---|---|---|---|\n' "'s" "'s" >"$table"
for kind in range nil overflow divide fatal cast null inside overlap try precondition unowned wild; do
  case $kind in cast | overlap | unowned) status=134 signal=SIGABRT ;; null | wild) status=139 signal=SIGSEGV ;; *) status=132 signal=SIGILL ;; esac
  draws=$(for way in O Onone; do for thread in main other task; do echo "$way $thread"; done; done)
  [ "${TRAPS_ALL:-}" ] || draws=$(sed -n "$((RANDOM % 6 + 1))p" <<<"$draws")
  script=$(for way in O Onone; do for thread in main other task; do
    grep -qa "$kind	false	calls.lua:6: 'traps.Till.trap(_:)'.* trapped" "$work/calls-$way-$thread.err" && echo 'an error of Lua' || echo "no error at $way $thread"
  done; done | sort -u | paste -sd ';')
  contained=$(for way in O Onone; do for thread in main other task; do
    grep -qax "$kind -1" "$work/answers-$way-$thread.out" && echo 'answered' || echo "no answer at $way $thread"
  done; done | sort -u | paste -sd ';')
  for place in beside original; do
    while read -r way thread; do
      run "$place-$kind-$way-$thread" $place "$work/traps-$way" plain $kind "$thread"
      say_end "$place-$kind-$way-$thread" $status $signal
    done <<<"$draws" | sort -u | paste -sd ';' >"$work/$place.cell"
  done
  printf '| %s | %s | %s | %s | %s |\n' $kind "$script" "$contained" "$(cat "$work/beside.cell")" "$(cat "$work/original.cell")" >>"$table"
done
while IFS= read -r row; do
  check "the table says: $row" grep -qxF -- "$row" "$root/docs/crashes.md"
done <"$table"
[ -z "${TRAPS_TABLE:-}" ] || cp "$table" "$TRAPS_TABLE"

# A program nobody here wrote: a patch makes an argument wrong, which traps; contained it goes on.
cat >"$work/in.plist" <<'END'
<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>a</key><string>b</string></dict></plist>
END
mkdir "$work/alone"
sed '/:contain(/d' "$here/plutil/print.lua" >"$work/alone/print.lua"
capture "$work/alone" "$scripthost" run --state "$work/state-alone" --patches "$work/alone" -- plutil -p "$work/in.plist"
check "plutil: alone the trap ends it" [ "$(cat "$work/alone.status")" = 132 ]
run plutil plutil plutil -p "$work/in.plist"
says "plutil: contained it goes on" "$work/plutil.out" '(not printed)'
check "plutil: it ends well" [ "$(cat "$work/plutil.status")" = 0 ]
# And a patch that uses what the file says: one file is good, the other makes the patched function trap.
mkdir "$work/input"
cat >"$work/input/input.lua" <<'LUA'
local print = method "plutil.PrintCommand.prettyPrint(_:indent:spacing:)"
print:before(function(call, value)
  local isNumber, wide = pcall(function() return value.indent.intValue end)
  if isNumber and wide then call.args.indent = wide end
end)
print:contain(function(call, reason) return "(not printed)" end)
LUA
for wide in 2 -5; do
  printf '<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>indent</key><integer>%s</integer></dict></plist>\n' $wide >"$work/in$wide.plist"
  capture "$work/input$wide" "$scripthost" run --state "$work/state-input" --patches "$work/input" -- plutil -p "$work/in$wide.plist"
  ended "plutil: an input that says $wide: it ends well" "$work/input$wide"
done
says 'plutil: an input with which nothing traps is printed' "$work/input2.out" '"indent" => 2'
says 'plutil: one that makes the patched function trap is answered' "$work/input-5.out" '(not printed)'
finish
