#!/usr/bin/env bash
# Scripts call the program: every kind of function, argument and mistake, with the callee in -Onone and in -O. Generic functions;
# and errors of the types that functions state.
# CALLIN_ROUNDS: rounds of 14 calls for the check of leaks (default 10000).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
checked "$here/patch.lua" "$here/generic.lua" "$here/throwing.lua"
for level in -Onone -O; do
  swiftc "$level" -wmo -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Shop "$here/Shop.swift" -o libShop.so
  swiftc "$level" -suppress-warnings -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Till "$here/main.swift" -o program
  capture run timeout 300 "$scripthost" run -v --state "state$level" --patches patch.lua -- ./program "${CALLIN_ROUNDS:-10000}"
  check "$level: the program ends well" grep -qx 0 run.status
  # The handlers print one line for each check.
  grep -ao 'ok      .*' run.err >oks || true
  checks=$((checks + $(wc -l <oks)))
  grep -ao 'WRONG   .*' run.err >wrongs || true
  while IFS= read -r line; do bad "$level: ${line#WRONG   }"; done <wrongs
  check "$level: all handlers ran to their ends" [ "$(grep -c 'ok      \(swift.try: a static\|was taken\|a member of another class\|another object is free\|its fields are read raw\|a handler.s own call\)' oks)" -eq 6 ]
  says "$level: the program's own view" run.out '["apple"] 4.0 crate 4 ["observed 0 4"]'
  read -r _ rounds _ alive _ grown < <(grep '^soak' run.out)
  echo "$level: $rounds rounds of 14 calls: $alive objects not collected yet, $grown KB grown"
  check "$level: objects are let go" [ "$alive" -lt 5000 ]
  check "$level: memory is flat" [ "$grown" -lt 2048 ]

  swiftc "$level" -wmo -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Generic "$here/Generic.swift" -o libGeneric.so
  swiftc "$level" -suppress-warnings -parse-as-library -I. -L. -lGeneric -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Main "$here/generic.swift" -o generics
  capture generic timeout 300 "$scripthost" run -v --state "state$level" --patches generic.lua -- ./generics 2000
  check "$level: the program with generic calls ends well" grep -qx 0 generic.status
  grep -ao 'ok      .*' generic.err >oks || true
  checks=$((checks + $(wc -l <oks)))
  grep -ao 'WRONG   .*' generic.err >wrongs || true
  while IFS= read -r line; do bad "$level: generic: ${line#WRONG   }"; done <wrongs
  check "$level: all handlers of generic calls ran to their ends" \
    [ "$(grep -c 'ok      \(its type is the argument.s\|a value of another type than the object.s\|the same without error\|an async generic\)' oks)" -eq 4 ]
  says "$level: what generic calls take and return ends" generic.out 'soak 2000 alive 0'
  check "$level: no handler of generic calls failed" bash -c '! grep -aq "original runs instead\|switched off" generic.err'
done

# Functions that state the type of their errors are made to throw.
for level in $levels; do
  swiftc -swift-version 6 "$level" -wmo -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Throwing "$here/Throwing.swift" -o libThrowing.so
  swiftc -swift-version 6 "$level" -suppress-warnings -parse-as-library -I. -L. -lThrowing -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Main "$here/throwing.swift" -o throwing
  capture throwing timeout 60 "$scripthost" run -v --state "state$level" --patches "$work/throwing.lua" -- ./throwing
  same "$level: typed errors of scripts are what callers catch, and end" "$here/expected/throwing.printed" throwing.out
  check "$level: what is no error of the type is refused with its reason" [ "$(grep -ac 'ok      ' throwing.err)" -eq 31 ]
  capture swallow timeout 60 "$scripthost" run -v --state "state$level" --patches "$here/swallow.lua" -- ./throwing
  same "$level: values take the place of typed errors" "$here/expected/swallow.printed" swallow.out
  check "$level: no handler that throws failed" bash -c '! grep -aq "WRONG\|original runs instead" throwing.err'
done

# Real programs: what their own functions answer is what they print themselves.
printf 'let x = 1\n' >a.swift
printf '{"a":1}\n' >in.json
cat >format.lua <<'LUA'
patch { id = "format", api = 1 }
-- It passes itself on to a method of a class elsewhere, by a copy whose end nothing tells.
swift.allow_leak "SwiftFormat.Configuration.asJsonString()"
method "SwiftFormat.PrettyPrinter.prettyPrint()":around(function(call)
  local config = swift.new("SwiftFormat.Configuration", "init()")
  assert(config.lineLength == swift.send(config, "lineLength.get"))
  return config:asJsonString()
end)
LUA
cat >list.lua <<'LUA'
patch { id = "list", api = 1 }
method "plutil.PrintCommand.prettyPrint(_:indent:spacing:)":around(function(call)
  local ok, why = pcall(swift.new, "plutil.PlutilExpectType", "init(rawValue:)", "array")
  return swift.call("plutil._indentation(forDepth:numberOfSpaces:)", 2, 3) .. tostring(ok) .. (why:match("only bodies with changed arguments") or why)
end)
LUA
swift-format dump-configuration >configuration
capture format "$scripthost" run --state state --patches format.lua -- swift-format a.swift
printf '%s\n' "$(cat format.out)" >format.shown
printf '%s\n' "$(cat configuration)" >configuration.shown
same 'swift-format: an initialiser and a throwing method of a struct' configuration.shown format.shown
capture list "$scripthost" run --state state --patches list.lua -- plutil -p in.json
printf '      falseonly bodies with changed arguments\n' >expected
printf '%s\n' "$(cat list.out)" >list.shown
same 'plutil: a function of the program, and a clone that is refused' expected list.shown
finish
