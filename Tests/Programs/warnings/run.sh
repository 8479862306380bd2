#!/usr/bin/env bash
# The C code has no warnings. (The package has no flags that would show them: see Package.swift.) And the compiler takes none of
# its functions for cold: it then makes them small instead of fast, which a __builtin_expect of the wrong kind brings about.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

# Names the functions of a module in LLVM's text that are made small; parts split off as cold are meant to be.
made_small() {
  awk '/^define / { match($0, /@[A-Za-z0-9_.]+\(/); name = substr($0, RSTART + 1, RLENGTH - 2)
                    if (match($0, /#[0-9]+/)) attributes[name] = substr($0, RSTART, RLENGTH) }
       /^attributes #/ && /minsize/ { small[$2] = 1 }
       END { for (name in attributes) if (attributes[name] in small && name !~ /\.cold/) print name }' "$1"
}
compile=("$(toolchain_bin)/clang" -fblocks -Wall -Wextra -Werror -I"$root/Sources/CFrame/include" -I"$root/Sources/CHookTrampoline/include"
  -I"$root/Sources/CLuaShim/include" -I"$root/Sources/CCrash/include" -I"$root/Sources/CHandler/include")
while IFS= read -r file; do
  name=${file#"$root"/}
  case $name in
    # Warnings and code come of one run.
    Sources/CHookTrampoline/* | Sources/CLuaShim/*)
      rm -f "$work/code.ll"
      check "no warning: $name" "${compile[@]}" -O2 -fPIC -fno-omit-frame-pointer -S -emit-llvm -o "$work/code.ll" "$file"
      [ ! -e "$work/code.ll" ] || same "made fast: $name" /dev/null <(made_small "$work/code.ll")
      ;;
    *) check "no warning: $name" "${compile[@]}" -fsyntax-only "$file" ;;
  esac
done < <(find "$root/Sources" "$root/Tests/Fixtures/intercept-cases" -name '*.c' | LC_ALL=C sort)
check 'there are C files' [ "$checks" -gt 50 ]
check 'no unsafe flags in Package.swift: nobody could depend on this package by version' sh -c '! grep -n unsafeFlags "$1"' sh "$root/Package.swift"
finish
