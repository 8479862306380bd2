#!/usr/bin/env bash
# Tests/Programs/callers/run.sh: outcomes replaced under callers that were compiled together with what they call.
#
# The program never crashes, and whatever a handler changes its caller sees, or the host says that it does not. What is freed reads as
# nothing that can be an object.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
export SWIFT_BACKTRACE=enable=no MALLOC_PERTURB_=165
cd "$work"

# seen NAME LINE TEXT: the caller went on with what the handler gave it, or the host says that the caller of TEXT does not.
seen() {
  if grep -qaE -- "^$2" run.out; then good "$1: seen"
  elif grep -aF -- "'$3'" run.err | grep -qaE 'compiled together with it|runs instead'; then good "$1: told"
  else bad "$1: neither seen nor told" "expected: $2" "found:    $(head -n 14 run.out)" "$(head -n 12 run.err)"; fi
}

for level in $levels; do
  swiftc -swift-version 6 "$level" -suppress-warnings -module-name Main "$here/main.swift" -o program
  capture plain timeout 60 ./program
  capture run timeout 120 "$scripthost" run --state state --patches "$here/patch.lua" -- ./program
  ended "$level: the program ends as it does alone" run
  check "$level: it comes to its end" grep -qx 'the end' run.out
  seen "$level a result that is one case of an Optional" 'number nil' 'Main.number(_:)'
  seen "$level a result that is one case of an enum" 'shape other' 'Main.shape(_:)'
  seen "$level a result instead of an error that always comes" 'always 900' 'Main.always(_:)'
  seen "$level an error where none ever comes" 'never caught' 'Main.never(_:)'
  seen "$level a closure" 'make lua' 'Main.make(_:)'
  seen "$level a variable that the function does write" 'changed 900' 'Main.change(_:)'
  seen "$level an owned argument" 'owned [0-9]+ 900 a string' 'Main.Holder.init(_:_:)'
  explained=$("$scripthost" explain ./program 'Main.number(_:)' | grep -A1 '^  callers') || :
  if [ "$level" = -Onone ]; then check "$level: explain lists callers" grep -q '1 takes the outcome' <<<"$explained"
  else check "$level: explain lists callers that do not look" grep -qE 'known\(_:\)\+0x.*: (reads parts|does not read)' <<<"$explained"; fi
  # What nobody can know is never refused.
  check "$level: an Optional that may be nil" grep -qx 'maybe nil' run.out
  check "$level: an enum that may be any case" grep -qx 'either number 900' run.out
  check "$level: an error that may come" grep -q '^sometimes caught' run.out
  check "$level: a struct of which the caller reads one number" grep -qx 'entry 900' run.out
  check "$level: a text" grep -qx 'text a text of lua that is long enough for the heap' run.out
  if [ "$level" = -Onone ]; then
    for line in 'number nil' 'shape other' 'always 900' 'never caught' 'make lua' 'after 900' 'changed 900'; do
      check "$level: $line" grep -q "^$line" run.out
    done
    check "$level: nothing is refused" bash -c "! grep -e 'compiled together' -e 'runs instead' run.err"
  fi
done

for level in $levels; do
  swiftc -swift-version 6 "$level" -suppress-warnings -module-name Main "$here/traps.swift" -o traps
  capture plain timeout 60 ./traps made
  capture run timeout 120 "$scripthost" run --state state --patches "$here/traps.lua" -- ./traps made
  ended "$level traps: the program ends as it does alone" run
  check "$level traps: it comes to its end" grep -qx 'the end' run.out
  seen "$level traps: an error where none ever comes" 'made caught' 'Main.made(_:)'
done

# Errors of functions that throw nothing by themselves, where the caller keeps what may be one in its frame.
for level in -Onone -O -Osize '-Onone -sanitize=address'; do
  # Several words.
  swiftc -swift-version 6 $level -suppress-warnings -module-name Main "$here/typed.swift" -o typed
  capture plain env "${asan[@]}" timeout 60 ./typed
  capture run env "${asan[@]}" timeout 120 "$scripthost" run --state state --patches "$here/typed.lua" -- ./typed
  ended "$level typed: the program ends as it does alone" run
  check "$level typed: it comes to its end" grep -qx 'the end' run.out
  seen "$level typed: an error where none ever comes" 'typed caught a.7.' 'Main.typed(_:)'
  check "$level typed: an error that may come" grep -qx 'sometimes caught a(8)' run.out
  case $level in -Onone*) check "$level typed: nothing is refused" grep -qx 'typed caught a(7)' run.out ;; esac
done

for level in -O -Osize; do
  swiftc -swift-version 6 $level -suppress-warnings -parse-as-library -module-name Main "$here/actor.swift" -o actor
  capture plain timeout 60 ./actor
  capture run timeout 120 "$scripthost" run --state state --patches "$here/actor.lua" -- ./actor
  ended "$level actor: the program ends as it does alone" run
  check "$level actor: results are replaced" grep -qx 'took 900 3' run.out
  check "$level actor: results are replaced where there may be an error" grep -qx 'put 901 3' run.out
  check "$level actor: nothing given away is left behind" grep -qx 'live 0' run.out
done

# Numbers and texts of async functions: what the part of the caller that is resumed does not read is told.
for level in $levels; do
  swiftc -swift-version 6 "$level" -suppress-warnings -parse-as-library -module-name Main "$here/later.swift" -o later
  capture plain timeout 60 ./later
  capture run timeout 120 "$scripthost" run --state "state-later$level" --patches "$here/later.lua" -- ./later
  ended "$level later: the program ends as it does alone" run
  same "$level later: what is read is replaced" <(printf '%s\n' 'used 900' 'passed 900' 'text a text of lua that is long enough for the heap' \
    'part 1.5' 'flag false' dropped 'the end') run.out
  check "$level later: nothing that is read is refused" bash -c "! grep -a \"'Main.used\" run.err"
  [ "$level" = -Onone ] || says "$level later: what is not read is told" run.err "the result of 'Main.dropped(_:)' is not read by its caller"
done

# Functions that never return: their callers may have no code behind the call.
for level in $levels; do
  swiftc -swift-version 6 "$level" -suppress-warnings -module-name Main "$here/ends.swift" -o ends
  for way in stop die choose; do
    capture plain timeout 60 ./ends "$way"
    capture run timeout 120 "$scripthost" run -v --state "state-ends$level$way" --patches "$here/ends.lua" -- ./ends "$way"
    for position in around after; do
      check "$level $way: '$position' of a function that never returns is refused" \
        grep -q "Main.stop(_:) $position: .*only 'before' can be hooked: it never returns, and its callers are compiled for that" run.err
    done
    check "$level $way: an error is all that a function may end with" grep -q '^caught number(1)' run.out
    case $level,$way in
      -Onone,die | -Onone,choose) ended "$level $way: callers that know nothing go on" run; check "$level $way: to the end" grep -qx 'the end' run.out ;;
      *) ended "$level $way: the program ends as it does alone" run "$(cat plain.status)" ;;
    esac
    case $level,$way in
      -Onone,*) check "$level $way: what may return is hooked" grep -q 'Main.die(_:) around: hooked' run.err ;;
      *,die) says "$level $way: 'around' of what is known not to return is refused" run.err "cannot hook 'Main.die(_:)': only 'before'" ;;
      *,choose) says "$level $way: an around that leaves the original out is told" run.err \
        "the handler around 'Main.choose(_:)' did not run the original, and its caller has no code behind the call" ;;
    esac
    [ "$way" != stop ] || check "$level $way: 'before' runs" grep -q 'before 900' run.err
  done
done

# What nobody was compiled together with is in no doubt.
clang=$(toolchain_bin)/clang
"$clang" -O1 -shared -fPIC -DDEEP -o libdeep.so "$here/through.c"
"$clang" -O1 -shared -fPIC -o libthrough.so "$here/through.c" -L. -ldeep -Wl,-rpath,'$ORIGIN'
for level in $levels; do
  swiftc -swift-version 6 "$level" -parse-as-library -emit-library -emit-module -module-name Far "$here/Far.swift" -o libFar.so
  swiftc -swift-version 6 "$level" -parse-as-library -module-name Main -I. "$here/notes.swift" -o notes -L. -lFar -lthrough -Xlinker -rpath -Xlinker '$ORIGIN'
  capture plain timeout 60 ./notes
  capture run timeout 120 "$scripthost" run --state "state-notes$level" --patches "$here/notes.lua" -- ./notes
  ended "$level notes: the program ends as it does alone" run
  same "$level notes: every result is replaced" <(printf '%s\n' 'near 901' 'nearLater 902' 'far 903' 'farLater 904' 'import 9050' 'the end') <(grep -v '^take' run.out)
  seen "$level notes: an argument that the function returns" 'take 900' 'Main.take(_:_:)'
  check "$level notes: that is told once for each call in the code" [ -z "$(grep -a "argument 2 of 'Main.take(_:_:)' was changed" run.err | sort | uniq -d)" ]
  check "$level notes: an argument that does not come back is no loss" bash -c "! grep \"'Main.bump(_:)'\" run.err"
  "$scripthost" events --state "state-notes$level" --kind note >notes.said
  for name in near nearLater; do says "$level notes: '$name' is noted" notes.said "'Main.$name(_:)' returns its result in memory"; done
  check "$level notes: nothing else is" [ "$(grep -c 'outcome not proven' notes.said)" -eq 2 ]
done

# Drawn ones: CALLERS_COUNT programs (2), CALLERS_SEED for one that was printed.
judged '' python3 "$here/drawn.py" "$scripthost" "$work" "${CALLERS_COUNT:-2}" "${CALLERS_SEED:-14}"
# What callers do not store, as the function does not read it: VARIABLES_COUNT programs (2).
mkdir variables
judged '' python3 "$here/variables.py" "$scripthost" "$work/variables" "${VARIABLES_COUNT:-2}" "${VARIABLES_SEED:-14}"
# An array that its callee does not look at may be memory that nobody wrote: it is not shown, not counted and not kept.
cat >unstored.lua <<'LUA'
patch { id = "unstored" }
for _, selector in ipairs { "First.slow(_:_:)", "First.quick(_:_:)", "Second.slow(_:_:)", "Second.quick(_:_:)" } do
  selector = "static Unstored." .. selector
  pcall(function() track "unused" { on = selector, fields = { count = "args.2.count", list = "args.2" } } end)
  pcall(function() method(selector):before(function(call, number, unused) pcall(swift.keep, unused) pcall(function() return #unused, unused[1] end) end) end)
end
LUA
for level in -O '-O -wmo' -Osize; do
  # shellcheck disable=SC2086
  swiftc -swift-version 5 -parse-as-library -g $level -module-name Unstored "$here/unstored.swift" -o unstored
  capture plain ./unstored
  rm -f events
  capture_loaded run timeout 60 "$scripthost" run -v --state state --events events --patches unstored.lua -- ./unstored
  recorded=$(grep -c '"kind":"event","name":"unused"' events || true)
  same "$level: arrays that nobody looks at: the program says the same" plain.out run.out
  ended "$level: and ends well" run
  [ "$level" = -Osize ] || check "$level: calls are recorded, $recorded" [ "$recorded" -ge 50 ]
  check "$level: no count is one that was never stored" bash -c "! grep '\"name\":\"unused\"' events | grep -vE '\"count\":(0|1|\"<optimized out>\"|\"<not decoded>\")'"
done
finish
