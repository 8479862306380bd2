#!/usr/bin/env bash
# Subclasses, conforming types and replacements that a library brings while the program runs: hooks on tables and requirements take
# them in, a replacement that drops a hook is told. In -Onone and in -O.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

for level in Onone O; do
  mkdir "$work/$level" && cd "$work/$level"
  swiftc "-$level" -emit-library -emit-module -module-name Kit "$here/Kit.swift" -o libKit.so
  swiftc "-$level" -emit-library -module-name Late "$here/Late.swift" -I . -L . -lKit -Xlinker -rpath -Xlinker '$ORIGIN' -o libLate.so
  swiftc "-$level" "$here/main.swift" -I . -L . -lKit -Xlinker -rpath -Xlinker '$ORIGIN' -o program
  for by in vtable witness entry; do
    rm -rf patches && mkdir patches
    cat >patches/patch.lua <<LUA
patch { id = "later", version = "1.0.0", api = 1 }
local function add(call, n) call.args[1] = n + 10000 end
LUA
    case $by in
      vtable) echo 'method "Kit.Base.walk(_:)":before(add, { by = "vtable" })' ;;
      witness) echo 'method "Kit.Greets.greet(_:)":before(add, { by = "witness" })' ;;
      entry) echo 'method "Kit.Greets.greet(_:)":before(add)' ;;
    esac >>patches/patch.lua
    capture "$by" "$scripthost" run --patches patches --state "$work/state" -- ./program "$PWD/libLate.so"
    ended "$level, $by: the program runs" "$by"
  done
  # Hooks on functions that the library replaces, made before it comes and behind it.
  for by in dynamic-replacement entry; do
    for order in first behind; do
      rm -rf patches && mkdir patches
      cat >patches/patch.lua <<LUA
patch { id = "later", version = "1.0.0", api = 1 }
local hooks = {}
local function add(call, n) call.args[1] = n + 100 end
local function put()
  for _, name in ipairs { "swapped", "dropped" } do hooks[#hooks + 1] = method("Kit." .. name .. "(_:)"):before(add, { by = "$by" }) end
end
if "$order" == "first" then put() end
method("program.ready()"):before(function()
  if "$order" == "behind" then put() end
  for _, hook in ipairs(hooks) do print(hook:describe()) end
end)
LUA
      capture "$by.$order" "$scripthost" run -v --patches patches --state "$work/state" -- ./program "$PWD/libLate.so"
      ended "$level, $by, $order: the program runs" "$by.$order"
    done
  done
  for by in dynamic-replacement entry; do
    says "$level, $by: functions are hooked before they are replaced" "$by.first.out" 'before walk 2 2 greet 11 swapped 202 dropped 303'
  done
  says "$level: a replacement that comes later is in front of the variable's hook, which sees what it forwards" \
    dynamic-replacement.first.out 'after walk 2 2 greet 11 swapped 207 dropped 7'
  check "$level: and the hooks say that their variable was changed" \
    [ "$(grep -c 'back end dynamic-replacement, .*changed by someone else' dynamic-replacement.first.err)" = 2 ]
  says "$level: a hook that comes later is in front of the replacement" dynamic-replacement.behind.out 'after walk 2 2 greet 11 swapped 207 dropped 707'
  check "$level: and nothing was changed by someone else" [ "$(grep -c 'changed by someone else' dynamic-replacement.behind.err)" = 0 ]
  for order in first behind; do
    says "$level, $order: by entry, a call and the replacement's own call of the original are seen, and calls it does not forward" \
      "entry.$order.out" 'after walk 2 2 greet 11 swapped 407 dropped 707'
  done
  says "$level: a table's hook sees the class and a subclass" vtable.out 'before walk 10002 10002 greet 11 swapped 2 dropped 3'
  says "$level: and subclasses that come later, but no override" vtable.out 'after late walk [10002, 10002, 101] late greet [11, 1001, 2001]'
  says "$level: a requirement's hook by witness sees conforming types" witness.out 'before walk 2 2 greet 10011 swapped 2 dropped 3'
  says "$level: and those that come later, each once" witness.out 'after late walk [2, 2, 101] late greet [10011, 11001, 12001]'
  says "$level: a requirement's hook by entry sees conforming types" entry.out 'before walk 2 2 greet 10011 swapped 2 dropped 3'
  says "$level: and those that come later, overrides too, each once" entry.out 'after late walk [2, 2, 101] late greet [10011, 11001, 12001]'
done
finish
