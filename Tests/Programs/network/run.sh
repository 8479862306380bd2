#!/usr/bin/env bash
# Foundation as programs use it: requests to a local server, files, JSON, notifications, processes, and its values.
# NETWORK_COUNT: how many requests with a wrapped handler (200; a third and all of them are compared).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

count=${NETWORK_COUNT:-200}
cd "$work"
python3 -u "$here/server.py" >port &
server=$!
trap 'kill $server; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
until [ -s port ]; do sleep 0.1; done
cp -r "$here/patches" patches
checked patches/calls/patch.lua
mv patch.lua patches/calls
url=http://127.0.0.1:$(cat port)/

# run NAME COMMAND…: under the patch of that name; NAME.said is what its handlers printed.
run() {
  capture "$1" timeout 60 "$scripthost" run -v --state state --events "$1$level.events" --patches "patches/$1" -- "${@:2}"
  sed -n 's/^scripthost: [^ ]*patch.lua:[0-9]*: //p' "$1.err" >"$1.said"
}
# quiet NAME: nothing but that the patch was loaded was worth a message.
quiet() { check "$level: the patch '$1' had no complaints" bash -c '! grep -v ": loaded, [0-9]* hook\|$2" "$1"' - "$1.err" "$not_proven"; }

for level in -Onone -O; do
  swiftc -swift-version 6 $level -module-name Shop -parse-as-library "$here/client.swift" -o client
  capture alone ./client "$url"
  ended "$level: the program itself runs" alone

  run observe ./client "$url"
  unchanged "$level: what is observed goes on as it did" alone observe
  same "$level: scripts see what Foundation is given and gives" "$here/expected/observe" observe.said

  run change ./client "$url"
  same "$level: what scripts give is what the program gets" "$here/expected/change" change.out
  quiet change

  run post ./client "$url"
  same "$level: a notification is posted with other contents" <(sed 's/OrderPlaced 7/Second 8/' alone.out) post.out
  quiet post
  run posting ./client "$url"
  if [ $level = -Onone ]; then
    same "$level: in the function the program calls, too" <(sed 's/OrderPlaced 7/OrderPlaced 7 and more/' alone.out) posting.out
  else
    unchanged "$level: a function inlined into the program does as it did" alone posting
    says "$level: and that it was not called is said" posting.err "was hooked and never called"
  fi

  run calls ./client "$url"
  unchanged "$level: calls by scripts leave the program as it was" alone calls
  checks=$((checks + $(grep -c '^ok' calls.said)))
  while IFS= read -r line; do bad "$level: ${line#WRONG   }"; done < <(grep '^WRONG' calls.said)
  check "$level: the script came to its end" [ "$(tail -n 1 calls.said)" = 'ok      this process' ]

  run track ./client "$url"
  unchanged "$level: rules leave the program as it was" alone track
  sed -n 's/.*"kind":"event","name":\(.*\)}$/\1/p' "track$level.events" | sed "s|$url|SERVER/|; s|127.0.0.1:1/|REFUSED/|" >track.said
  same "$level: rules record what Foundation is given and gives" "$here/expected/track" track.said

  capture trace "$scripthost" trace --state state -o trace.text -e 'FoundationNetworking.URLSession.data*' -e 'Foundation.FileHandle.*' \
    -e 'FoundationEssentials.JSONEncoder.encode*' -e 'Shop.*' -x '**.deinit' -- ./client "$url"
  same_run "$level: a trace leaves the program as it was" alone trace
  for text in "URLSession.dataTask(with: URL(\"${url}greeting.txt\"), completionHandler: {…})" "-> <URLSessionDataTask>" \
    "URLSession.data(from: URL(\"${url}greeting.txt\"), delegate: nil)" '-> (Data(21 B "hello from the server"), <HTTPURLResponse>)' \
    'describe(Data(12 B "nothing here"), <HTTPURLResponse>, nil)' 'describe(nil, nil, URLError(' 'FileHandle.write(Data(11 B "first line\n"))' \
    '-> Data(41 B "{\"id\":7,\"item\":\"tea\",\"prices\":[1.5,2.25]}")' 'deadline(after: 2023-11-14T22:13:20.500Z)' '-> 2023-11-14T22:14:20.500Z' \
    'schedule(2023-11-14T22:13:20.500Z, at: URL("https://example.org/a?b=c"), with: Data(3 B 010203), as: 01234567-89AB-CDEF-0123-456789ABCDEF, for: 12.345)'; do
    says "$level: a trace shows $text" trace.text "$text"
  done
  capture whole "$scripthost" trace --state state -o whole.text -e 'FoundationNetworking.URLSession.**' -- ./client "$url"
  same_run "$level: so does a trace of all of URLSession ($(sed -n 1p whole.text))" alone whole

  # What handlers hold is let go when the collector comes by: no more of many than of few.
  for number in $((count / 3)) "$count"; do
    run crowd ./client "$url" "$number"
    ended "$level: $number requests end well" crowd
    says "$level: $number handlers ran through Lua, on other threads" crowd.out "requests $number good $number elsewhere $number alive "
    alive=$(sed -n 's/.* alive //p' crowd.out)
    check "$level: of $number objects their handlers held, $alive wait for the collector" [ "${alive:-1000}" -le 40 ]
    check "$level: no handler failed" bash -c '! grep "runs instead" crowd.err'
  done
  tail -n 1 crowd.err
done
finish
