#!/usr/bin/env bash
# Foundation stays what it is: plutil and a program that uses Foundation's own classes do the same with
# handlers on all of them, and a program with FoundationEssentials alone gets no other Foundation.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
# Dictionaries are written in the order of a seed that is drawn at each start.
export SWIFT_DETERMINISTIC_HASHING=1
swiftc -O "$here/foundation.swift" -o foundation
swiftc -O "$here/essentials.swift" -o essentials

all() { printf 'patch { id = "all" }\n'; printf 'method "%s":before(function() end)\n' "$@"; }
all '**' >everything.lua
mkdir none

# hooked LOG PATTERN: how many selectors of the glob were hooked.
hooked() { sed -n "s/.*'$2': [0-9]* matched, \([0-9]*\) hooked.*/\1/p" "$1" | head -n 1; }

# MARK: plutil

printf '{"name":"box","count":3,"list":[1,2,{"a":true}],"when":"2026-01-31T07:05:00Z"}\n' >in.json
plutil -convert xml1 -o in.plist in.json
plutil -convert binary1 -o in.bin in.json
printf '<?xml version="1.0"?><plist version="1.0"><dict><key>a</key>' >broken.plist
printf 'é\xff' >garbage
# FOUNDATION_PART=N takes every Nth of these, from which on the seed says; 6 has each action and each file. Of zones and locales it takes every second pair.
part=${FOUNDATION_PART:-1} number=${SCRIPTHOST_SEED:-0}
for file in in.json in.plist in.bin broken.plist garbage nowhere; do
  for words in '-p' '-lint' '-convert xml1 -o -' '-convert json -o -' '-convert binary1 -o -' '-extract name raw' '-extract list json -o -' '-type list' '-insert x -integer 5 -o -' '-remove name -o -' '-convert swift -o -'; do
    [ $((number++ % part)) -eq 0 ] || continue
    # shellcheck disable=SC2086
    capture alone plutil $words "$file"
    for patches in none everything.lua; do
      # shellcheck disable=SC2086
      capture under "$scripthost" run --state state --patches $patches -- plutil $words "$file"
      same_run "plutil $words $file ($patches, status $(cat alone.status))" alone under
    done
  done
done
capture under "$scripthost" run -v --state state --patches everything.lua -- plutil -p in.json
sed -n "s/^scripthost: everything.lua: \('.*matched.*\)/plutil \1/p" under.err

# MARK: Foundation's own classes

all 'Foundation.FileHandle.*' 'FoundationEssentials.NotificationCenter.*' >classes.lua
capture alone ./foundation file
for patches in none everything.lua classes.lua; do
  capture under "$scripthost" run --state state --patches $patches -- ./foundation file
  same_run "FileHandle, NotificationCenter, formatters ($patches)" alone under
done
capture under "$scripthost" run -v --state state --patches classes.lua -- ./foundation file
check "FileHandle: $(hooked under.err 'Foundation.FileHandle.\*') selectors of the library are hooked" [ "$(hooked under.err 'Foundation.FileHandle.\*')" -ge 30 ]
check "NotificationCenter: $(hooked under.err 'FoundationEssentials.NotificationCenter.\*') selectors of the library are hooked" [ "$(hooked under.err 'FoundationEssentials.NotificationCenter.\*')" -ge 5 ]
cat >calls.lua <<'LUA'
patch { id = "calls" }
method "Foundation.FileHandle.*":before(function(call) print(call.selector) end)
method "FoundationEssentials.NotificationCenter.*":before(function(call) print(call.selector) end)
LUA
capture under "$scripthost" run -v --state state --patches calls.lua -- ./foundation file
for selector in 'FileHandle.write(_:)' 'FileHandle.seekToEndOfFile()' 'FileHandle.closeFile()' 'NotificationCenter.addObserver' 'NotificationCenter._post(_:subject:message:)'; do
  says "a call of $selector arrives" under.err "$selector"
done
# A handler that changes what a library's class does.
printf 'method "Foundation.FileHandle.offsetInFile.get":after(function(call) call.result = 77 end)\n' >offset.lua
capture under "$scripthost" run --state state --patches offset.lua -- ./foundation file
says "a result of a library's class is changed" under.out 'at 77'
capture under "$scripthost" trace --state state -o trace -e 'Foundation.**' -e 'FoundationEssentials.**' -- ./foundation file
same_run "a trace of all of both libraries ($(sed -n 1p trace))" alone under

# MARK: FoundationEssentials alone

all 'FoundationEssentials.**' >essentials.lua
number=${SCRIPTHOST_SEED:-0}
for zone in Europe/Berlin Asia/Kolkata Nowhere/Land; do
  number=$((number + 1))
  for locale in C.UTF-8 de_DE.UTF-8; do
    [ "$part" -eq 1 ] || [ $((number++ % 2)) -eq 0 ] || continue
    capture alone env LC_ALL=$locale ./essentials $zone
    ended "essentials in $zone, $locale: runs alone" alone
    for patches in none everything.lua essentials.lua; do
      capture under env LC_ALL=$locale "$scripthost" run --state state --patches $patches -- ./essentials $zone
      same_run "$(wc -l <alone.out) lines of time zones, locales, encodings and URLs in $zone, $locale ($patches)" alone under
    done
  done
done
same 'no other Foundation is mapped' <(printf 'mapped: libFoundationEssentials.so\n') under.err
finish
