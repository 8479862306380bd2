#!/usr/bin/env bash
# What was recorded goes to others whole: a collector that fails first, Prometheus, Perfetto, speedscope, SQLite, a page.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"

traces=400
state=$work/state
mkdir -p "$state"
"$products/record-sample" "$state/journal" $traces >/dev/null
export_() { timeout 60 "$scripthost" export --state "$state" "$@"; }
judge() { judged '' python3 "$here/check.py" "$@"; }
# start_collector NAME ANSWER…: sets port.
start_collector() {
  python3 "$here/collector.py" "$work/$1.port" "$work/$1.taken" "${@:2}" >"$work/$1.log" 2>&1 &
  collector=$!
  for _ in $(seq 100); do [ -s "$work/$1.port" ] && break; sleep 0.1; done
  port=$(cat "$work/$1.port" 2>/dev/null || echo 1)
}
trap 'kill ${collector:-} ${server:-} 2>/dev/null || true; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT

printf '#!/bin/sh\necho "$1" >"%s"\n' "$work/shown" >browser.sh && chmod +x browser.sh

# A collector that is busy, resets, is slow: everything arrives, once.
start_collector first 503 429 reset slow
capture otlp export_ --otlp "http://127.0.0.1:$port" --header X-Token=t1
check 'a collector that fails first gets everything in the end' grep -qx 0 otlp.status
judge otlp first.taken $traces
: >first.taken
capture again export_ --otlp "http://127.0.0.1:$port" --header X-Token=t1
check 'a second export sends what is new, which is nothing' [ ! -s first.taken ]
"$products/record-sample" "$state/journal" 1 >/dev/null
capture more export_ --otlp "http://127.0.0.1:$port" --header X-Token=t1
check 'and then what another run recorded' [ "$(grep -c . first.taken)" -eq 3 ]
kill "$collector"

# An exporter that is killed while it sends goes on where the collector took the last body: nothing is lost.
rm -rf "$state/export" && : >first.taken
start_collector killed slow slow slow
"$scripthost" export --state "$state" --otlp "http://127.0.0.1:$port" --header X-Token=t1 >/dev/null 2>&1 &
exporter=$!
for _ in $(seq 100); do [ -s killed.taken ] && break; sleep 0.05; done
kill -9 $exporter; wait $exporter 2>/dev/null || true
capture resumed export_ --otlp "http://127.0.0.1:$port" --header X-Token=t1
ended 'an exporter that was killed goes on when it is started again' resumed
distinct=$("$scripthost" events --json --state "$state" | sed 's/"links":\[[^]]*\]//' | grep -o '"span":"[0-9a-f]*"' | sort -u | wc -l)
# Requests have no identifiers of their own here.
requests=$("$scripthost" events --json --state "$state" --kind network | wc -l)
judged '' python3 "$here/resumed.py" killed.taken $((distinct + requests))
kill "$collector"

# Where nothing was recorded each says so, and makes what there is to make.
says_nothing() {
  ended "no journal: $1 ends as events does" nowhere
  says "no journal: $1 says so" nowhere.err "nothing was recorded yet in '$work/nowhere/journal'"
}
capture nowhere "$scripthost" report --state "$work/nowhere" -o nowhere.html
says_nothing report
capture nowhere "$scripthost" query --state "$work/nowhere" 'SELECT count(*) FROM records'
says_nothing query
capture nowhere "$scripthost" export --state "$work/nowhere" --jsonl -
says_nothing export

# One that is not there: nothing is lost, and the sentence says so.
rm -rf "$state/export"
capture down timeout 5 "$scripthost" export --state "$state" --otlp http://127.0.0.1:9 --follow
check 'a collector that is not there is told once' [ "$(grep -c 'trying again' down.err)" -eq 1 ]
check 'and no record counts as sent' [ ! -e "$state/export" ]
start_collector refusing 400 400 400
capture refused export_ --otlp "http://127.0.0.1:$port"
check 'a collector that refuses is not asked for ever' grep -q 'refused by the collector' refused.err
kill "$collector"

rm -rf "$state" && "$products/record-sample" "$state/journal" $traces >/dev/null
check 'perfetto is written' export_ --perfetto trace.json
judge perfetto trace.json $traces
check 'and in its own form' export_ --perfetto trace.pftrace
judge packets trace.pftrace $traces
check 'speedscope is written' export_ --speedscope profile.json
judge speedscope profile.json
export_ --folded - >folded 2>/dev/null
check 'folded stacks nest spans' grep -qx "shop;GET /cart;query $((traces * 2000000))" folded
check 'sqlite is written' export_ --sqlite shop.db
check 'and written again, with no row twice' export_ --sqlite shop.db
check 'sqlite3 reads it' [ "$(sqlite3 shop.db 'SELECT count(*) FROM spans')" -eq $((3 * traces + 1)) ]
check 'jsonl is what events prints' cmp <(export_ --jsonl - 2>/dev/null) <("$scripthost" events --json --state "$state" 2>/dev/null)

asked() { "$scripthost" events --state "$state" --json --where "$1" 2>/dev/null | wc -l; }
check 'events are chosen by a condition' [ "$(asked "name == 'checkout' and total > 10")" -eq 1 -a "$(asked "name == 'checkout' and total > 20")" -eq 0 ]
check 'on what the record is' [ "$(asked "kind == 'span' and name == 'query'")" -eq $traces ]
check 'on a field that is called as something of the record' [ "$(asked "fields.kind == 'client' and name == 'query'")" -eq $traces ]
check 'on fields within fields' [ "$(asked "kind == 'span' and attributes.items < 3 and contains(attributes.text, 'ün')")" -eq 9 ]
capture condition "$scripthost" events --state "$state" --where 'total >'
check 'a wrong condition is one sentence' grep -q "'--where': 'total >' ends where a value is expected" condition.err
query() { "$scripthost" query --state "$state" "$@"; }
check 'query answers' [ "$(query --format csv 'SELECT count(*) FROM spans WHERE name = "render" AND status = "error"' | tail -n 1 | tr -d '\r')" -eq $(((traces + 6) / 10)) ]
check 'query reads fields' [ "$(query --format json "SELECT fields ->> 'total' AS total FROM events")" = '{"total":12.5}' ]
capture wrong query 'SELEC 1'
check 'a wrong statement is one sentence' grep -qx 'scripthost: near "SELEC": syntax error, in: SELEC 1' wrong.err
capture column query 'SELECT nme, total FROM spans WHERE name = 1'
check 'a column that is not there: the columns of the table in question' grep -qx 'scripthost: no such column: nme, in: SELECT nme, total FROM spans WHERE name = 1; spans has id, session, trace, span, parent, kind, name, start, duration, status, message, attributes' column.err
capture table query 'SELECT * FROM event'
check 'a table that is not there: the tables there are' grep -qx 'scripthost: no such table: event, in: SELECT \* FROM event; there are events, logs, metrics, records, requests, screens, sessions, spans, stalls' table.err
capture writes query 'DELETE FROM records'
check 'a statement that writes is refused' grep -q "only statements that read are run, such as SELECT; found 'DELETE FROM records'" writes.err
for statement in "ATTACH '$work/other.db' AS other" 'PRAGMA journal_mode = OFF' 'CREATE TEMP TABLE t (a)' "VACUUM INTO '$work/copy.db'"; do
  capture writes query "$statement"
  check "a statement that opens or changes something is refused: ${statement%% *}" grep -q 'only statements that read are run' writes.err
done
check 'and nothing is written' [ ! -e other.db -a ! -e copy.db ]
check 'what a table has can be asked' [ "$(query --format csv 'PRAGMA table_info(spans)' | wc -l)" -gt 5 ]
check 'a table function of SQLite reads fields' [ "$(query --format csv "SELECT value FROM events, json_each(events.fields) WHERE key = 'total'" | tail -n 1 | tr -d '\r')" = 12.5 ]
check 'blanks and comments behind a statement are none' [ "$(query --format csv 'SELECT 1 /* one */ ; -- and no other' | tail -n 1 | tr -d '\r')" = 1 ]
capture second query 'SELECT 1; SELECT 2'
check 'a second statement is not left out in silence' grep -q "one statement is run at a time; 'SELECT 2' follows the first" second.err

check 'a report is made' "$scripthost" report --state "$state" -o report.html
check 'and shown by the browser of the user' env BROWSER="$work/browser.sh" "$scripthost" report --state "$state" -o shown.html --open
same 'with the page as what it opens' <(echo "$work/shown.html") shown
judge report report.html

# The page on a phone and in the dark: nothing is wider than the screen, and text and ground are the dark ones.
sed 's#</body>#<script>document.body.setAttribute("data-fits", document.documentElement.scrollWidth <= window.innerWidth); document.body.setAttribute("data-ground", getComputedStyle(document.body).backgroundColor);</script></body>#' report.html >measured.html
for light in '' --force-dark-mode; do
  timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/phone" --window-size=390,844 ${light:+$light --blink-settings=preferredColorScheme=0} --dump-dom "file://$work/measured.html" >"phone$light" 2>/dev/null || true
  says "on a phone nothing is wider than the screen${light:+, in the dark}" "phone$light" 'data-fits="true"'
done
says 'the page is light' phone 'data-ground="rgb(255, 255, 255)"'
says 'and dark where the user wants it' phone--force-dark-mode 'data-ground="rgb(20, 24, 30)"'

# In a real browser: the script puts every section into the page and says nothing on the console.
timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --enable-logging=stderr --dump-dom "file://$work/report.html" >dom 2>browser.log || true
check 'the page has its sections in a browser' grep -q 'id="flame"' dom
check 'what was tracked is among the screens' grep -q '<div class="row" title="checkout  total=12.5' dom
check 'names are text there' grep -q 'Ada &lt;/script&gt;' dom
check 'the console is silent' [ "$(grep -c CONSOLE browser.log)" -eq 0 ]
says 'a histogram of times has times' dom '<td class="n">2.0 ms</td>'
says 'a trace is told with what its root has' dom 'items=0  password=&lt;masked&gt;'
# What happened twice is one row, with a mark for each time.
"$products/record-sample" "$work/twice/journal" 1 >/dev/null
"$products/record-sample" "$work/twice/journal" 1 >/dev/null
"$scripthost" report --state "$work/twice" -o twice.html 2>/dev/null
timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --dump-dom "file://$work/twice.html" >twice.dom 2>/dev/null || true
says 'events of one name are one row' twice.dom '<div class="row" title="checkout  ×2">'
check 'with a mark for each' [ "$(grep -o '<i class="event"[^>]*title="[0-9:.]*  checkout  total=12.5' twice.dom | wc -l)" -eq 2 ]
check 'and so are visits to one screen' grep -q 'title="/Home/Cart  ×2"' twice.dom

export_ --prometheus 127.0.0.1:0 2>served &
server=$!
for _ in $(seq 100); do grep -q port served && break; sleep 0.1; done
port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' served)
# Somebody who connects and says nothing must not keep others out for long.
exec 8<>"/dev/tcp/127.0.0.1/$port"
python3 -c "import urllib.request,sys; sys.stdout.write(urllib.request.urlopen('http://127.0.0.1:$port/metrics', timeout=10).read().decode())" >scraped || true
exec 8<&-
judge prometheus scraped

# Prometheus itself scrapes it, and is asked.
asked=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'global: { scrape_interval: 1s }\nscrape_configs:\n- { job_name: shop, static_configs: [ { targets: [ "127.0.0.1:%s" ] } ] }\n' "$port" >prometheus.yml
prometheus --config.file=prometheus.yml --storage.tsdb.path="$work/tsdb" --web.listen-address="127.0.0.1:$asked" >prometheus.log 2>&1 &
prometheus=$!
trap 'kill ${collector:-} ${server:-} ${prometheus:-} 2>/dev/null || true; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
judged '' python3 "$here/scraped.py" "$asked"
kill "$prometheus" && wait "$prometheus" 2>/dev/null || true
kill "$server"

capture none "$scripthost" export --state "$state"
check 'no destination: usage' grep -q 'name one destination' none.err
capture both "$scripthost" export --state "$state" --folded a --perfetto b
check 'two destinations: usage' grep -qx 2 both.status
capture address "$scripthost" export --state "$state" --prometheus everywhere
check 'a wrong address is one sentence' grep -q "'everywhere' is no address" address.err
finish
