#!/usr/bin/env bash
# What is easily got wrong about a call: whatever handlers do, the program says what it says alone.
# PROGRAM_FLAGS: "-sanitize=address" with products that were built so.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

flags=${PROGRAM_FLAGS:-}
[ -z "$flags" ] || export "${asan[@]}"
cd "$work"
for level in -Onone -O; do
  compile=(swiftc -swift-version 6 "$level" $flags -wmo -parse-as-library -suppress-warnings)
  "${compile[@]}" -emit-library -emit-module -enable-library-evolution -module-name Evolving "$here/Evolving.swift" -o libEvolving.so
  "${compile[@]}" -emit-library -emit-module -module-name Parts "$here/Parts.swift" -o libParts.so
  "${compile[@]}" -I. -L. -lEvolving -lParts -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Main "$here/main.swift" -o program
  capture plain ./program
  capture run timeout 120 "$scripthost" run -v --state state --patches "$here/patch" -- ./program
  same "$level: the program says the same" plain.out run.out
  check "$level: it ends as it does alone" cmp plain.status run.status
  check "$level: no handler fails" bash -c "! grep -a 'runs instead' run.err"
  grep -ao '@ .*' run.err >said || true
  for method in Ticket.tear Ticket.look Bundle.tear Bundle.look; do
    # What is shown to leave self runs again.
    case $method in
      *.tear) says "$level: $method ends self, so it runs once" said "$method() again: '" ;;
      *) check "$level: $method runs again where self is left, and only there" \
        bash -c "! grep -aF '$method() again: yes' said || grep -aF '$method() self: ' said | grep -avF 'self: <' | grep -q ." ;;
    esac
    check "$level: $method: self is read afterwards only where its code leaves it" \
      bash -c "grep -aF '$method() self: ' said | grep -avE 'self: <(not decoded|consumed|perhaps consumed)>|look\(\) self: [A-Z]' | (! grep .)"
  done
  # A rule reads no self behind a method that ended it, or may have.
  printf 'patch { id = "rules" }\ntrack "tear" { on = "Parts.Bundle.tear()", fields = { n = "self.first.text", r = "result" } }\n' >rules.lua
  rm -f events
  capture ruled timeout 120 "$scripthost" run --state state --patches rules.lua --events events -- ./program
  check "$level: with a rule it says the same" cmp plain.out ruled.out
  check "$level: and self is told as consumed, or perhaps" grep -qE '"name":"tear","fields":\{"n":"<(perhaps )?consumed>"' events
  says "$level: a getter's typed error is seen" said 'balance error: <not decoded> result: nil kept'
  says "$level: and raised where it is called" said 'send: false CallError.refused'
  says "$level: its value is read where there is none" said 'send: true 3'
  says "$level: a private function's error is seen" said 'fail: Broken'
  says "$level: a struct that may change is not decoded by others" said 'Main.outside(_:_:_:_:): <not decoded>'
  says "$level: nor inside" said 'Evolving.take(_:_:): <not decoded>'
  check "$level: enums are, with their payloads" grep -q 'Main.shapes(_:_:): .*circle.*b' said
  check "$level: and what is not public is" grep -q 'Evolving.shown(_:): .*Own' said

  capture called timeout 120 "$scripthost" run -v --state state --patches "$here/called" -- ./program
  # What a called method may have ended is never ended twice: it may stay alive.
  sed -i '/^alive/d' plain.out called.out
  same "$level: methods of values can be called" plain.out called.out
  check "$level: and no handler fails" bash -c "! grep -a 'runs instead' called.err"
  says "$level: their results are right" called.err '@ s/the text of s, which is long s?the text of s, which is long c1c2'
done
finish
