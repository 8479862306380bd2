#!/usr/bin/env bash
# The C code has no warnings. (The package has no flags that would show them: see Package.swift.) And the compiler takes none of
# its functions for cold: it then makes them small instead of fast, which a __builtin_expect of the wrong kind brings about.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

while IFS= read -r file; do
  check "no warning: ${file#"$root"/}" "$(toolchain_bin)/clang" -fsyntax-only -fblocks -Wall -Wextra -Werror -I"$root/Sources/CFrame/include" -I"$root/Sources/CHookTrampoline/include" \
    -I"$root/Sources/CLuaShim/include" -I"$root/Sources/CCrash/include" -I"$root/Sources/CHandler/include" "$file"
done < <(find "$root/Sources" "$root/Tests/Fixtures/intercept-cases" -name '*.c' | LC_ALL=C sort)

# Names the functions of a module in LLVM's text that are made small; parts split off as cold are meant to be.
made_small() {
  awk '/^define / { match($0, /@[A-Za-z0-9_.]+\(/); name = substr($0, RSTART + 1, RLENGTH - 2)
                    if (match($0, /#[0-9]+/)) attributes[name] = substr($0, RSTART, RLENGTH) }
       /^attributes #/ && /minsize/ { small[$2] = 1 }
       END { for (name in attributes) if (attributes[name] in small && name !~ /\.cold/) print name }'
}
while IFS= read -r file; do
  small=$("$(toolchain_bin)/clang" -O2 -fPIC -fno-omit-frame-pointer -fblocks -S -emit-llvm -o - "$file" \
    -I"$root/Sources/CFrame/include" -I"$root/Sources/CHookTrampoline/include" -I"$root/Sources/CLuaShim/include" -I"$root/Sources/CCrash/include" -I"$root/Sources/CHandler/include" | made_small)
  same "made fast: ${file#"$root"/}" /dev/null <(printf '%s' "$small")
done < <(find "$root/Sources/CHookTrampoline" "$root/Sources/CLuaShim" -name '*.c' | LC_ALL=C sort)
check 'there are C files' [ "$checks" -gt 50 ]
check 'no unsafe flags in Package.swift: nobody could depend on this package by version' sh -c '! grep -n unsafeFlags "$1"' sh "$root/Package.swift"
finish
