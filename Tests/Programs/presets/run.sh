#!/usr/bin/env bash
# Presets: run --apm, run --preset and use, on programs nobody here wrote, and on a client of URLSession.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
printf 'struct A{var x=1}\n' >a.swift
capture alone swift-format a.swift
capture apm "$scripthost" run --apm --state state -- swift-format a.swift
same_run 'swift-format does as it did' alone apm
"$scripthost" events --state state --json >apm.jsonl
for stage in process loader host main; do
  check "the stage '$stage' is recorded once" [ "$(grep -c "\"kind\":\"startup\",\"name\":\"$stage\"" apm.jsonl)" -eq 1 ]
done
"$scripthost" report --state state -o report.html >report.log 2>&1 || true
says 'the report has the start' report.html '"loader"'
check 'of presets that are for other programs nothing is missed' bash -c '! grep -q "never appeared" apm.jsonl'
capture nobody "$scripthost" ps --state nowhere
says 'where no process listens, it is said where that was looked for' nobody.err "no process under ScriptHost listens in '$work/nowhere/control'"

capture one "$scripthost" run --preset startup --state one -- swift-format a.swift
same_run 'one preset leaves the program as it was' alone one
# Each stage once, in their order, however often its call is made.
cat >stages.swift <<'SWIFT'
import Glibc
func now() -> Int { var time = timespec(); clock_gettime(CLOCK_MONOTONIC, &time); return time.tv_sec * 1_000_000_000 + time.tv_nsec }
@inline(never) func handle(_ number: Int) -> Int { number &* 3 }
@inline(never) func ready(_ number: Int) -> Int { number &+ 1 }
var clocks = [now()]
var sum = 0
usleep(30_000)
clocks.append(now())
for number in 0..<3 { sum &+= handle(number) }
clocks.append(now())
usleep(30_000)
clocks.append(now())
for number in 0..<3 { sum &+= ready(number) }
// By the host's function, as code that imports ScriptHost says it.
if CommandLine.arguments.count > 1, let find = dlsym(nil, "scripthost_host_symbol") {
  let up = unsafeBitCast(find, to: (@convention(c) (UnsafePointer<CChar>) -> UnsafeMutableRawPointer?).self)("scripthost_up")
  unsafeBitCast(up, to: (@convention(c) () -> Void)?.self)?()
}
clocks.append(now())
print(sum)
if let file = fopen("clocks", "w") { for clock in clocks { fputs("\(clock)\n", file) }; fclose(file) }
SWIFT
printf 'patch { id = "stages", api = 1 }\nstartup { first = "stages.handle(_:)", stable = "stages.ready(_:)" }\n' >stages.lua
printf 'patch { id = "stages", api = 1 }\nstartup { first = "stages.handle(_:)" }\n' >program.lua
{
  cat program.lua
  echo 'method "stages.ready(_:)":after(function() scripthost.up() end, { once = true })'
} >patch.lua
mv stages.lua rule.lua
for level in -Onone -O; do
  swiftc $level -module-name stages stages.swift -o stages
  # Up by a rule, by a patch, by the program itself.
  for way in rule patch program; do
    said=$([ $way != program ] || echo up)
    capture alone ./stages $said
    before=$(python3 -c 'import time; print(time.monotonic_ns())')
    capture stages "$scripthost" run --state "stages-$way$level" --patches $way.lua -- ./stages $said
    same_run "$level $way: stages leave the program as it was" alone stages
    "$scripthost" events --state "stages-$way$level" --kind startup --json | sed 's/.*"name":"\([a-z]*\)".*/\1/' >stages.said
    same "$level $way: each stage once, in their order" <(printf '%s\n' process loader host main first stable) stages.said
    "$scripthost" events --state "stages-$way$level" --kind startup --json >stages.jsonl
    # The kernel tells the process's start in hundredths of a second.
    check "$level $way: each when the program's own clock says" python3 - "$before" <<'PY'
import json, sys
records = {r["name"]: r for r in map(json.loads, open("stages.jsonl"))}
clocks = [int(line) for line in open("clocks")]
start = records["first"]["mono_ns"] - records["first"]["fields"]["at_ns"]
at = {name: start + r["fields"]["at_ns"] for name, r in records.items()}
print(at, clocks, sys.argv[1])
slack = 2_000_000  # from the stage's moment to its record
assert int(sys.argv[1]) - 20_000_000 <= at["process"] <= at["loader"] <= at["host"] <= at["main"] <= clocks[0] + slack
assert clocks[1] <= at["first"] + slack and at["first"] <= clocks[2] + slack
assert clocks[3] <= at["stable"] + slack and at["stable"] <= clocks[4] + slack
PY
  done
done

# Commands as screens, each one once, with its duration.
for command in lint format dump-configuration; do
  case $command in lint) name=Lint ;; format) name=Format ;; *) name=DumpConfiguration ;; esac
  file=a.swift
  [ "$command" != dump-configuration ] || file=
  capture alone swift-format "$command" $file
  capture command "$scripthost" run --preset argument-parser --state "command-$command" -- swift-format "$command" $file
  same_run "swift-format $command does as it did" alone command
  "$scripthost" events --state "command-$command" --kind screen --json >screens.jsonl
  check "$command: one screen" [ "$(grep -c '"phase":"disappear"' screens.jsonl)" -eq 1 -a "$(wc -l <screens.jsonl)" -eq 2 ]
  says "$command: its name" screens.jsonl "\"name\":\"$name\""
  says "$command: its duration" screens.jsonl '"duration_ns":'
done

# A command over a hundred files: one screen, and a span for each file below the command's.
mkdir many
for number in $(seq 100); do printf 'struct A%d{var x=1}\nlet  y%d = 2\n' "$number" "$number" >"many/f$number.swift"; done
cat >lint.lua <<'LUA'
patch { id = "lint", api = 1 }
use "argument-parser"
span { on = "swift_format.LintFrontend.processFile(_:)", name = "lint {args.1.url.path()}" }
LUA
capture alone swift-format lint --strict many/*.swift
capture lint "$scripthost" run --state lint --patches lint.lua -- swift-format lint --strict many/*.swift
check 'linting a hundred files says what it said' [ -s alone.err ]
same_run 'and nothing else' alone lint
"$scripthost" events --state lint --kind span --json >lint.jsonl
"$scripthost" events --state lint --kind screen --json >lint.screens
python3 - <<'PY' >lint.said || true
import json
spans = [json.loads(line) for line in open("lint.jsonl")]
root = [s["fields"] for s in spans if s["name"].endswith("Lint.run()")]
files = [s for s in spans if s["name"].startswith("lint ")]
screens = [json.loads(line) for line in open("lint.screens")]
right = len(root) == 1 and len({s["name"] for s in files}) == len(files) == 100 and all(s["fields"]["parent"] == root[0]["span"] for s in files)
print("right" if right and [s["name"] for s in screens] == ["Lint", "Lint"] else f"{len(root)} commands, {len(files)} files, {len(screens)} screens")
PY
says 'the command is a screen, each file a span below it' lint.said right

capture none "$scripthost" run --preset strtup -- swift-format a.swift
says 'no such preset' none.err "no preset 'strtup'; there are"

mkdir served && printf 'hello from the server' >served/greeting.txt
python3 -u -c '
import functools, http.server
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="served")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()' >port 2>server.log &
server=$!
trap 'kill $server ${slow:-} 2>/dev/null || true; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
until [ -s port ]; do sleep 0.1; done
swiftc -swift-version 6 -O -parse-as-library "$here/client.swift" -o client 2>swiftc.log || bad 'the client is built' "$(cat swiftc.log)"
url=http://127.0.0.1:$(cat port)/greeting.txt
capture alone ./client "$url"
# requests STATE: so many requests were recorded.
requests() { "$scripthost" events --state "$1" --kind network --json >"$1.jsonl"; wc -l <"$1.jsonl"; }
capture client "$scripthost" run --apm --network --state client-state -- ./client "$url"
same_run 'the client does as it did' alone client
check 'each request is one record, although the option and the preset ask for it' [ "$(requests client-state)" -eq 2 ]
says 'with its status' client-state.jsonl '"status":200'
"$scripthost" events --state client-state --json >client.jsonl
check 'and nothing else is recorded of it' [ "$(grep -c "greeting.txt" client.jsonl)" -eq 2 ]

# use: in Lua, once however many use it, a copy beside the patch before ours.
mkdir -p uses
printf 'patch { id = "one", api = 1 }\nuse "foundation.network"\nuse "startup"\n' >uses/one.lua
printf 'patch { id = "two", api = 1, priority = 5 }\nuse "foundation.network"\n' >uses/two.lua
capture used "$scripthost" run --state used-state --preset foundation.network --patches uses -- ./client "$url"
same_run 'two patches and an option use a preset, and the program does as it did' alone used
check 'each request is one record' [ "$(requests used-state)" -eq 2 ]
"$scripthost" events --state used-state --json --kind startup >startup.jsonl
check 'a second preset is there, too' [ "$(grep -c '"name":"main"' startup.jsonl)" -eq 1 ]
printf 'patch { id = "copied", api = 1 }\nuse "argument-parser"\nuse "argument-parser"\n' >copied.lua
cat >argument-parser.lua <<'LUA'
patch { id = "mine", api = 1 }
span { on = "ArgumentParser.ParsableCommand.run()", name = "command {self.@type}" }
LUA
capture alone swift-format lint a.swift
capture copied "$scripthost" run --state copied-state --patches copied.lua -- swift-format lint a.swift
same_run 'a copy beside the patch leaves the program as it was' alone copied
"$scripthost" events --state copied-state --json >copied.jsonl
says 'the copy takes the place of ours' copied.jsonl '"name":"command swift_format.SwiftFormatCommand.Lint"'
check 'once' [ "$(grep -c '"kind":"span"' copied.jsonl)" -eq 1 -a "$(grep -c '"kind":"screen"' copied.jsonl)" -eq 0 ]
for refused in 'use "nio.htp"|did you mean' 'use "../a"|has letters, digits' 'use(5)|takes the name of a preset'; do
  printf 'patch { id = "w", api = 1 }\n%s\n' "${refused%%|*}" >refused.lua
  capture refused "$scripthost" run --state refused --patches refused.lua -- swift-format a.swift
  says "${refused%%|*} is told" refused.err "${refused##*|}"
done

# It stays as long as a patch uses it, in a program that runs.
cat >slow.swift <<'SWIFT'
import Glibc
@inline(never) func tick(_ number: Int) { usleep(20000) }
var number = 0
while access("stop", F_OK) != 0 { tick(number); number += 1 }
SWIFT
swiftc -O -module-name slow slow.swift -o slow
printf 'patch { id = "ticks", api = 1 }\nmetric "ticks" { on = "slow.tick(_:)", counter = true }\n' >uses/ticks.lua
printf 'patch { id = "one", api = 1 }\nuse "ticks"\n' >uses/one.lua
printf 'patch { id = "two", api = 1 }\nuse "ticks"\n' >uses/two.lua
mkdir apart && mv uses/ticks.lua uses/one.lua uses/two.lua apart/
"$scripthost" run --state live --patches apart/one.lua --patches apart/two.lua -- ./slow >slow.out 2>live.err &
slow=$!
control() { timeout 20 "$scripthost" "$@" --state live >control.out 2>&1; }
for _ in $(seq 100); do control patch list $slow && break; sleep 0.1; done
says 'a preset in use is in the list' control.out ticks
check 'one of its users goes' control patch unload $slow one
control hooks $slow || true
says 'it stays' control.out 'slow.tick(_:)'
check 'the other goes' control patch unload $slow two
control hooks $slow || true
check 'it is gone' bash -c '! grep -q "slow.tick" control.out'
touch stop; wait $slow || true
printf 'patch { id = "three", api = 1 }\nlocal one, two = use "ticks", use "ticks"\nprint(tostring(one), one:remove(), #hooks(), two:remove(), two:remove(), #hooks())\n' >apart/three.lua
capture removed "$scripthost" run -v --state removed --patches apart/three.lua -- ./slow
says 'what use answers ends that use, and the preset with the last one' removed.err $'preset \'ticks\'\ttrue\t1\ttrue\tfalse\t0'

# A language server: each request is a span, its answers are the same.
capture alone timeout 100 python3 -B "$here/language.py" alone.answers a.swift sourcekit-lsp
ended 'the language server answers alone' alone
capture lsp timeout 100 python3 -B "$here/language.py" lsp.answers a.swift "$scripthost" run --state lsp --preset lsp -- sourcekit-lsp
ended 'and with the preset lsp' lsp
same 'its answers are the same' alone.answers lsp.answers
"$scripthost" events --state lsp --kind span --json >lsp.jsonl
check 'each request is one server span' [ "$(grep -c '"kind":"server"' lsp.jsonl)" -eq 8 -a "$(wc -l <lsp.jsonl)" -eq 8 ]
check 'five of them were hovers' [ "$(grep -c '"name":"LanguageServerProtocol.HoverRequest"' lsp.jsonl)" -eq 5 ]
says 'an answer that is an error' lsp.jsonl '"status":"error"'

# Names that are looked up, and stalls.
cat >lookup.swift <<'SWIFT'
import Glibc
var found: UnsafeMutablePointer<addrinfo>?
print(getaddrinfo("localhost", "80", nil, &found))
var descriptor = pollfd(fd: -1, events: 0, revents: 0)
for _ in 0..<3 { poll(&descriptor, 1, 1) }
// A connection to itself.
let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
var place = sockaddr_in()
place.sin_family = sa_family_t(AF_INET)
place.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
var length = socklen_t(MemoryLayout<sockaddr_in>.size)
withUnsafeMutablePointer(to: &place) {
  // A sockaddr_in is a sockaddr of its family.
  $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
    guard bind(server, place, length) == 0, listen(server, 1) == 0, getsockname(server, place, &length) == 0 else { return print("no server") }
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    print(connect(client, place, length), accept(server, nil, nil) > client, connect(client, place, length))
  }
}
SWIFT
for level in -Onone -O; do
  swiftc $level lookup.swift -o lookup
  capture lookup "$scripthost" run --state "lookup$level" --preset c.dns --preset stalls --preset c.connect --preset c.accept -- ./lookup
  ended "$level: c.dns, c.connect, c.accept and stalls beside each other" lookup
  "$scripthost" events --state "lookup$level" --kind span --json >lookup.jsonl
  says "$level: a name that is looked up is a span" lookup.jsonl '"name":"dns localhost"'
  check "$level: connections that are made are spans" [ "$(grep -c '"name":"connect".*"result":0' lookup.jsonl)" -ge 1 ]
  check "$level: one that fails has its reason" grep -q '"name":"connect".*"errno":106.*"result":-1' lookup.jsonl
  check "$level: of one that succeeds no errno is told" bash -c 'grep "\"name\":\"connect\".*\"result\":0" lookup.jsonl | grep -q "\"errno\":null" && ! grep "\"name\":\"connect\".*\"result\":0" lookup.jsonl | grep -q "\"errno\":[0-9]"'
  check "$level: a connection that is taken is a span" grep -qE '"name":"accept".*"kind":"server".*"listener":[0-9]+,"descriptor":[0-9]+' lookup.jsonl
done

# --apm alone: start-up, requests, a stall, the crash at the end, and the report with all of it.
swiftc -swift-version 5 -O -Xcc -fno-omit-frame-pointer -module-name whole "$here/whole.swift" -o whole 2>swiftc.log || bad 'a program that crashes is built' "$(cat swiftc.log)"
capture whole env SWIFT_BACKTRACE=enable=no timeout 60 "$scripthost" run --apm --state whole-state -- ./whole "$url"
ended '--apm: the program crashes as it would' whole 132
"$scripthost" events --state whole-state --json >whole.jsonl
for stage in process loader host main; do check "--apm: the stage '$stage'" [ "$(grep -c "\"kind\":\"startup\",\"name\":\"$stage\"" whole.jsonl)" -eq 1 ]; done
check '--apm: the request' [ "$(grep -c '"kind":"network"' whole.jsonl)" -eq 1 ]
check '--apm: the stall, with its stack' grep -q '"kind":"stall","name":"main".*whole.countReceipts()' whole.jsonl
"$scripthost" report --state whole-state -o whole.html 2>whole.said
says '--apm: the report is told to have the crash' whole.said '1 crash'
timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --enable-logging=stderr --dump-dom "file://$work/whole.html" >whole.dom 2>browser.log || true
for section in startup network stalls crashes flame; do says "--apm: the report shows $section" whole.dom "id=\"$section\""; done
says '--apm: the crash with its message' whole.dom 'the till is empty'
says '--apm: and its stack' whole.dom 'whole.closeTheTill'
says '--apm: and what happened before' whole.dom 'request GET 127.0.0.1'
check 'the console is silent' [ "$(grep -c CONSOLE browser.log)" -eq 0 ]

# The crash goes to a collector, once.
python3 "$here/../export/collector.py" "$work/collector.port" "$work/taken" >collector.log 2>&1 &
collector=$!
trap 'kill $server $collector ${slow:-} 2>/dev/null || true; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
until [ -s collector.port ]; do kill -0 $collector && sleep 0.1; done
for round in first second; do
  : >taken
  capture $round timeout 60 "$scripthost" export --state whole-state --otlp "http://127.0.0.1:$(cat collector.port)"
  ended "the $round export" $round
  python3 - >"$round.crashes" <<'PY'
import json
for line in open("taken"):
    request = json.loads(line)
    for resource in request["body"].get("resourceLogs", []):
        about = {a["key"]: next(iter(a["value"].values())) for a in resource["resource"]["attributes"]}
        for log in resource["scopeLogs"][0]["logRecords"]:
            if log.get("eventName") != "exception": continue
            has = {a["key"]: next(iter(a["value"].values())) for a in log["attributes"]}
            print(about["service.name"], len(about["service.version"]) > 8, "telemetry.sdk.version" in about, request["unknown"], log["severityText"], has["exception.type"],
                  "the till is empty" in has["exception.message"], "closeTheTill" in has["exception.stacktrace"], len(has["scripthost.breadcrumbs"]["values"]) > 1)
PY
done
says 'a crash is a log with exception.*' first.crashes 'whole True True False FATAL SIGILL True True True'
check 'which is sent once' [ "$(wc -l <first.crashes)" -eq 1 -a ! -s second.crashes ]
finish
