#!/usr/bin/env bash
# Every kind of task of URLSession is one record, which agrees with what the server saw.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
python3 -u "$here/server.py" seen >port &
server=$!
trap 'kill $server ${packets:-} ${secure:-} 2>/dev/null; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
for _ in $(seq 200); do [ -s port ] && break; sleep 0.1; done
url=http://127.0.0.1:$(cat port)/
judge() { judged "$1" python3 "$here/check.py" "$1.events" seen "$2"; }
cat >traced.lua <<'LUA'
patch { id = "requests", version = "1.0.0", api = 1 }
network { traceparent = true, hosts = "127.*" }
LUA

for sampled in yes no; do
  share='100%'
  [ $sampled = yes ] || share='0%'
  sed "s/100%/$share/" >below-$sampled.lua <<'LUA'
patch { id = "below", version = "1.0.0", api = 1 }
network { traceparent = true }
span { on = "Shop.orders(_:_:)", sample = "100%" }
span { on = "Shop.asks(_:_:)", sample = "100%" }
LUA
done

for level in -Onone -O; do
  swiftc -swift-version 6 $level -module-name Shop -parse-as-library "$here/client.swift" -o client 2>build.log || bad "$level: it builds" "$(tail -n 3 build.log)"
  cp client "client$level"
  : >seen
  capture "plain$level" timeout 60 "$scripthost" run --state state --events "plain$level.events" --network -- ./client "$url"
  ended "$level: the program goes on as it did" "plain$level"
  check "$level: without a word" [ ! -s "plain$level.err" ]
  judge "plain$level" no
  : >seen
  capture "traced$level" timeout 60 "$scripthost" run --state state --events "traced$level.events" --patches traced.lua -- ./client "$url"
  ended "$level: so it does with headers put in" "traced$level"
  judge "traced$level" yes
  for sampled in yes no; do
    : >seen
    capture "below$level" timeout 60 "$scripthost" run --state below --events "below$level.events" --patches below-$sampled.lua -- ./client "$url" spans
    ended "$level: requests below spans" "below$level"
    judged "below$level" python3 "$here/below.py" "below$level.events" seen $sampled
    rm -f "below$level.events"
  done
done
# One run in 61 is measured: of functions that are seldom called perhaps none.
told() { "$scripthost" query --state state --format csv "SELECT attributes ->> 'on', max(value) FROM metrics WHERE name = 'scripthost.hook.$1' AND attributes ->> 'verb' = 'watch' GROUP BY 1"; }
told calls >watch.csv
for hook in 'URLSessionTask.resume()' '_NativeProtocol.startNewTransfer(with:)' 'curl_easy_setopt'; do check "calls that the watch sees are told: $hook" grep -qF "$hook" watch.csv; done
told time >watch.csv
check 'what the watch takes of a call is told: curl_easy_setopt' grep -qF curl_easy_setopt watch.csv
check 'requests can be asked for' [ "$("$scripthost" query --state state --format csv 'SELECT count(*) FROM requests' | tail -n 1 | tr -d '\r')" -eq 76 ]

# Delays planted before libcurl has the request, the look-up, the connection, the first byte and the rest: each phase is as long. A busy machine adds delays of its
# own: one of a few runs has to be right.
clang -shared -fPIC -O1 "$here/delays.c" -o delays.so -ldl
planted() { python3 "$here/planted.py" planted.events seen delays; }
# What the kernel saw of the connections, where it may be asked.
captured() { [ ! -s packets ] || python3 "$here/captured.py" planted.events packets; }
for level in -Onone -O; do
  for _ in 1 2 3 4 5; do
    : >seen
    rm -f planted.events packets listens delays
    python3 -u "$here/packets.py" packets "$(cat port)" >listens 2>packets.log &
    packets=$!
    while [ ! -s listens ] && kill -0 $packets 2>/dev/null; do sleep 0.05; done
    capture planted env LD_PRELOAD="$work/delays.so" DELAY_LOG="$work/delays" DELAY_QUEUE=30 DELAY_LOOKUP=60 DELAY_CONNECT=45 timeout 60 "$scripthost" run --state planted --events planted.events --network -- \
      "./client$level" "http://shop.test:$(cat port)/" 9
    { kill $packets && wait $packets; } 2>/dev/null || true
    status=0
    planted >planted.said 2>&1 || status=1
    captured >captured.said 2>&1 || status=1
    [ $status -ne 0 ] || break
  done
  ended "$level: a client whose calls are slow" planted
  judged "planted$level" cat planted.said
  if [ -s packets ]; then judged "planted$level" cat captured.said; else echo '        packets may not be captured here: the phases are held against the server alone'; fi
done

# Requests go by TLS, which the server agrees on 70 ms late.
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=shop.test -addext subjectAltName=DNS:shop.test 2>openssl.log ||
  bad 'a certificate is made' "$(tail -n 3 openssl.log)"
python3 -u "$here/server.py" agreed cert.pem key.pem 70 >secure 2>secure.log &
secure=$!
for _ in $(seq 200); do [ -s secure ] && break; sleep 0.1; done
for level in -Onone -O; do
  for _ in 1 2 3 4 5; do
    : >agreed
    rm -f planted.events delays
    capture secured env LD_PRELOAD="$work/delays.so" TRUSTED="$work/cert.pem" DELAY_LOG="$work/delays" DELAY_QUEUE=30 DELAY_LOOKUP=60 DELAY_CONNECT=45 timeout 60 "$scripthost" run --state secured \
      --events planted.events --network -- "./client$level" "https://shop.test:$(cat secure)/" 9
    ! python3 "$here/planted.py" planted.events agreed delays >secured.said 2>&1 || break
  done
  ended "$level: a client of a server with TLS" secured
  judged "secured$level" cat secured.said
done
# A certificate that nobody trusts.
capture untrusted env LD_PRELOAD="$work/delays.so" timeout 60 "$scripthost" run --state untrusted --events untrusted.events --network -- ./client-O "https://shop.test:$(cat secure)/" 1
ended 'a server that is not trusted' untrusted
says 'is an error, of the name that was looked up' untrusted.events '"error":"NSURLErrorDomain '
check 'with no TLS agreed and no status' bash -c '! grep -q "tls_ns\|\"status\"" untrusted.events'
kill $secure

# Foundation here resumes no download: the task that is made of the data ends at once, with an error of its own, and is a record.
cat >resumed.swift <<'SWIFT'
import Foundation
import FoundationNetworking
let session = URLSession(configuration: .ephemeral)
let done = DispatchSemaphore(value: 0)
let task = session.downloadTask(with: URL(string: CommandLine.arguments[1] + "wait/5000/0")!) { _, _, _ in done.signal() }
task.resume()
usleep(50_000)
task.cancel { data in
  print("data to resume with:", data?.count ?? 0)
  done.signal()
}
done.wait()
done.wait()
session.downloadTask(withResumeData: Data(count: 8)) { _, _, error in
  print("resumed:", (error as? URLError)?.code.rawValue ?? 0)
  done.signal()
}.resume()
done.wait()
SWIFT
swiftc -O resumed.swift -o resumed 2>build.log || bad 'a client that resumes is built' "$(tail -n 3 build.log)"
# Foundation ends the program now and then, alone too: its registry may have let go of a task that fails at once before it asks for it.
again() { for _ in 1 2 3 4 5; do rm -rf "$1.events" "$1-state"; capture "$@"; [ "$(cat "$1.status")" = 132 ] || break; done; }
again alone timeout 60 ./resumed "$url"
again resumed timeout 60 "$scripthost" run --state resumed-state --events resumed.events --network -- ./resumed "$url"
unchanged 'a download that is resumed goes on as it did' alone resumed
check 'each of its tasks is one record' [ "$(grep -c '"kind":"network"' resumed.events)" -eq 2 ]
says 'the one that was cancelled' resumed.events 'NSURLErrorDomain -999'
says 'and the one that was resumed, with what the program was told' resumed.events "\"error\":\"NSURLErrorDomain $(sed -n 's/^resumed: //p' alone.out)\""

# A Foundation that lacks one of the functions: none is hooked, which is said.
foundation=$(ldd ./client-O | sed -n 's/.*libFoundationNetworking.so => \([^ ]*\) .*/\1/p')
mkdir other
cp "$foundation" other
: >seen
capture copied env LD_LIBRARY_PATH="$work/other" timeout 60 "$scripthost" run --state copied --events copied.events --network -- ./client-O "$url"
check 'of a copy that lacks nothing requests are recorded' grep -q '"kind":"network"' copied.events
python3 - "$foundation" other/libFoundationNetworking.so <<'PY'
import sys
text = open(sys.argv[1], "rb").read()
assert b"startNewTransfer" in text
open(sys.argv[2], "wb").write(text.replace(b"startNewTransfer", b"startOldTransfer"))
PY
for asked in --network '--preset foundation.network'; do
  : >seen
  capture lacking env LD_LIBRARY_PATH="$work/other" timeout 60 "$scripthost" run -v --state lacking --events lacking.events $asked -- ./client-O "$url"
  ended "$asked: a program whose Foundation lacks a function goes on" lacking
  says "$asked: which one is said" lacking.err "'FoundationNetworking._NativeProtocol.startNewTransfer(with:)' is not in the program"
  check "$asked: nothing is recorded" bash -c '! grep -q "\"kind\":\"network\"" lacking.events'
  check "$asked: and nothing else is hooked" bash -c '! grep -q "scripthost.hook.calls" lacking.events'
done

sed -i 's/127\.\*/*.internal/' traced.lua
: >seen
capture elsewhere timeout 60 "$scripthost" run --state elsewhere --events elsewhere.events --patches traced.lua -- ./client "$url"
check 'other hosts get no header' bash -c '! grep -v wait/20/0 seen | grep -q "\"trace\": \"00"'

echo 'print("done")' >plain.swift
swiftc plain.swift -o plain
capture none timeout 60 "$scripthost" run --state none --network -- ./plain
ended 'a program without URLSession runs' none
says 'and is told that nothing is recorded' none.err 'does not use URLSession'
for refused in 'network { hosts = 5 }|is a pattern' 'network { host = "a" }|unknown field' 'network()|takes a table'; do
  printf 'patch { id = "w", version = "1", api = 1 }\n%s\n' "${refused%%|*}" >refused.lua
  capture refused timeout 20 "$scripthost" run --state refused --patches refused.lua -- ./plain
  says "'${refused%%|*}' is told" refused.err "${refused##*|}"
done
finish
