#!/usr/bin/env bash
# Patches change what real programs do: results, arguments, errors and exit status of swift-format and plutil.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
printf '{"name":"box","count":3,"list":[1,2,{"a":true}]}\n' >in.json
printf '{"other":1}\n' >other.json
printf '// a comment\nstruct A{var x=1}\n// swift-format-ignore: GroupNumericLiterals\nlet k = 12345678\n' >a.swift

# patched LUA PROGRAM…: what it does with one patch, in patched.*, and alone, in alone.*
patched() {
  printf 'patch { id = "p", api = 1 }\n%s\n' "$1" >p.lua
  shift
  capture alone "$@"
  capture patched "$scripthost" run --state state --patches p.lua -- "$@"
}
# turns NAME EXPECTED: stdout of the patched run is exactly this, and was another one.
turns() {
  printf '%s\n' "$2" >expected
  # Command lines end their output with or without a newline.
  sed -e '$a\' patched.out >shown
  if cmp -s alone.out patched.out; then bad "$1" 'nothing changed' "$(cat patched.err)"; else same "$1" expected shown; fi
  check "$1: no complaints" [ ! -s patched.err ]
}

# MARK: Results

patched 'method "SwiftFormat.PrettyPrinter.prettyPrint()":around(function(call)
  local text = call:original()
  return "// " .. #text .. " bytes\n" .. text
end)' swift-format a.swift
{ printf '// %s bytes\n' "$(wc -c <alone.out)"; cat alone.out; } >wanted
turns 'around: the formatted text, with a line before it' "$(cat wanted)"

patched 'method "SwiftFormat.Comment.print(indent:shouldIndentBlankLines:)":after(function(call) call.result = call.result:upper() end)' swift-format a.swift
turns 'after: comments in capitals' "$(sed 's|//.*|\U&|' alone.out)"

patched 'method "plutil.rawStringWithPropertyList(_:)":after(function(call) call.result = "<" .. call.result .. ">" end)' plutil -extract count raw in.json
turns 'after: a String of a throwing function' '<3>'

patched 'method "plutil.rawStringWithPropertyList(_:)":around(function() return "mine" end)' plutil -extract list raw in.json
turns 'around: without the original' 'mine'

patched 'method "plutil.PrintCommand.prettyPrint(_:indent:spacing:)":after(function(call)
  if call.result == "3\n" then call.result = "three 三\n" end
end)' plutil -p in.json
turns 'after: one call of a recursive function' "$(sed 's/=> 3$/=> three 三/' alone.out)"

patched 'method "plutil.rawStringWithPropertyList(_:)":after(function(call)
  call.result = tostring(call.duration_ns > 1000 and call.duration_ns < 10 ^ 10)
end)' plutil -extract count raw in.json
turns 'after: how long the call took' 'true'

patched 'method "plutil.rawStringWithPropertyList(_:)":after(function(call)
  call.result = select(2, pcall(function() return call["dur" .. "ation_ns"] end))
end)' plutil -extract count raw in.json
check 'after: what is not measured is an error' grep -q "measured where the patch's text says so: write 'call.duration_ns'" patched.out

# MARK: Arguments

patched 'method "plutil.PrintCommand.prettyPrint(_:indent:spacing:)":before(function(call, value, indent)
  call.args.indent = indent + 1
end)' plutil -p in.json
check 'before: an Int argument moves the lines' grep -q '^   "count" => 3$' patched.out

patched 'method "plutil._indentation(forDepth:numberOfSpaces:)":before(function(call) call.args.numberOfSpaces = 3 end)' plutil -p in.json
check 'before: an Int argument of a free function' grep -q '^      \]$' patched.out

patched 'method "plutil.readPath(_:)":before(function(call, path) call.args[1] = path:gsub("in", "other") end)' plutil -p in.json
turns 'before: a String argument: another file is read' "$(plutil -p other.json)"

patched 'method "plutil.readPath(_:)":around(function(call) return call:original("other.json") end)' plutil -p in.json
turns 'around: the original with an argument of its own' "$(plutil -p other.json)"

patched 'method "plutil.PlutilEmissionFormat.init(argumentValue:)":before(function(call) call.args.argumentValue = "json" end)' plutil -convert xml1 -o - other.json
turns 'before: an argument an initialiser owns' "$(plutil -convert json -o - other.json)"

patched 'method "SwiftFormat.RuleMask.ruleState(_:at:)":before(function(call, rule)
  if rule == "GroupNumericLiterals" then call.args[1] = "NoSuchRule" end
end)' swift-format a.swift
turns 'before: a String of many calls: a rule is no longer ignored' "$(sed 's/12345678/12_345_678/' alone.out)"

# MARK: Errors

patched 'method "plutil.validatePropertyListKeyType(_:)":after(function(call) call.result = false end)' plutil -insert x -string y -o - in.json
check 'after: a Bool result: the program refuses' [ "$(cat alone.status) $(cat patched.status)" = '0 1' ]
says 'its own words' patched.err 'Dictionaries are required to have string keys in property lists'

patched 'method "plutil.readPath(_:)":before(function(call) call.args[1] = "nowhere.json" end)' plutil -p in.json
check "before: the program's own error" [ "$(cat alone.status) $(cat patched.status)" = '0 1' ]

patched 'method "plutil.readPath(_:)":around(function(call) return call:original() end)' plutil -p nowhere.json
same_run 'around: an error of the original passes through' alone patched

patched 'method "plutil.readPath(_:)":around(function(call)
  local ok = call:try("nowhere.json")
  return call:original(ok and "in.json" or "other.json")
end)' plutil -p in.json
turns 'around: an error that is caught, and a second try' "$(plutil -p other.json)"

patched 'method "plutil.readPath(_:)":around(function(call) call:try("nowhere.json") error("then a mistake") end)' plutil -p in.json
check 'around: a mistake after a caught error: no crash' [ "$(cat patched.status)" -le 1 ]

patched 'method "plutil.ExtractCommand.execute()":around(function(call) call:try() return true end)' plutil -extract nope raw in.json
check 'around: another exit status' [ "$(cat alone.status) $(cat patched.status)" = '1 0' ]

patched 'method "plutil.PLUContextError.description.get":after(function(call) call.result = "so: " .. call.result end)' plutil -zzz in.json
says 'after: the words of an error' patched.err 'so: unrecognized option: -zzz'

# MARK: Together

mkdir -p several
printf 'patch { id = "inner", priority = 1 }\nmethod "plutil.rawStringWithPropertyList(_:)":around(function(call) return "(" .. call:original() .. ")" end)\n' >several/a.lua
printf 'patch { id = "outer", priority = 9 }\nmethod "plutil.rawStringWithPropertyList(_:)":around(function(call) return "[" .. call:original() .. "]" end)\n' >several/b.lua
capture patched "$scripthost" run --state state --patches several -- plutil -extract count raw in.json
same 'two patches on one function: the higher priority is outside' <(printf '[(3)]\n') patched.out

printf 'track "read" { on = "plutil.readPath(_:)", fields = { path = "args.1" } }\n' >several/c.lua
capture patched "$scripthost" run --state state --events events.jsonl --patches several -- plutil -extract count raw in.json
says 'an event of a tracking rule' events.jsonl '"fields":{"path":"in.json"}'
finish
