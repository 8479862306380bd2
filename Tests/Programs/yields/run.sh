#!/usr/bin/env bash
# Tests/Programs/yields/run.sh: what coroutine accessors yield, in -Onone and in -O: the places against the compiler's own
# lowering, the values in a program that runs, which behaves as ever.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
for level in -Onone -O; do
  build=(swiftc "$level" -wmo -suppress-warnings -parse-as-library -module-name Shelf "$here/Shelf.swift")
  "${build[@]}" -emit-library -emit-module -o libShelf.so
  "${build[@]}" -emit-irgen -o Shelf.ll
  swiftc "$level" -suppress-warnings -I. -L. -lShelf -Xlinker -rpath -Xlinker '$ORIGIN' -module-name User "$here/main.swift" -o program
  capture plain timeout 60 ./program
  capture hooked timeout 60 "$scripthost" run -v --state "state$level" --patches "$here/patch.lua" -- ./program
  unchanged "$level: the program behaves as ever" plain hooked
  grep -ao 'YIELD .*' hooked.err | sed 's/^YIELD //' >said || true
  same "$level: the values as yielded" said "$here/expected"

  # What the compiler returns behind the continuation, in the notation of plans.
  "$scripthost" coverage --state "state$level" --list --json --places --library "$work/libShelf.so" ./program >plans
  python3 - "$level" <<'PY' >compared
import json, re, sys
lowered = {}
for line in open("Shelf.ll"):
    found = re.match(r'define .*swiftcc (\{[^}]*\}) @"(\$s[^"]*v?[iv][rM])"', line)
    if found: lowered[found.group(2)] = [part.strip() for part in found.group(1).strip("{} ").split(",")][1:]
for line in open("plans"):
    row = json.loads(line)
    for symbol, body in zip(row["symbols"], row["places"]):
        if symbol not in lowered or body["merged"]: continue
        integers, floats, places = 1, 0, []
        for part in lowered[symbol]:
            if part in ("float", "double"): places.append("f%d" % floats); floats += 1
            else: places.append("r%d" % integers); integers += 1
        planned = re.findall(r"\*?([rif]\d)(?::|$)", body["result"])
        planned = [p.replace("i", "r") for p in re.findall(r"[rif]\d(?=:|$|,|\])", body["result"])]
        print("ok" if planned == places else "WRONG", symbol, body["result"], lowered[symbol])
PY
  while IFS= read -r line; do
    case $line in ok*) good "$level: ${line#ok }" ;; *) bad "$level: ${line#WRONG }" ;; esac
  done <compared
  check "$level: accessors were compared" [ "$(wc -l <compared)" -ge 20 ]
done

printf 'patch { id = "around", api = 1 }\nmethod "Shelf.Shelf.title.modify":around(function(call) return call:original() end)\n' >around.lua
capture around timeout 60 "$scripthost" run -v --state around --patches around.lua -- ./program
says 'around is refused' around.err 'only the original can end'
printf 'patch { id = "replace", api = 1 }\nmethod "Shelf.Shelf.title.read":after(function(call) call.result = "x" end)\n' >replace.lua
capture replace timeout 60 "$scripthost" run -v --state replace --patches replace.lua -- ./program
unchanged 'what is yielded is not replaced' plain replace
finish
