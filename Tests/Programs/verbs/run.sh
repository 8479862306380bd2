#!/usr/bin/env bash
# What patches can say beside hooks: stacks of calls, timers, notifications, extend, settings; and what is told of two patches on one method.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
ulimit -c 0
for level in O Onone; do
  swiftc -swift-version 6 "-$level" -module-name subject "$here/subject.swift" -o subject-$level || fail 'subject.swift does not compile'
done
swiftc -swift-version 6 -O -module-name plain "$here/plain.swift" -o plain || fail 'plain.swift does not compile'

# patch NAME: a patch from standard input. run NAME PATCHES PROGRAM…: with messages.
patch() { mkdir -p "$(dirname "$1")" && cat >"$1.lua"; }
run() {
  local name=$1 patches=$2
  shift 2
  rm -rf "state-$name"
  capture_loaded "$name" timeout 60 "$scripthost" run -v --state "state-$name" --patches "$patches" "$@"
}
# events NAME TEXT: how many records hold the text.
events() { "$scripthost" events --state "state-$1" --json 2>/dev/null | grep -acF -- "$2" || true; }
# printed NAME TEXT: what the patch printed, without file and line.
printed() { sed -n 's/^scripthost: [^ ]*lua:[0-9]*: //p' "$1.err"; }

# MARK: Stacks

patch stack <<'LUA'
method "subject.Cart.add(_:)":before(function(call)
  local stack = call:stack()
  print(stack[1], stack[2], stack[3])
  print(#call:stack(2), pcall(call.stack, call, 0))
end)
-- Hooks between, whose frames are ours.
method "subject.inner(_:_:)":around(function(call) return call:original() end)
method "subject.load(_:)":before(function(call)
  print("async " .. table.concat(call:stack(3), ", "))
end)
LUA
for level in O Onone; do
  run stack stack.lua -- ./subject-$level
  ended "$level: stacks: the program ends" stack
  printed stack >stack.said
  says "$level: stacks: names of the program, innermost first, through a hook around" stack.said "$(printf 'subject.Cart.add(_:)\tsubject.inner(_:_:)\tsubject.outer(_:)')"
  check "$level: stacks: nothing of the host or of Lua" bash -c '! grep -aE "hkt_|shl_|ScriptHost|liblua|libScriptHost" stack.said'
  says "$level: stacks: as many as are asked for, at least one" stack.said "$(printf '2\tfalse')"
  says "$level: stacks: of an async function, who waits for it" stack.said 'async subject.load(_:), subject.loadAll()'
done

patch format <<'LUA'
method "SwiftFormat.PrettyPrinter.prettyPrint()":before(function(call)
  local stack = call:stack()
  print("from " .. stack[2])
  print("to " .. stack[#stack])
end)
LUA
printf 'struct A{var x=1}\n' >a.swift
run format format.lua -- swift-format a.swift
printed format >format.said
says 'stacks: of a program nobody here wrote: the caller' format.said 'from SwiftFormat.SwiftFormatter.format(syntax:'
check 'stacks: and the outermost' grep -qx 'to main' format.said

# MARK: Timers

patch timers <<'LUA'
local count = 0
timer.after("1ms", function() print("after", swift.call("subject.isMain()")) end)
timer.every("2ms", function() count = count + 1 end)
local dropped = timer.after("1ms", function() print "cancelled ones call" end)
print("cancel", dropped:cancel(), dropped:cancel(), dropped)
method "subject.isDone()":around(function(call) return count >= 5 end)
LUA
patch failing <<'LUA'
local count, ended = 0, false
timer.every("1ms", function() count = count + 1; error("no " .. count) end)
timer.after(0, function() while true do end end)
timer.every("1ms", function() store:incr "beats" end)
method "subject.isDone()":around(function(call) return count == 5 and (store:get "beats" or 0) > 200 end)
on_unload(function() print "unloaded" end)
LUA
patch target <<'LUA'
method "subject.Cart.add(_:)":before(function(call)
  timer.every("1ms", function(cart) store:set("seen", cart.title) end, { target = call.self })
end)
-- Some time after its end.
local ended, more = false, 0
method "subject.Cart.deinit":before(function() ended = true end)
timer.every("1ms", function() if ended then more = more + 1 end end)
method "subject.isDone()":around(function() return more > 50 end)
LUA
{ echo 'guard { timers = "report" }' && cat target.lua; } | patch guarded
for mode in contain assert; do { echo "guard { timers = \"$mode\" }" && cat target.lua; } | patch timers-$mode; done
patch main <<'LUA'
local count = 0
timer.every("2ms", function()
  count = count + 1
  if count == 3 then print("main", swift.call("subject.isMain()")) end
end, { main = true })
method "subject.isDone()":around(function() return count >= 3 end)
LUA
patch stuck <<'LUA'
timer.after("1ms", function() print "nobody serves it" end, { main = true })
local over = false
timer.after("8s", function() over = true end)
method "subject.isDone()":around(function() return over end)
LUA
run stuck stuck.lua -- ./subject-O stuck &
for level in O Onone; do
  run timers timers.lua -- ./subject-$level wait
  ended "$level: timers: the program ends when its timers called" timers
  printed timers >timers.said
  says "$level: timers: once, not on the main thread" timers.said "$(printf 'after\tfalse')"
  says "$level: timers: cancelling is told, once" timers.said "$(printf 'cancel\ttrue\tfalse\ttimer of timers.lua:4, ended')"
  check "$level: timers: what is cancelled does not call" bash -c '! grep -q "cancelled ones" timers.said'
  run failing failing.lua -- ./subject-$level wait
  ended "$level: timers: handlers that fail or loop leave the program alone" failing
  says "$level: timers: after five failures it is switched off" failing.err "failing.lua: timer.every 'failing.lua:2' failed 5 times in 60 s and is switched off"
  says "$level: timers: a loop is stopped" failing.err 'failing.lua:3: stopped'
  run target target.lua -- ./subject-$level object
  ended "$level: timers: with a target: the program ends" target
  says "$level: timers: the target is not kept" target.out 'end of short'
  check "$level: timers: the timer ends with it, recorded once" [ "$(events target 'a subject.Cart, has ended')" = 1 ]
  run main main.lua -- ./subject-$level main
  ended "$level: timers: on the main queue: the program ends" main
  printed main >main.said
  says "$level: timers: on the main queue they run on the main thread" main.said "$(printf 'main\ttrue')"
done
wait
ended 'timers: nobody serves the main queue: the program ends' stuck
says 'timers: a call that nobody makes is told' stuck.err "stuck.lua:1: the timer's call waits for the main queue"
run guarded guarded.lua -- ./subject-O object
check 'guard timers: the end of a timer with its target is a hit' [ "$(events guarded '"mode":"report"')" = 1 ]
run timers-contain timers-contain.lua -- ./subject-O object
ended 'guard timers, contain: the program ends' timers-contain
check 'guard timers, contain: one hit' [ "$(events timers-contain '"mode":"contain"')" = 1 ]
run timers-assert timers-assert.lua -- ./subject-O object
ended 'guard timers, assert: the process is ended' timers-assert 134
says 'guard timers, assert: and the message says why' timers-assert.err "mode 'assert' ends the process"
# wrong TEXT REASON…: the patch is refused with this reason.
wrong() {
  printf '%s\n' "$1" | patch wrong
  run wrong "${3:-wrong.lua}" -- ./subject-O
  says "refused: $2" wrong.err "$2"
}
wrong 'timer.every(0, print)' 'at most once in a millisecond'
wrong 'timer.after("soon", print)' "takes seconds, or a time such as \"100ms\", found the text"
wrong 'timer.after(1, 5)' 'takes a function behind the time, found the number 5'
wrong 'timer.after(1, print, { target = 5 })' "option 'target' is an object of the program"
wrong 'timer.after(1, print, { mian = true })' "unknown option 'mian'"

# MARK: Notifications

patch notes <<'LUA'
notification.on("cart.changed", function(note)
  print("all", note.name, note.object.title, note.info ~= nil)
  for key, value in pairs(note.info) do if key == "by" then print("by", value) end end
end)
local third, kept
method "subject.Cart.changed()":before(function(call)
  if call.self.title == "third" and not third then
    third = notification.on("cart.changed", function(note) print("third", note.object.title) end, call.self)
  end
  if call.self.title == "second" then
    kept = notification.on("cart.changed", function(note) error "failing observers are told" end)
    notification.post("from.lua", call.self, { x = 7 })
    notification.post("from.lua")
    print("removed", kept:remove(), kept:remove())
  end
end)
method "subject.isDone()":around(function() return tostring(third):find("ended", 1, true) ~= nil end)
LUA
patch gone <<'LUA'
notification.on("cart.changed", function(note) print("told", note.object.title) end)
error "the patch fails behind it"
LUA
patch guard <<'LUA'
guard { notifications = "contain" }
local count, isFree = 0, false
timer.every("1ms", function() count = count + 1 end)
method "subject.Witness.deinit":before(function() isFree = true end)
method "subject.isDone()":around(function() return isFree or count > 5000 end)
LUA
patch report <<'LUA'
guard { notifications = "report" }
local count = 0
timer.every("1ms", function() count = count + 1 end)
method "subject.isDone()":around(function() return count > 50 end)
LUA
for level in O Onone; do
  run notes notes.lua -- ./subject-$level notes
  ended "$level: notifications: the program ends" notes
  printed notes >notes.said
  says "$level: notifications: name, sender and what is told" notes.said "$(printf 'all\tcart.changed\tfirst\ttrue')"
  says "$level: notifications: what is told can be read" notes.said "$(printf 'by\tsecond')"
  check "$level: notifications: of one object: its own alone" [ "$(grep -ac '^third' notes.said)" = 1 ]
  says "$level: notifications: from a script to the program" notes.out 'program got from.lua second 7'
  says "$level: notifications: without sender and contents" notes.out 'program got from.lua nobody nothing'
  says "$level: notifications: removing is told, once" notes.said "$(printf 'removed\ttrue\tfalse')"
  says "$level: notifications: a subscription does not keep its object" notes.out 'end of third'
  check "$level: notifications: it ends with its object, recorded" [ "$(events notes 'the object it was made for, a subject.Cart, has ended')" = 1 ]
  run gone gone.lua -- ./subject-$level notes
  check "$level: notifications: those of a patch that was not loaded tell nothing" bash -c '! grep -q told gone.err'
  run guard guard.lua -- ./subject-$level outlived
  ended "$level: guard notifications: the program ends" guard
  says "$level: guard notifications: the observer is told while its object lives" guard.out 'told observer'
  check "$level: guard notifications: it is removed when the object has ended" [ "$(grep -ac '^observer is free' guard.out)" = 1 ]
  check "$level: guard notifications: which is recorded" [ "$(events guard "the observer of 'cart.changed' outlived the object it was made for, a subject.Cart")" = 1 ]
  run report report.lua -- ./subject-$level outlived
  check "$level: guard notifications: report alone leaves it" [ "$(grep -ac '^observer is free' report.out)" = 0 ]
done
{ echo 'guard { notifications = "assert" }' && tail -n +2 guard.lua; } | patch notes-assert
run notes-assert notes-assert.lua -- ./subject-O outlived
ended 'guard notifications, assert: the process is ended' notes-assert 134
says 'guard notifications, assert: and the message says why' notes-assert.err "mode 'assert' ends the process"
patch plain <<'LUA'
print(pcall(notification.on, "x", print))
print(pcall(notification.post, "x"))
LUA
run plain plain.lua -- ./plain
ended 'notifications: a program without Foundation ends' plain
check 'notifications: both verbs say that there is none' [ "$(grep -ac 'this program does not use Foundation' plain.err)" = 2 ]
says 'notifications: and do not bring it in' plain.out 'no Foundation'

# MARK: The end of a patch, and of a session

patch living <<'LUA'
patch { id = "living" }
timer.every("2ms", function() print "beat" end)
notification.on("cart.changed", function() print "told" end)
LUA
mkfifo word
exec 7<>word
rm -rf state-living
"$scripthost" run -v --state state-living --patches living.lua -- ./subject-O living <&7 >living.out 2>living.err &
pid=$!
for _ in $(seq 500); do grep -q beat living.err && grep -q told living.err && break; sleep 0.02; done
check 'a patch in a running program: its timers call, and it is told' grep -q told living.err
# quiet NAME: nothing is said for a while.
quiet() {
  sleep 0.2
  local before
  before=$(wc -l <living.err)
  sleep 0.3
  check "$1" [ "$(wc -l <living.err)" = "$before" ]
}
capture disable "$scripthost" patch disable --state state-living $pid living
ended 'it is switched off' disable
quiet 'switched off, nothing of it calls or is told'
before=$(grep -c beat living.err)
capture enable "$scripthost" patch enable --state state-living $pid living
ended 'it is switched on' enable
for _ in $(seq 500); do [ "$(grep -c beat living.err)" -gt "$before" ] && break; sleep 0.02; done
check 'switched on, its timers call again' [ "$(grep -c beat living.err)" -gt "$before" ]
capture reload "$scripthost" patch reload --state state-living $pid living
ended 'it is loaded again' reload
before=$(grep -c beat living.err)
for _ in $(seq 500); do [ "$(grep -c beat living.err)" -gt "$before" ] && break; sleep 0.02; done
check 'loaded again, the timers of the new text call' [ "$(grep -c beat living.err)" -gt "$before" ]
capture unload "$scripthost" patch unload --state state-living $pid living
ended 'it is unloaded' unload
quiet 'unloaded, nothing of it calls or is told any more'
capture session timeout 20 "$scripthost" attach --write --state state-living $pid <<'LUA'
count = 0
timer.every("1ms", function() count = count + 1; store:set("session", count) end)
-- A snippet has the state to itself; calls of the program leave it to others.
repeat swift.call "subject.isDone()" until (store:get "session" or 0) > 3
print("the session's timer called", store:get "session" > 3)
LUA
says 'a session of the console has timers' session.out "the session's timer called"
echo go >&7
wait $pid || true
exec 7>&-

# MARK: extend

patch extend <<'LUA'
local hook = extend "subject.Cart" {
  ["add(_:)"] = function(call, count) return call:original(count * 10) end,
  ["total(tax:)"] = function(call, tax) return call:original() + 0.25 end,
  ["name()"] = function(call) return "extended " .. call:original() end,
}
print(hook)
LUA
for level in O Onone; do
  run extend extend.lua -- ./subject-$level
  says "$level: extend: all members are hooked" extend.out '72 75.25 extended cart books'
  says "$level: extend: one handle stands for all" extend.err 'hook (3 installed, 0 refused)'
done
patch part <<'LUA'
print(pcall(function() extend "subject.Cart" { ["add(_:)"] = function(call) return 0 end, ["nothing()"] = function() end } end))
print(pcall(function() extend "subject.Cart" { ["add(_:)"] = function(call) return 0 end, ["add(_: Int)"] = function() end } end))
print(pcall(function() extend "subject.Cart" { ["add(_:)"] = 5 } end))
print(pcall(function() extend "subject.Cart" { ["*"] = function() end } end))
print(pcall(function() extend "subject.Crt" { } end))
print(#hooks())
LUA
run part part.lua -- ./subject-O
printed part >part.said
says 'extend: an unknown member: the nearest is told' part.said "no selector 'nothing()' in subject.Cart"
says 'extend: one function named twice' part.said 'are the same function'
says 'extend: no function' part.said "'add(_:)' is a function, found the number"
says 'extend: no patterns' part.said "'*' is a pattern"
says 'extend: an unknown type' part.said "did you mean 'subject.Cart'"
check 'extend: none of them left a hook' [ "$(tail -n 1 part.said)" = 0 ]
says 'extend: and the program runs as before' part.out '9 7.5 cart books'

# MARK: Settings

mkdir -p settings
patch settings/plan <<'LUA'
patch { id = "plan", config = { digits = 2, rate = 0.5, names = { "a", "b" }, deep = { on = true, text = "t" } } }
print(config.digits, config.rate, #config.names, config.names[2], config.deep.on, config.deep.text)
print(pcall(function() config.digits = 3 end))
print(pcall(function() return config.digit end))
print(json.encode(config), json.encode { config.names, whole = nil, config })
config.names[1] = "changed"
print(config.names[1])
local all = {}
for name in pairs(config) do all[#all + 1] = name end
table.sort(all)
print(table.concat(all, " "))
LUA
run settings settings -- ./subject-O
printed settings >settings.said
says 'settings: what the header declares' settings.said "$(printf '2\t0.5\t2\tb\ttrue\tt')"
says 'settings: as JSON they are what they read, in another table, too' settings.said \
  $'{"deep":{"on":true,"text":"t"},"digits":2,"names":["a","b"],"rate":0.5}\t[["a","b"],{"deep":{'
says 'settings: they are read only' settings.said "'config' is read only: 'digits' is set in the header"
says 'settings: a name that is none' settings.said "'config' has no 'digit'; the header declares digits, rate, names, deep"
check 'settings: tables are copies' grep -qx a settings.said
check 'settings: they can be listed' grep -qx 'deep digits names rate' settings.said
printf '{ "digits": 4, "rate": 1, "names": ["x", "y", "z"] }' >settings/plan.json
run settings settings -- ./subject-O
says 'settings: the file beside the patch counts more' settings.err "$(printf '4\t1.0\t3\ty\ttrue\tt')"
printf '{ "plan": { "digits": 5 }, "other": { "x": 1 } }' >chosen.json
run settings settings --config chosen.json -- ./subject-O
says 'settings: the file of the start counts most' settings.err "$(printf '5\t1.0\t3\ty\ttrue\tt')"
says 'settings: of an id that no patch has' settings.err "chosen.json': no patch of this start has the id 'other'"
printf '{ "digit": 4 }' >settings/plan.json
run settings settings -- ./subject-O
says 'settings: an undeclared one is refused, the nearest told' settings.err "declares no setting 'digit'; did you mean 'digits'?"
printf '{ "digits": "four" }' >settings/plan.json
run settings settings -- ./subject-O
says 'settings: of another kind' settings.err "setting 'digits' is a whole number, as the patch's header declares it, found a text, 'four'"
printf '{ "digits": ' >settings/plan.json
run settings settings -- ./subject-O
says 'settings: a file that is no JSON' settings.err 'plan.json: no JSON'
capture nofile "$scripthost" run --config nowhere.json --patches settings -- ./subject-O
ended 'settings: a file that is not there' nofile 125
mkdir -p unit && printf 'print(config.x, config.y)\n' >unit/patch.lua && printf '{ "x": 1 }' >unit/config.json
run unit unit -- ./subject-O
says 'settings: of a directory; nothing is declared' unit.err "$(printf '1\tnil')"

# MARK: Two patches on one method

mkdir -p both
patch both/a <<'LUA'
patch { id = "a", priority = 5 }
method "subject.Cart.name()":around(function(call) return "a(" .. call:original() .. ")" end)
method "subject.Cart.add(_:)":before(function() end)
method "subject.Cart.add(_:)":after(function() end)
LUA
patch both/b <<'LUA'
patch { id = "b" }
method "subject.Cart.name()":around(function(call) return "b(" .. call:original() .. ")" end)
method "subject.Cart.add(_:)":before(function() end)
method "subject.Cart.add(_:)":before(function() end)
track "added" { on = "subject.Cart.total(tax:)" }
LUA
patch both/c <<'LUA'
patch { id = "c" }
method "subject.Cart.name()":around(function(call) return "c(" .. call:original() .. ")" end)
LUA
patch both/d <<'LUA'
patch { id = "d", priority = -1 }
method "subject.Cart.*":before(function() end)
LUA
run both both -- ./subject-O
says 'two patches: higher priority outside, then what came later' both.out 'a(c(b(cart books)))'
says 'two patches: it is told in which order' both.err "b.lua: 'subject.Cart.name()' is also hooked by 'a', which runs outside of it: its priority is 5, this one's 0"
says 'two patches: of equal priorities' both.err "c.lua: 'subject.Cart.name()' is also hooked by 'b', which runs inside of it: of the same priority (0) the one made later is outside"
check 'two patches: once for each two and method' [ "$(grep -a 'is also hooked by' both.err | grep -vc 'of the methods')" = 4 ]

# The fifth one meets four: they are not spelled out.
mkdir -p many
for number in 1 2 3 4 5 6; do
  printf 'patch { id = "p%s" }\nmethod "subject.Cart.name()":before(function() end)\n' $number >many/p$number.lua
done
run many many -- ./subject-O
says 'many patches: how many others there are' many.err "p5.lua: 'subject.Cart.name()' is also hooked by 4 other patches; hooks() shows the order"
check 'many patches: a line for each two, up to four of them, and one for each after' [ "$(grep -a 'is also hooked by' many.err | wc -l)" = 8 ]

says 'two patches: of a pattern, their number' both.err "d.lua: 2 of the methods that 'subject.Cart.*' matches are also hooked by 'a'; hooks() shows the order"

# MARK: Overloads

swiftc -swift-version 6 -O -g -module-name overloads "$here/overloads.swift" -o overloads || fail 'overloads.swift does not compile'
patch overloads <<'LUA'
extend "overloads.Cart" {
  ["note(_: Int) -> Int"] = function(call) return call:original() end,
  ["note(_: Double) -> Double"] = function(call) return call:original() end,
}
LUA
run overloads overloads.lua -- ./overloads
ended 'overloads: the program ends' overloads
check 'what is the same for overloads is said once, with their number' [ "$(grep -c "'overloads.Cart.note(_:)' may miss 1 copy.*(2 functions of that name)" overloads.err)" -eq 1 ]
check 'and not once more in other words' [ "$(grep -c "copies of 'overloads.Cart.note(_:)'" overloads.err)" -eq 0 ]

finish
