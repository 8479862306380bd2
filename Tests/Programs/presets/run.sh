#!/usr/bin/env bash
# Presets: run --apm and run --preset on programs nobody here wrote, and on a client of URLSession.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
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

capture one "$scripthost" run --preset startup --state one -- swift-format a.swift
same_run 'one preset leaves the program as it was' alone one
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
trap 'kill $server; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
until [ -s port ]; do sleep 0.1; done
swiftc -swift-version 6 -O -parse-as-library "$here/client.swift" -o client 2>swiftc.log || bad 'the client is built' "$(cat swiftc.log)"
url=http://127.0.0.1:$(cat port)/greeting.txt
capture alone ./client "$url"
capture client "$scripthost" run --apm --state client-state -- ./client "$url"
same_run 'the client does as it did' alone client
"$scripthost" events --state client-state --json >client.jsonl
says 'an async request is a span' client.jsonl '"kind":"span","name":"GET"'
says 'a task that was resumed' client.jsonl '"name":"task resumed"'
says 'the first span ends the start' client.jsonl '"kind":"startup","name":"first"'
finish
