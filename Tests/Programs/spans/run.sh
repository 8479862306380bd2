#!/usr/bin/env bash
# Spans of nested calls, synchronous and in tasks, their context and samples; metrics.
# SPANS_TASKS: how many tasks at once in the optimised program (10000); in the other one as many, at most 10000.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

tasks=${SPANS_TASKS:-10000}
cd "$work"

# told PATCH MODE [COUNT]: what the records of a run say is right.
told() {
  local name=$1
  # All of it is kept: a crowd writes more than the limit that the journal has by itself.
  capture "$name" timeout 120 "$scripthost" run --journal-size 1GB --state "state-$name$level" --patches "$here/patches/$name.lua" -- ./trip "${@:2}"
  ended "$level: $name: the program ends well" "$name"
  "$scripthost" events --state "state-$name$level" --json >"$name.jsonl"
  judged "$level: $name" python3 "$here/check.py" "$name" "$name.jsonl" "${3:-0}"
}

for level in -Onone -O; do
  swiftc -swift-version 6 $level -parse-as-library -module-name Trip "$here/trip.swift" -o trip 2>swiftc.log || { cat swiftc.log; bad "$level: the program is built"; continue; }
  told calls calls
  told slow slow
  told sample many 3000
  crowd=$tasks
  [ $level = -O ] || crowd=$((tasks > 10000 ? 10000 : tasks))
  told tasks tasks "$crowd"
  told metrics many 3000
  told queues queues
  capture alone ./trip tasks "$crowd"
  unchanged "$level: spans leave the program as it was" alone tasks
  # What a handler around an async call takes is measured over all of its steps, without the time that the original takes.
  printf 'patch { id = "around", api = 1 }\nmethod "Trip.step(_:_:)":around(function(call) return call:original() end)\n' >around.lua
  capture around timeout 120 "$scripthost" run --state "state-around$level" --patches around.lua -- ./trip tasks "$crowd"
  unchanged "$level: a handler around async calls leaves the program as it was" alone around
  "$scripthost" query --state "state-around$level" --format csv \
    "SELECT name, value FROM metrics WHERE attributes ->> 'verb' = 'around' AND value > 0 GROUP BY name HAVING time = max(time)" >around.csv
  says "$level: its calls are told" around.csv "scripthost.hook.calls,$((5 * crowd))"
  says "$level: and what it took of them" around.csv 'scripthost.hook.time,'
  # Whoever started the program was in a trace.
  TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 capture incoming \
    "$scripthost" run --state "state-incoming$level" --patches "$here/patches/sample.lua" -- ./trip many 300
  "$scripthost" events --state "state-incoming$level" --kind span --json >incoming.jsonl
  says "$level: TRACEPARENT is continued" incoming.jsonl '"parent":"b7ad6b7169203331"'
  TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00 capture unrecorded \
    "$scripthost" run --state "state-unrecorded$level" --patches "$here/patches/calls.lua" -- ./trip calls
  "$scripthost" events --state "state-unrecorded$level" --kind span --json >unrecorded.jsonl
  check "$level: one that its sender does not record is not recorded" bash -c '! grep -q "\"name\":\"plan" unrecorded.jsonl'
  TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00 capture unrecorded \
    "$scripthost" run --state "state-kept$level" --patches "$here/patches/slow.lua" -- ./trip slow
  "$scripthost" events --state "state-kept$level" --kind span --json >kept.jsonl
  says "$level: but for what is slow here" kept.jsonl '"name":"linger slow"'
done

"$scripthost" report --state state-calls-O -o report.html
says 'the report has the spans' report.html 'plan bc'
"$scripthost" export --state state-tasks-O --perfetto trace.json >export.log 2>&1 || bad 'an export' "$(cat export.log)"
says 'Perfetto gets them' trace.json '"journey"'
finish
