#!/usr/bin/env bash
# Tests/Programs/inits/run.sh: handlers after initialisers that fail and after deinits, whose objects are gone by then; initialisers and setters of
# unrelated classes with equal code, of which the optimiser leaves one; isolated deinits, which the runtime hands to an executor.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
# What is freed reads as nothing that can be an object.
export SWIFT_BACKTRACE=enable=no MALLOC_PERTURB_=165
cd "$work"
for level in $levels; do
  swiftc -swift-version 6 "$level" -wmo -parse-as-library -suppress-warnings -module-name Main "$here/main.swift" -o program
  capture plain ./program
  capture_loaded run timeout 120 "$scripthost" run -v --state state --patches "$here/patch" -- ./program
  same "$level: the program says the same" plain.out run.out
  check "$level: it ends as it does alone" cmp plain.status run.status
  for phase in before after; do
    says "$level: each failable initialiser is seen $phase" run.err "@ init(some:) $phase 7."
    says "$level: each one that throws is seen $phase" run.err "@ init(checked:) $phase 7."
    # An object of which no field was set has none to end.
    says "$level: the deinits of this class alone are seen $phase" run.err "@ deinit $phase 11."
  done
done

# own HOW LEVEL NAME CALLS SEEN SELECTOR SAID: what was seen of it is its own calls, or that some are missed was said, with its selector, when the hook was made.
own() {
  if [ "$5" -eq "$4" ]; then good "$2: $1 of $3: its own $4 calls"
  elif [ "$5" -lt "$4" ] && grep -qaF "$6" <<<"$(grep -aF 'may miss calls that go straight to' "$7")"; then good "$2: $1 of $3: $5 of $4 calls, as was said"
  else bad "$2: $1 of $3: its own calls" "expected: $4, or fewer and that it was said" "found:    $5" "$(head -n 30 "$7")"; fi
}
for level in $levels; do
  swiftc -swift-version 6 "$level" -wmo -parse-as-library -suppress-warnings -module-name Equal "$here/equal.swift" -o equal
  capture plain ./equal
  rm -f events
  capture_loaded run timeout 120 "$scripthost" run -v --state state --events events --patches "$here/equal.lua" -- ./equal
  same "$level: the program of equal code says the same" plain.out run.out
  "$scripthost" trace -c --why --state state -o table -e 'Equal.*.init(n:)' -e 'Equal.*.p.set' -- ./equal >/dev/null
  while read -r name calls selector; do
    own 'a handler' "$level" "$name" "$calls" "$(grep -c "@ $name\$" run.err)" "'$selector'" run.err
    own 'a rule' "$level" "$name" "$calls" "$(grep -c "\"name\":\"$name\"" events)" "'$selector'" run.err
    own 'a trace' "$level" "$name" "$calls" "$(awk -v s="$selector" '$NF == s { for (i = NF - 1; i > 0; i--) if ($i ~ /^[0-9]+$/) { print $i; exit } }' table | grep . || echo 0)" "$selector" table
  done <<'CALLS'
Apple 3 Equal.Apple.init(n:)
Pear 3 Equal.Pear.init(n:)
Base 5 Equal.Base.init(n:)
Other 5 Equal.Other.init(n:)
Sub 5 Equal.Sub.init(n:)
Sub2 5 Equal.Sub2.init(n:)
Left 4 Equal.Left.p.set
Right 2 Equal.Right.p.set
CALLS
done

# The runtime runs a second function of an isolated deinit, on another thread perhaps: that is no other call.
for level in $levels; do
  swiftc -swift-version 6 "$level" -g -wmo -parse-as-library -suppress-warnings -module-name Isolated "$here/isolated.swift" -o isolated
  capture plain ./isolated
  rm -f events
  capture_loaded run timeout 120 "$scripthost" run -v --state state --events events --patches "$here/isolated.lua" -- ./isolated
  same "$level: the program with isolated deinits says the same" plain.out run.out
  "$scripthost" trace -c --state state -o table -e 'Isolated.*.deinit' -- ./isolated >/dev/null
  while read -r name calls self; do
    # The optimiser copies what a subclass's deinit calls into it: that is said.
    if [ "$name" = View ] && grep -qaF "hooks on 'Isolated.View.deinit' may miss" run.err; then calls=$(grep -c "@ View" run.err) || true; fi
    check "$level: one event of each deinit of $name" [ "$(grep -c "\"name\":\"$name\"" events)" = "$calls" ]
    check "$level: one run of the handler for each deinit of $name, with its self" [ "$(grep -c "@ $name[[:space:]]*<Isolated.$self>" run.err)" = "$calls" ]
    check "$level: no other run for $name" [ "$(grep -c "@ $name" run.err)" = "$calls" ]
    check "$level: a trace counts each deinit of $name once" [ "$(awk -v s="Isolated.$name.deinit" '$NF == s { print $(NF - 1) }' table | grep . || echo 0)" = "$calls" ]
  done <<'CALLS'
Window 5 Window
Button 1 Button
View 1 Button
Store 1 Store
CALLS
  "$scripthost" explain ./isolated Isolated.Window.deinit >explained
  # What destroys the object, which the optimiser may drop, and what frees it.
  check "$level: explain lists what frees the object once" [ "$(grep -c '^  *base, ' explained)" -le 2 ]
  check "$level: explain has no body that is not decoded" bash -c "! grep -F 'not decoded' explained"
done
# What an initialiser is called on is nothing to look at: no field of it is written, and one that fails frees it.
for level in $levels; do
  swiftc -swift-version 6 "$level" -g -wmo -parse-as-library -suppress-warnings -module-name Unmade "$here/unmade.swift" -o unmade
  capture plain ./unmade
  rm -f events
  capture_loaded run timeout 120 "$scripthost" run -v --state state --events events --patches "$here/unmade.lua" -- ./unmade
  same "$level: the program with unfinished objects says the same" plain.out run.out
  check "$level: and ends as it does alone" cmp plain.status run.status
  sed -n 's/.*: @ //p' run.err | LC_ALL=C sort -u >told
  for text in 'read true' 'keep true' 'weak true' 'read later true'; do check "$level: never '$text'" bash -c "! grep -q '^$text' told"; done
  says "$level: why" told "because an initialiser has no 'self' to look at; what it makes is its result: 'call.result' in 'after'"
  says "$level: as text" told 'shown <not initialised>'
  says "$level: the result is there" told 'result userdata'
  says "$level: a rule is refused" told "'self.name': an initialiser has no 'self' to look at; what it makes is its result: 'result.name'"
  # The optimiser has that one in its callers.
  [ "$level" = -O ] || says "$level: the class is known, and what was made" events '","type":"Unmade.Square"'
  capture traced timeout 120 "$scripthost" trace --state state -o table -e 'Unmade.**' -- ./unmade
  same "$level: the traced program says the same" plain.out traced.out
done
finish
