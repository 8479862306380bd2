#!/usr/bin/env bash
# What calls answer whose handlers fail: the original's result, a value, or an error; before and after the original ran, and out of time.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
for level in -Onone -O; do
  compile=(swiftc -swift-version 6 "$level" -wmo -suppress-warnings -I.)
  "${compile[@]}" -parse-as-library -emit-module -emit-object -module-name Shop "$here/Shop.swift" -o Shop.o
  "${compile[@]}" -module-name Main "$here/main.swift" Shop.o -o program
  capture run timeout 60 "$scripthost" run -v --state state --patches "$here/patch.lua" -- ./program
  ended "$level: the program ends well" run
  sed -i 's/^\(load threw patch.lua\):[0-9]*: /\1: /; s/: stopped.*/: stopped/' run.out
  same "$level: callers get what on_failure says" "$here/expected" run.out
  for sentence in "'static Shop.Desk.price(_:)': it cannot throw" 'its result: ' 'on_failure'"' as a table is { value = v }" \
    'it has no result' 'it is async' "is for 'around'"; do
    says "$level: refused: $sentence" run.err "$sentence"
  done
  # The rules of handlers, which hook-cases runs for those of Swift (Tests/Programs/dispatch).
  "${compile[@]}" -parse-as-library -emit-module -emit-object -module-name HookSubjects "$root/Tests/Support/HookSubjects/Rules.swift" -o Rules.o
  echo 'print(brokenRules().joined(separator: "\n"))' >main.swift
  "${compile[@]}" -module-name Calls main.swift "$root/Tests/Support/HookCases/RuleCalls.swift" Rules.o -o calls
  capture rules timeout 60 "$scripthost" run -v --state state --patches "$here/rules.lua" -- ./calls
  ended "$level: the calls of the rules end well" rules
  same "$level: handlers in Lua follow the rules" <(echo) rules.out
  says "$level: the failure says what happened instead" run.err 'the call answers its on_failure value'
done
finish
