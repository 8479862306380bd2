#!/usr/bin/env bash
# Tests/Programs/coroutine-accessors/run.sh: what coroutine accessors of both forms yield, in -Onone and in -O: the places against the
# compiler's own lowering, the values in a program that runs, which behaves as ever.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
# form NAME: the module, the patch and what it says, with accessors of that form.
form() {
  features=() read=read modify=modify
  cp "$here/Shelf.swift" "$here/patch.lua" .
  cp "$here/expected" expected
  [ "$1" = newer ] || return 0
  features=(-enable-experimental-feature CoroutineAccessors) read=read2 modify=modify2
  sed -i 's/ _read/ read/; s/ _modify/ modify/' Shelf.swift
  sed -i 's/"read"/"read2"/; s/"modify"/"modify2"/g; s/\.modify"/.modify2"/; s/\.read"/.read2"/' patch.lua
  sed -i 's/\.modify /.modify2 /; s/\.read /.read2 /' expected
}

for level in -Onone -O; do for form in older newer; do
  what="$level, $form form"
  form $form
  build=(swiftc "$level" -wmo -suppress-warnings -parse-as-library "${features[@]}" -module-name Shelf Shelf.swift)
  "${build[@]}" -emit-library -emit-module -o libShelf.so
  "${build[@]}" -emit-irgen -o Shelf.ll
  swiftc "$level" -suppress-warnings "${features[@]}" -I. -L. -lShelf -Xlinker -rpath -Xlinker '$ORIGIN' -module-name User "$here/main.swift" -o program
  capture plain timeout 60 ./program
  capture hooked timeout 60 "$scripthost" run -v --state "state$level$form" --patches patch.lua -- ./program
  unchanged "$what: the program behaves as ever" plain hooked
  grep -ao 'YIELD .*' hooked.err | sed 's/^YIELD //' >said || true
  same "$what: the values as yielded" said expected

  # What the compiler returns behind the continuation, in the notation of plans.
  "$scripthost" coverage --state "state$level$form" --list --json --places --library "$work/libShelf.so" ./program >plans
  python3 - $form <<'PY' >compared
import json, re, sys
kinds = {"older": "rM", "newer": "xy"}[sys.argv[1]]
lowered = {}
for line in open("Shelf.ll"):
    found = re.match(r'define .*swiftcc (\{[^}]*\}) @"(\$s[^"]*v?[iv][' + kinds + r'])"', line)
    if found: lowered[found.group(2)] = [part.strip() for part in found.group(1).strip("{} ").split(",")][1:]
for line in open("plans"):
    row = json.loads(line)
    for symbol, body in zip(row["symbols"], row["places"]):
        if symbol not in lowered or body["merged"]: continue
        integers, floats, places = 1, 0, []
        for part in lowered[symbol]:
            if part in ("float", "double"): places.append("f%d" % floats); floats += 1
            else: places.append("r%d" % integers); integers += 1
        planned = [p.replace("i", "r") for p in re.findall(r"[rif]\d(?=:|$|,|\])", body["result"])]
        print("ok" if planned == places else "WRONG", symbol, body["result"], lowered[symbol])
PY
  while IFS= read -r line; do
    case $line in ok*) good "$what: ${line#ok }" ;; *) bad "$what: ${line#WRONG }" ;; esac
  done <compared
  check "$what: accessors were compared" [ "$(wc -l <compared)" -ge 20 ]

  printf 'patch { id = "around", api = 1 }\nmethod "Shelf.Shelf.title.%s":around(function(call) return call:original() end)\n' $modify >around.lua
  capture around timeout 60 "$scripthost" run -v --state "around$level$form" --patches around.lua -- ./program
  says "$what: around is refused" around.err 'only the original can end'
  printf 'patch { id = "replace", api = 1 }\nmethod "Shelf.Shelf.title.%s":after(function(call) call.result = "x" end)\n' $read >replace.lua
  capture replace timeout 60 "$scripthost" run -v --state "replace$level$form" --patches replace.lua -- ./program
  unchanged "$what: what is yielded is not replaced" plain replace
done; done
finish
