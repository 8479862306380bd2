#!/usr/bin/env bash
# What a handler may take: instructions, its own time, the time of functions it calls, of all handlers inside one call together. A script
# that tries to hold up the program is stopped and told, and the program ends as without it.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
swiftc -swift-version 5 -O -module-name Held "$here/main.swift" -o "$work/held"
cd "$work"

# patched NAME TEXT [ARGUMENT]: runs the program with a patch of this text.
patched() {
  printf 'patch { id = "%s" }\n%s\n' "$1" "$2" >"$1.lua"
  capture run timeout 60 "$scripthost" run --state state --patches "$1.lua" -- ./held ${3:+"$3"}
}
# stopped NAME TEXT ARGUMENT OUTPUT SENTENCE: the program's result is its own, and one line tells why.
stopped() {
  patched "$1" "$2" "$3"
  check "$1: the program ends as without it" [ "$(cat run.out)" = "$4" ]
  says "$1: it is told where and why" run.err "$5"
}
around='method "Held.Service.work(_:)":before(function(call)'

# MARK: One budget for all that happens in a call

stopped loop "$around while true do end end)" '' 'work 8' 'loop.lua:2: stopped: '
stopped caught "$around while true do pcall(function() while true do end end) end end)" '' 'work 8' 'caught.lua:2: stopped: '
stopped native "$around while true do call.self:slow(10) end end)" '' 'work 8' 'native.lua:2: stopped: waited longer than 2000 ms'
stopped lookups "$around while true do pcall(method, 'Held.missing(_:)') end end)" '' 'work 8' 'lookups.lua:2: stopped: '
stopped async 'method "Held.Service.later(_:)":around(function(call, n) while true do call.self:later(1) end end)' async 'later 11' \
  'async.lua:2: stopped: '
stopped nested 'method "Held.Many.m*()":before(function(call)
  local s = call.self
  s:m0() s:m1() s:m2() s:m3() s:m4() s:m5() s:m6() s:m7() s:m8() s:m9() s:m10() s:m11()
end)' many 'many 0' 'stopped: '
patched name "$around pcall(method, ('x'):rep(4000000)) end)"
check 'a name of 4 MB is refused' [ "$(cat run.out)" = 'work 8' ]
patched path "$around local s = call.self; s.me = s; print(select(2, pcall(observe, s, ('me.'):rep(20000) .. 'name', print))) end)"
check 'a path of 20,000 steps is refused' [ "$(cat run.out)" = 'work 8' ]

# What stops one that is stopped: each of its calls would begin handlers anew.
stopped again 'method "Held.Service.deep(_:)":around(function(call, n) while true do call.self:deep(2) end end)' deep 'deep 42' 'stopped: '

# MARK: What waits

stopped sleeps "$around call.self:slow(60000) end)" '' 'work 8' "has not returned for 2 s, and the program waits"
says 'a sleep is woken, and its handler stopped' run.err 'sleeps.lua:2: stopped: waited longer than 2000 ms'
printf 'patch { id = "reads" }\n%s swift.call("Swift.readLine(strippingNewline:)", true) end)\n' "$around" >reads.lua
mkfifo input
exec 4<>input
timeout 30 "$scripthost" run --state state --patches reads.lua -- ./held asks <input >run.out 2>reads.err &
pid=$!
for ((round = 0; round < 200; round++)); do grep -qs 'is switched off' reads.err && break; sleep 0.1; done
# It has gone on without the handler when these come.
printf 'one\ntwo\n' >&4
wait $pid || true
exec 4>&-
says 'reading from a terminal is told' reads.err "'Swift.readLine(strippingNewline:)' has not returned for 2 s"
says 'the wait ends, and its handler is stopped' reads.err 'reads.lua:2: stopped: waited longer than 2000 ms'
same 'what is written then is for the program' <(echo 'work 8 one two') run.out

# The functions of Foundation that only wait, or end the thread.
swiftc -swift-version 5 -O -module-name Far "$here/far.swift" -o "$work/far"
# far NAME TEXT: runs that program with a handler of this text. In run.ms: how long it took.
far() {
  printf 'patch { id = "%s" }\nmethod "Far.work(_:)":before(function(call)\n%s\nend)\n' "$1" "$2" >"$1.lua"
  local begin
  begin=$(date +%s%3N)
  capture run timeout -s KILL 60 "$scripthost" run --state state --patches "$1.lua" -- ./far
  echo $(($(date +%s%3N) - begin)) >run.ms
}
refuses() {
  far "$1" "swift.call($2)"
  check "$1: the program ends as without it" [ "$(cat run.out)" = 'far 8' ]
  says "$1: it is refused" run.err "cannot call"
  says "$1: with the reason" run.err "$3"
}
refuses exits '"static Foundation.Thread.exit()"' 'it ends the thread that it is called on'
refuses sleeps_by_name '"static Foundation.Thread.sleep(forTimeInterval:)", 15' "it only waits, and the program's thread with it; 'timer.after' calls a function later"

# MARK: Lookups, which no instruction interrupts

# looks NAME TEXT SENTENCE: it is told, and the program ends not much later than without it.
looks() {
  far "$1" "$2"
  check "$1: the program ends as without it" [ "$(cat run.out)" = 'far 8' ]
  says "$1: it is told what took so long" run.err "$3"
  check "$1: $(cat run.ms) ms" [ "$(cat run.ms)" -lt 8000 ]
}
looks explains 'explain("Swift.**")' "stopped: it was still"
looks explains_again 'while true do pcall(explain, "Foundation.*.*") end' 'stopped: it was still'
looks hooks_all 'for i = 1, 9 do method("Swift.**"):before(function() end, { max = 1000000 }) end' 'stopped: it was still'
looks wildcards 'method("H." .. ("*a"):rep(6500))' 'has 6500 wildcards, and a pattern has at most 32'
# BUDGETS_LOOKUPS: so many of them (2000). Those of a patch that is loaded may take 10 s of a processor together, which some forty take.
printf 'patch { id = "loads" }\nfor i = 1, %s do pcall(method, "Foundation.Nothing" .. i .. ".nothing(_:)") end\nerror("all were looked for")\n' "${BUDGETS_LOOKUPS:-2000}" >loads.lua
capture run timeout -s KILL 60 "$scripthost" run --state state --patches loads.lua -- ./far
check 'lookups while a patch is loaded: the program ends as without it' [ "$(cat run.out)" = 'far 8' ]
check 'lookups while a patch is loaded: it is told what took so long' grep -qE "stopped: it was still looking for 'Foundation.Nothing[0-9]*|all were looked for" run.err

# MARK: What Swift keeps

kept() {
  patched "$1" "local text, kept = ('x'):rep(1000000), {}
$around $2 end)" often
  check "$1: the program ends as without it" [ "$(cat run.out)" = 'often 12532500' ]
  says "$1: it is told" run.err "$3"
}
kept objects 'kept[#kept + 1] = swift.new("Held.Box", "init(text:)", text)' 'uses more than 16384 KiB of memory'
kept lists 'kept[#kept + 1] = call.self:list(100000)' 'uses more than 16384 KiB of memory'
kept given 'call.self:keep(text)' 'uses more than 16384 KiB of memory'
kept pieces 'for i = 1, 1e9 do call.self:keep(("y"):rep(3000)) end' 'stopped: '
patched let_go "local text = ('x'):rep(1000000)
$around local b = swift.new('Held.Box', 'init(text:)', text) call.self:look(text) end)" many_times
check 'what is let go of does not count' [ "$(cat run.out)" = 'many_times 200' ]
check 'and nothing is said of it' [ ! -s run.err ]

# MARK: Breakers

patched glob 'method "Held.Many.m*()":before(function() error("no") end)' each
check 'a handler that fails on many functions is switched off on all' [ "$(grep -c 'this handler failed 25 times' run.err)" -eq 1 ]

# MARK: What an honest handler may

patched original 'method "Held.Service.long()":around(function(call) return call:original() + 100 end)
method "Held.Service.work(_:)":around(function(call) return call:original() + 10 end)' long
check 'the time of an original is nobody else'\''s' [ "$(cat run.out)" = 'long 118' ]
check 'and nothing is said of it' [ ! -s run.err ]
patched deep 'method "Held.Service.deep(_:)":around(function(call) return call:original() + 100 end)' deep
check 'handlers inside one another as deep as the program goes' [ "$(cat run.out)" = 'deep 4342' ]

# MARK: What is told

says_once() {
  patched "$1" "$2" often
  check "$1: told once without -v" [ "$(grep -c "$3" run.err)" -eq 1 ]
}
says_once plain "$around error('boom') end)" 'plain.lua:2: boom'
says_once bare "$around error('boom', 0) end)" 'bare.lua:2: boom'
says_once forged "$around error('other.lua:7: boom', 0) end)" 'forged.lua:2: other.lua:7: boom'
says_once inside "$around table.sort({ 3, 2, 1 }, function() error() end) end)" 'inside.lua:2: '

# MARK: A reader that does not read

printf 'patch { id = "talks" }\n%s print("a message of some length", ("x"):rep(50)) end)\n' "$around" >talks.lua
mkfifo pipe
exec 3<>pipe
status=0
timeout 60 "$scripthost" run -v --state state --patches talks.lua -- ./held often >run.out 2>pipe 3>&- || status=$?
exec 3>&-
check 'stderr that nobody reads holds nothing up' [ "$status $(cat run.out)" = '0 often 12532500' ]

# MARK: json

patched json 'local text = json.encode { b = { 1, 2.5, "ä\n\"" }, a = true, n = swift.null, e = {} }
log.info(text)
local back = json.decode(text)
print(text, back.b[3], #back.b, back.n == swift.null, math.type(back.b[1]))
print(pcall(json.decode, "[1,]"))
print(pcall(json.encode, { f = print }))
local own = {} own[1] = own
print(pcall(json.encode, own))
print(json.decode("\"\\u00e4\\ud83d\\ude00\""), pcall(json.decode, ("["):rep(100000)))'
capture run "$scripthost" run -v --state state --patches json.lua -- ./held
says 'json: both ways' run.err '{"a":true,"b":[1,2.5,"ä\n\""],"e":{},"n":null}'
says 'json: numbers and null' run.err 'true	integer'
says 'json: what is wrong, and where' run.err 'no value at byte 4'
says 'json: what has no word' run.err 'value.f is a function'
says 'json: a value that holds itself' run.err 'nested deeper than 100 levels, or holds itself'
says 'json: deep text' run.err 'ä😀	false'
finish
