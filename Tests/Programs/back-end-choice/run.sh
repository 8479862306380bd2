#!/usr/bin/env bash
# Where entries cannot be patched, or are another selector's, hooks are made by tables that lead to the function: hooks on a name,
# on a pattern, on what appears later, and all of them where no code can be written. Each call is seen once, and people are told
# which back end it is and why.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
link=(-I . -L . -Xlinker -rpath -Xlinker '$ORIGIN')
swiftc -Osize -emit-library -emit-module -module-name Kit "$here/Kit.swift" -o libKit.so
# One body for equal functions: each file is a unit of its own, so that the compiler leaves it to the linker.
swiftc -O -no-whole-module-optimization -Xfrontend -function-sections -emit-library -emit-module -module-name Twins "$here"/twins/*.swift \
  -o libTwins.so -use-ld=lld -Xlinker --icf=all
check 'the linker keeps one body' [ "$(nm libTwins.so | grep -E 'turnyySiF$' | cut -d ' ' -f 1 | sort -u | wc -l)" = 1 ]
swiftc -O "$here/main.swift" -module-name main "${link[@]}" -lKit -lTwins -o program
swiftc -Osize -emit-library -module-name Late "$here/Late.swift" -o libLate.so
swiftc -O "$here/late.swift" -module-name late -o late

# hooked PATCH PROGRAM [LAUNCHER…]: runs it under the patch alone; what is said, without addresses, which differ from run to run.
hooked() {
  local patch=$1 program=$2
  mkdir "patches.$patch"
  cp "$here/$patch.lua" "patches.$patch/patch.lua"
  capture under "${@:3}" "$scripthost" run -v --patches "patches.$patch" --state "state.$patch" --events "$patch.jsonl" -- "$program"
  ended "$patch: the program runs" under
  sed '/it is not known which calls were inlined/d; s/^scripthost: //; s/0x[0-9a-f]*/ADDRESS/g; s|patches[.][a-z]*/||g' under.err >"$patch.said"
  same "$patch: hooks say how they are made, and each call is seen once" "$here/expected/$patch" "$patch.said"
}
# events PATCH NAME COUNT: that many events of a rule.
events() { check "$1: $3 events of '$2'" [ "$(grep -c "\"kind\":\"event\",\"name\":\"$2\"" "$1.jsonl")" = "$3" ]; }

capture alone ./program
hooked patch ./program
same 'it does what it does alone, but for what a handler changes' <(sed 's/^shifts .*/shifts [4, 301, 1]/' alone.out) under.out

hooked patterns ./program
same 'patterns: it does what it does alone' alone.out under.out
# Those of the class itself, its subclass and the one made later; and of two selectors with one body, the rule's own.
events patterns quiet 3
events patterns turned 1

capture late ./late
hooked waiting ./late
same 'waiting: it does what it does alone' late.out under.out
events waiting hush 2

"$(toolchain_bin)/clang" -O1 -Wall -Werror -o launch "$here/../confined/launch.c"
if ./launch no-code -- true; then
  hooked denied ./program ./launch no-code --
  same 'denied: it does what it does alone' alone.out under.out
else
  printf 'skipped: system calls cannot be refused here\n'
fi

# A library's own program: groups of hooks, which scripts do not have.
for level in debug release; do
  capture group "$(built_product $level hook-cases)" --twins ./libTwins.so
  check "$level: two functions of a pattern that have one body do not keep a group from landing: $(tail -n 1 group.out)" grep -qx 0 group.status
done

explains() { capture explain "$scripthost" explain "$2" "$3" && says "explain: $1" explain.out "$4"; }
explains 'what is too short, by the virtual table' ./libKit.so 'Kit.Plain.quiet()' '  chosen     vtable: it cannot be hooked by entry, the function at'
explains 'what is too short, by the witness' ./libKit.so 'Kit.Calm.rest()' '  chosen     witness: it cannot be hooked by entry'
explains 'what nothing leads to' ./libKit.so 'Kit.Plain.fixed()' '  chosen     none: nothing can divert its calls'
chmod -x libKit.so
capture near "$scripthost" methods ./libKit.so 'Plain.**'
says 'a pattern without the module: the one that was meant; a library need not be executable' near.err "did you mean 'Kit.Plain.**'?"
capture member "$scripthost" methods ./libKit.so 'Kit.Plain.qiuet*'
says 'a misspelt member with a star: the member' member.err "did you mean 'Kit.Plain.quiet*'?"
capture ours "$scripthost" trace -e 'Nope.**' -- plutil -help
check 'a pattern that nothing is like: no module of the host is named' bash -c 'grep -q "Nope" ours.err && ! grep -E "(SwiftMangling|HookRuntime|ScriptHost|LuaBridge|LuaSyntax|Journal)[.]" ours.err'
explains 'the rest, by entry' ./libTwins.so 'Twins.Left.turn(_:)' '  chosen     entry: calls of every kind enter the function'
finish
