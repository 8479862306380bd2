#!/usr/bin/env bash
# Hooks on live objects, on subclasses, and observation, in programs that know nothing of it: swift-format, and a client of Foundation.
# What the hooks saw is compared with gdb's counts of a run without hooks, and with what the client says it did.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/library.sh"

cd "$work"
program=$(command -v swift-format)
cp "$root/Tests/Programs/counts/input.swift" one.swift
{ cat one.swift; printf 'let more = [1, 2, 3]\nfunc sum(a:Int,b:Int)->Int{return a+b}\n'; } >two.swift
{ printf '// The third.\n'; cat one.swift; } >three.swift

# run NAME COMMAND…: with the patch of that name; NAME.said is what it printed.
run() {
  capture "$1" timeout 120 "$scripthost" run -v --state state --patches "$here/patches/$1" -- "${@:2}"
  sed -n 's/^scripthost: [^ ]*patch.lua:[0-9]*: //p' "$1.err" >"$1.said"
}

capture alone "$program" one.swift two.swift three.swift
run formatter "$program" one.swift two.swift three.swift
unchanged 'swift-format: the output is the same to the byte' alone formatter
check 'swift-format: no handler failed' bash -c '! grep "runs instead" formatter.err'
sed -n 's/^COUNT //p' formatter.said >counted
python3 "$here/live.py" "$scripthost" "$program" "$work" counted one.swift two.swift three.swift >marks
marks swift-format marks
check 'swift-format: all comparisons were made' [ "$(grep -c . marks)" -ge 18 ]
sed -n 's/^REFUSED //p' formatter.said >refused
same 'swift-format: what of a printer cannot be observed, and why' "$here/expected/refused" refused

capture alone "$program" dump-configuration
run formatter "$program" dump-configuration
unchanged 'swift-format: its configuration is the same to the byte' alone formatter
sed -n 's/^TOLD //p' formatter.said >told
same 'swift-format: writes to a property of an object it uses are told' "$here/expected/configuration" told

for level in -Onone -O; do
  swiftc -swift-version 6 $level -suppress-warnings -module-name Client "$here/client.swift" -o client
  capture alone ./client
  run client ./client
  unchanged "$level: Foundation: the output is the same" alone client
  check "$level: Foundation: no handler failed" bash -c '! grep "runs instead" client.err'
  sed 's/0x[0-9a-f]*/ADDRESS/' client.said | LC_ALL=C sort >client.sorted
  same "$level: Foundation: what hooks and observers of objects and subclasses saw" "$here/expected/client" client.sorted
done
finish
