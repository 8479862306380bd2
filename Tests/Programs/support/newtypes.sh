# Sourced after checks.sh by the suites of types made at run time: a module Shop, compiled by itself at -Onone and at -O, a Swift program
# and a scripted one against it.
#
#     at_both_levels ROUNDS CHECKS      runs main.swift, and scripted.swift with script/*.lua, which make so many checks
# NEWTYPES_FLAGS: for the compiler, such as -sanitize=address.
. "$(dirname "${BASH_SOURCE[0]}")/library.sh"
shared=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)/newtypes
flags=${NEWTYPES_FLAGS:-}
kit=("$shared/Refusals.swift" "$root/Tests/Support/Checks/Checks.swift")
export CHECKS_LISTED=1
[ -z "$flags" ] || export "${asan[@]}"

# against_shop NAME SOURCE…: a program that links the module; more goes to the compiler.
against_shop() { swiftc -swift-version 6 -suppress-warnings $flags -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Main -o "$@"; }

shop() {
  swiftc -swift-version 6 -suppress-warnings $flags -parse-as-library -emit-library -emit-module -module-name Shop \
    "$here/Shop.swift" "$shared/Basics.swift" -o libShop.so "$@"
}

at_both_levels() {
  local level alive
  for level in -Onone -O; do
    # -wmo lets the compiler see the whole module, at -Onone too: it is what makes calls direct.
    if [ "$level" = -O ]; then shop -O -wmo; else shop -Onone; fi
    against_library $flags -Onone -I. -L. -lShop -module-name Main "$here/main.swift" "${kit[@]}" -o program
    capture run timeout 300 ./program "$1" "$level"
    check "$level: the program ends well" grep -qx 0 run.status
    marks "$level" run.out
    check "$level: all parts ran" grep -q "ok      memory is flat" run.out
    grep -a 'memory is flat' run.out

    against_shop scripted "$here/scripted.swift" "$level"
    capture scripted timeout 300 "$scripthost" run -v --state "state$level" --patches "$here/script" -- ./scripted 2000
    check "$level: the scripted program ends well" grep -qx 0 scripted.status
    grep -ao 'ok      .*\|WRONG   .*' scripted.err >scripted.marks || true
    marks "$level, script" scripted.marks
    check "$level: all checks of the script ran" [ "$(grep -c '^ok' scripted.marks)" -eq "$2" ]
    sed '/^alive/,$d' scripted.out >scripted.head
    same "$level: the program's own view" "$here/script/expected" scripted.head
    alive=$(sed -n 's/^alive //p' scripted.out)
    check "$level: of thousands of objects $alive wait for the collector" [ "${alive:-1000}" -le 40 ]
    # What is refused and what fails is said in one sentence, each with its place.
    grep -ao 'REFUSED .*' scripted.err >refused || true
    same "$level: what is refused, and why" "$here/script/refused" refused
    # On a busy machine an endless loop is stopped by the clock first.
    sed -n 's/^scripthost: \(errors.lua:.*\)/\1/p' scripted.err | sed 's/ stopped: [^(]*/ stopped /' | grep -v ': loaded, \|it is not known which calls were inlined' >failed || true
    same "$level: what failed in handlers, and what ran instead" "$here/script/failed" failed
  done
}
