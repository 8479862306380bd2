#!/usr/bin/env bash
# Hooks on requirements of protocols: each call of one is one event, of the method that the object has, however the witness goes to it.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
for level in $levels; do
  compile=(swiftc -swift-version 6 "$level" -wmo -suppress-warnings -I. -L. -Xlinker -rpath -Xlinker '$ORIGIN')
  "${compile[@]}" -parse-as-library -emit-library -emit-module -enable-library-evolution -module-name Base "$here/Base.swift" -o libBase.so
  "${compile[@]}" -lBase -parse-as-library -emit-library -emit-module -module-name Shop "$here/Shop.swift" -o libShop.so
  "${compile[@]}" -lShop -lBase -module-name Main "$here/main.swift" -o program
  capture run timeout 60 "$scripthost" run -v --state state --patches "$here/patch.lua" -- ./program
  ended "$level: the program ends well" run
  sed -n 's/.*: \(@ .*\)/\1/p' run.err >said
  capture traced timeout 60 "$scripthost" trace --state state -o trace.lines -e 'Shop.**' -- ./program
  ended "$level: and with every value shown" traced
  same "$level: one event for each call, of the method that was called" "$here/expected" said
done
finish
