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
  local again
  # On a busy machine a handler is stopped whose time is over, which shows nothing.
  for again in 1 2 3 4 5; do
    rm -rf "state-$name"
    capture_loaded "$name" "$scripthost" run -v --state "state-$name" --patches "$patches" -- "$@"
    grep -qa 'stopped: waited longer\|stopped: the functions it called' "$name.err" || return 0
  done
}
# hits NAME GUARD: how many hits the journal has.
hits() { "$scripthost" events --state "state-$1" --json 2>/dev/null | grep -c "\"guard\":\"$2\"" || true; }

patches contain 'guard { "containers", mode = "contain", records = 100000 }'
patches report 'guard { "containers", mode = "report" }'
patches assert 'guard { containers = "assert" }'
patches elsewhere 'guard { "containers", mode = "contain", modules = { "Nowhere" } }'
patches within 'guard { "containers", modules = { "bounds" }, records = 100000 }'
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
capture assert.show "$scripthost" crashes --state state-assert show
says 'assert: the hit is a breadcrumb of the report' assert.show.out "guard containers: Foundation.NSArray.object(at:): index "
says 'assert: and the message says why' assert.err "mode 'assert' ends the process"
run elsewhere elsewhere ./bounds-O loop 12 1
check 'modules: calls of other modules are left alone' [ "$(cat elsewhere.status)" -gt 128 ]
check 'modules: and not counted' [ "$(hits elsewhere containers)" = 0 ]
for way in O Onone; do
  run within-$way within ./bounds-$way loop 12 1
  ended "$way: modules: calls of that module are guarded, those of its closures, too" within-$way
  check "$way: modules: each was recorded ($(hits within-$way containers))" [ "$(hits within-$way containers)" -ge "$cases" ]
done
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

# MARK: Messages by name

# One step at each call: a look for what is not there takes its time, and each call of a handler has only so much.
sends='
local shown = print
local steps = {
  function(cart) shown("known", cart:total(0.5), swift.send(cart, "total(tax:)", 1)) end,
  function(cart) shown("member", pcall(function() return cart:nothing(1, "x") end)) end,
  function(cart) shown("send", pcall(swift.send, cart, "nothing(_:)", 1)) end,
  function(cart) shown("static", pcall(swift.send, class "sends.Cart", "unmake(_:)", 1)) end,
  function(cart) shown("static member", pcall(function() return class("sends.Cart"):nobody() end)) end,
  function(_, _, null) shown("null text", pcall(function() return null:uppercased() end)) end,
  function(_, _, null) shown("null count", pcall(swift.send, null, "count")) end,
  function(_, _, null) shown("null length", pcall(function() return null:length() end)) end,
  function(_, _, null) shown("null number", pcall(function() return null:doubleValue() end)) end,
  function(_, _, null) shown("null array", pcall(function() return null:componentsJoined(",") end)) end,
  function(_, _, null) shown("null index", pcall(function() return null:object(0) end)) end,
  function(_, _, null) shown("null nothing", pcall(function() return null:nothing() end)) end,
  function(_, _, null) shown("null own", pcall(function() return null:isEqual(nil) end)) end,
  function(cart, store)
    swift.forward(cart, store)
    shown("forwarded", cart:locate("a"), swift.send(cart, "locate(_:)", "b"))
    swift.forward(cart, nil)
  end,
  function(cart)
    swift.forward(class "sends.Cart", function(self, selector) if selector == "guess" then return "guessed" end end)
    shown("full", cart:guess(), pcall(swift.send, cart, "other()"))
  end,
}
method "sends.tick(_:_:_:_:)":before(function(call, cart, store, null, number) if steps[number] then steps[number](cart, store, null) end end)'
patches sends-contain "guard { \"unknown_selector\", \"null\", records = 1000 }$sends"
patches sends-report "guard { \"unknown_selector\", \"null\", mode = \"report\", records = 1000 }$sends"
patches sends-selector "guard { \"unknown_selector\", records = 1000 }$sends"
patches sends-elsewhere "guard { \"unknown_selector\", \"null\", modules = { \"other.lua\" } }$sends"
patches sends-quiet "guard { \"unknown_selector\", records = 2 } method \"sends.work(_:_:_:)\":before(function(call, cart) for i = 1, 500 do cart:nothing(i) end end)"
patches sends-assert "guard { unknown_selector = \"assert\" } method \"sends.work(_:_:_:)\":before(function(call, cart) cart:nothing() end)"
patches sends-off "$sends"
for way in O Onone; do
  swiftc "-$way" -module-name sends "$here/sends.swift" -o sends-$way || fail "sends.swift does not compile"
  ./sends-$way >plain.out
  run sends-$way sends-contain ./sends-$way
  ended "$way: unknown selector: it ends well" sends-$way
  same "$way: unknown selector: the program's work is the same" plain.out sends-$way.out
  says "$way: resolve: a member that is there answers" sends-$way.err $'known\t15.0\t20.0'
  says "$way: stub: a member nobody has answers nothing" sends-$way.err $'member\ttrue'
  says "$way: stub: so does swift.send" sends-$way.err $'send\ttrue'
  says "$way: stub: so does the class" sends-$way.err $'static\ttrue'
  says "$way: stub: so does a member of the class" sends-$way.err $'static member\ttrue'
  says "$way: forward: to another target" sends-$way.err $'forwarded\tshelf of a\tshelf of b'
  says "$way: full forwarding: a function answers, or passes on to the stub" sends-$way.err $'full\tguessed\ttrue'
  says "$way: type, selector and place are recorded" sends-$way.err "guard unknown_selector: 'sends.Cart.nothing': nothing of sends.Cart answers it"
  says "$way: of the class, too" sends-$way.err "guard unknown_selector: 'static sends.Cart.unmake(_:)'"
  says "$way: with file and line" sends-$way.err "(in 'sends-contain.lua:"
  says "$way: null: \"\" is asked first" sends-$way.err $'null text\ttrue\t'
  says "$way: null: a count" sends-$way.err $'null count\ttrue\t0'
  says "$way: null: as a text of Foundation" sends-$way.err $'null length\ttrue\t0'
  says "$way: null: as a number" sends-$way.err $'null number\ttrue\t0.0'
  says "$way: null: as an array" sends-$way.err $'null array\ttrue\t'
  says "$way: null: what would trap is not asked" sends-$way.err $'null index\ttrue'
  says "$way: null: what none of them answers goes to the other guard" sends-$way.err $'null nothing\ttrue'
  says "$way: null: recorded" sends-$way.err "guard null: 'Foundation.NSNull.count': a message to NSNull, which does not answer it"
  check "$way: null: five answers of a stand-in ($(hits sends-$way null))" [ "$(hits sends-$way null)" = 5 ]
  run sends-selector-$way sends-selector ./sends-$way
  says "$way: without the guard for NSNull it is unknown" sends-selector-$way.err "guard unknown_selector: 'Foundation.NSNull.count'"
done
run sends-report sends-report ./sends-O
says 'report: the error is what it was' sends-report.err $'send\tfalse\t'
says 'report: and recorded' sends-report.err "the error was thrown"
run sends-elsewhere sends-elsewhere ./sends-O
says 'modules: sends of other scripts are left alone' sends-elsewhere.err $'send\tfalse\t'
check 'modules: and not counted' [ "$(hits sends-elsewhere unknown_selector)" = 0 ]
run sends-quiet sends-quiet ./sends-O
ended 'records: 1500 sends' sends-quiet
check "records: few are written ($(hits sends-quiet unknown_selector))" [ "$(hits sends-quiet unknown_selector)" -le 20 ]
run sends-assert sends-assert ./sends-O
check 'assert: the process is ended' [ "$(cat sends-assert.status)" = 134 ]
run sends-off sends-off ./sends-O
says 'off: an error, as ever' sends-off.err $'member\tfalse\t'
says 'off: of swift.send, too' sends-off.err $'send\tfalse\t'

# MARK: Observation

observes='
local first
method "sends.work(_:_:_:)":before(function(call, cart)
  local seen = observe(cart, "title", function(change) print("told", change.new) end)
  local again = observe(cart, "lines", nil)
  if first == nil then first = seen end
end)
method "sends.append(_:_:)":after(function(call, cart)
  if #cart.lines == 3 then print("ends", first:remove(), first:remove()) end
end)'
patches observes-contain "guard { \"observation\" }$observes"
patches observes-report "guard { \"observation\", mode = \"report\" }$observes"
for way in O Onone; do
  run observes-$way observes-contain ./sends-$way
  ended "$way: observation: it ends well" observes-$way
  check "$way: observation: each write is told once, whoever observes again" [ "$(grep -c 'told' observes-$way.err)" = 3 ]
  says "$way: observation: the second is recorded" observes-$way.err "guard observation: 'title': the same observer observes the same property of it already"
  says "$way: observation: a second removal answers false" observes-$way.err $'ends\ttrue\tfalse'
  says "$way: observation: and is recorded" observes-$way.err "guard observation: 'title': it was ended before"
  says "$way: observation: an observer without a handler is recorded" observes-$way.err "guard observation: 'lines': nothing handles the changes"
done
run observes-report observes-report ./sends-O
says 'report: an observation that is doubled is told twice' observes-report.err 'guard observation'
patches observes-plain 'method "sends.work(_:_:_:)":before(function(call, cart) observe(cart, "title", function(change) print("told", change.new) end) end)'
run observes-plain observes-plain ./sends-O
check 'off: each observation is told' [ "$(grep -c 'told' observes-plain.err)" = 6 ]

# MARK: The modes of each guard

watched='types = { "objects.*Session", "objects.Plain" }'
patches zombies-report "guard { zombies = { $watched, mode = \"report\" } }"
patches zombies-assert "guard { zombies = { $watched, mode = \"assert\" } }"
patches main-report 'guard { main_thread = { methods = "objects.Window.*(*)", mode = "report" } }'
patches main-assert 'guard { main_thread = { methods = "objects.Window.*(*)", mode = "assert" } }'
patches observes-assert "guard { observation = \"assert\" }$observes"
patches null-assert "guard { null = \"assert\" }$sends"
# Those of notifications and timers: Tests/Programs/verbs.
run zombies-report zombies-report ./objects-O zombies
ended 'zombies, report: what is kept can be read: it ends' zombies-report
says 'zombies, report: the call goes on' zombies-report.out 'total 8'
says 'zombies, report: and is recorded' zombies-report.err "called on an object of objects.Session that has ended; the call went on"
run main-report main-report ./objects-O main
ended 'main thread, report: it ends' main-report
check 'main thread, report: the call runs where it was made' \
  [ "$(grep -ane '^after$' -e '^show moved' main-report.out | cut -d : -f 2 | cut -c 1-5 | tr '\n' ' ')" = 'show  after ' ]
check 'main thread, report: two hits' [ "$(hits main-report main_thread)" = 2 ]
says 'main thread, report: told' main-report.err 'went on where it was'
for each in 'zombies ./objects-O zombies' 'main ./objects-O main' 'observes ./sends-O' 'null ./sends-O'; do
  name=${each%% *}-assert
  # shellcheck disable=SC2086
  run $name $name ${each#* }
  ended "${each%% *}, assert: the process is ended" $name 134
  says "${each%% *}, assert: and the message says why" $name.err "mode 'assert' ends the process"
done

# A quarantine that is smaller than one object keeps nothing, and says so.
patches small "guard { zombies = { types = { \"objects.Session\" }, bytes = 8 } }"
run small small ./objects-O zombies
says 'zombies: bytes below one object: it is told' small.err "guard 'zombies' of small: no object of 'objects.Session' is kept: it has "

# MARK: The command

unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
patches command "guard { containers = \"contain\", zombies = { $watched }, main_thread = { methods = \"objects.Window.*(*)\" } }"
mkfifo in
"$scripthost" run --state state-command --patches command -- ./objects-O wait <in >command.out 2>command.err &
pid=$!
exec 8>in
for _ in $(seq 2000); do grep -q ready command.out && break; sleep 0.05; done
capture guards "$scripthost" guards --state state-command "$pid"
ended 'guards: of a running process' guards
says 'guards: mode, owner, hits and functions' guards.out 'main_thread (contain, command): 3 hits, '
says 'guards: of the collections' guards.out 'containers (contain, command): 3 hits, '
says 'guards: the functions that were hit, with the last problem' <(tr -s ' ' <guards.out) ' 3 Foundation.NSMutableArray.removeObject(at:) index 7 '
says 'guards: most often first' <(grep -o 'objects\.Window\.[a-z]*' guards.out | tr '\n' ' ') 'objects.Window.show objects.Window.height '
says 'guards: who made the call' <(grep 'objects.Window.show' guards.out) 'closure #'
says 'guards: of what has ended' guards.out 'called on an object of objects.Session that has ended'
check 'guards: no word of what is not watched' [ "$(grep -c 'recorded only' guards.out)" = 0 ]
capture guards-notes "$scripthost" guards --notes --state state-command "$pid"
says '--notes: what is recorded only, and why' guards-notes.out "'objects.Window.height(_:)' is recorded only: it returns a value"
capture guards-json "$scripthost" guards --json --state state-command
check '--json: the same, of the only process there is' python3 - guards-json.out <<'PY'
import json, sys
found = {each["guard"]: each for each in json.load(open(sys.argv[1]))["guards"]}
assert sorted(found) == ["containers", "main_thread", "zombies"], sorted(found)
for name, hits in (("containers", 3), ("main_thread", 3)):
    each = found[name]
    assert (each["mode"], each["owner"], each["hits"]) == ("contain", "command", hits), each
    assert sum(place["hits"] for place in each["places"]) == hits and each["watched"] > 0, each
place = found["containers"]["places"][0]
assert place["selector"] == "Foundation.NSMutableArray.removeObject(at:)" and "index 7" in place["problem"] and place["site"], place
assert any("recorded only" in note for note in found["main_thread"]["notes"]), found["main_thread"]["notes"]
PY
capture watched "$scripthost" hooks --state state-command --json "$pid"
exec 8>&-
check 'guards: the program ends as ever' wait "$pid"

# MARK: Foundation's interface

mkdir symbols
swift symbolgraph-extract -module-name Foundation -target "$(uname -m)-unknown-linux-gnu" -output-dir symbols -minimum-access-level public 2>symbols.err ||
  bad "Foundation's interface can be read" "$(tail -n 3 symbols.err)"
check "each member of the interface that takes an index, a range or a number is watched, or is listed with a reason" \
  python3 "$here/interface.py" symbols/Foundation.symbols.json watched.out "$here/unwatched.txt"

# MARK: Programs nobody here wrote

patches format 'guard { "containers", "unknown_selector", "null", "observation", "notifications", "timers", records = 100,
  zombies = { types = { "SwiftFormat.*", "SwiftSyntax.*" }, mode = "contain" },
  main_thread = { methods = { "SwiftFormat.PrettyPrinter.*(*)" }, mode = "report" } }'
# All but zombies where nothing of a type can be watched.
files=$(find "$root/Sources" -name '*.swift' | LC_ALL=C sort | sed -n "1~${GUARD_FILES:-25}p")
# shellcheck disable=SC2086
capture format-alone swift-format format $files
run format format "$(command -v swift-format)" format $files
ended 'swift-format: it ends well' format
check 'swift-format: the guards are on' [ "$(grep -c 'format.lua: loaded' format.err)" = 1 ]
same "swift-format: with each guard on its output is what it was ($(wc -w <<<"$files") files)" format-alone.out format.out
check 'swift-format: no hit' [ "$(grep -c '^scripthost: guard' format.err)" = 0 ]

# Each by itself.
few=$(head -n "${GUARD_ALONE:-5}" <<<"$files")
# shellcheck disable=SC2086
capture few-alone swift-format format $few
for each in containers unknown_selector null observation notifications timers 'zombies = { types = { "SwiftFormat.*" } }' \
  'main_thread = { methods = { "SwiftFormat.PrettyPrinter.*(*)" } }'; do
  name=${each%% *}
  case $each in *=*) patches only-$name "guard { $each }" ;; *) patches only-$name "guard { \"$each\" }" ;; esac
  # shellcheck disable=SC2086
  run only-$name only-$name "$(command -v swift-format)" format $few
  unchanged "swift-format: with $name alone its output is what it was ($(wc -w <<<"$few") files)" few-alone only-$name
  check "swift-format: $name alone: on, and no hit" [ "$(grep -c "only-$name.lua: loaded" only-$name.err)$(grep -c '^scripthost: guard' only-$name.err)" = 10 ]
done

cat >in.plist <<'END'
<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>a</key><array>
END
# So many calls that some of them get a wrong index, whatever is drawn.
for i in $(seq 30); do echo "<string>b$i</string><integer>$i</integer>"; done >>in.plist
cat >>in.plist <<'END'
</array><key>c</key><dict><key>d</key><data>AAEC</data></dict></dict></plist>
END
# GUARD_SEEDS: how often the calls are drawn (3).
# Outside of the guard's layers, which therefore see what is changed: half of plutil's own calls get an index or a range that is wrong.
patches plutil "guard { \"containers\", records = 100000 }
math.randomseed(SEED)
local function wrong() return ({ -1, 1000, 1 << 40, math.maxinteger })[math.random(4)] end
method 'Foundation.NSMutableArray.subscript(_:).get':before(function(call) if math.random(2) == 1 then call.args[1] = wrong() end end)
method 'Foundation.NSString.substring(with:)':before(function(call)
  if math.random(2) == 1 then call.args[1] = swift.with(call.args[1], { location = wrong() }) end
end)"
for seed in $(seq "${GUARD_SEEDS:-3}"); do
  sed "s/SEED/$((${SCRIPTHOST_SEED:-$RANDOM} + seed))/" plutil/plutil.lua >seeded.lua
  for verb in -p '-convert json -o -' '-convert xml1 -o -' '-convert binary1 -o -' -lint; do
    # shellcheck disable=SC2086
    run plutil seeded.lua plutil $verb in.plist
    [ "$(cat plutil.status)" -le 128 ] || bad "plutil: random bad indices in its own calls: $(sed -n 's/^math.randomseed/seed /p' seeded.lua): plutil $verb died" "$(tail -n 3 plutil.err)"
  done
done
check "plutil: random bad indices in its own calls: $(hits plutil containers) were caught" [ "$(hits plutil containers)" -gt 0 ]

# MARK: Mistakes of patches, and the command

# refused TEXT REASON: all of them are in the folder of one run.
mkdir wrong
reasons=()
refused() {
  reasons+=("$2")
  printf 'patch { id = "wrong%s" }\n%s\n' ${#reasons[@]} "$1" >wrong/wrong${#reasons[@]}.lua
}
refused 'guard { "nothing" }' "there is no guard 'nothing'"
refused 'guard { "zombies" }' "needs 'types'"
refused 'guard { zombies = { types = "objects.Nobody" } }' "no type 'objects.Nobody'"
refused 'guard { "main_thread" }' "needs 'methods'"
refused 'guard { "containers", mode = "hide" }' "'mode' is one of"
refused 'guard { "containers", speed = 3 }' "unknown field 'speed'"
run wrong wrong ./objects-O nothing
for i in "${!reasons[@]}"; do
  says "refused: ${reasons[i]}" <(grep -F "wrong$((i + 1)).lua:" wrong.err) "${reasons[i]}"
done
[ ! -x "$products/guard-cases" ] || check "guards from Swift code" "$products/guard-cases"
finish
