#!/usr/bin/env bash
# The C code has no warnings. (The package has no flags that would show them: see Package.swift.)
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"
need_swift
checked=0
while IFS= read -r file; do
  "$(toolchain_bin)/clang" -fsyntax-only -fblocks -Wall -Wextra -Werror -I"$root/Sources/CHookTrampoline/include" \
    -I"$root/Sources/CLuaShim/include" "$file"
  checked=$((checked + 1))
done < <(find "$root/Sources" "$root/Tests/Fixtures/intercept-cases" -name '*.c' | LC_ALL=C sort)
[ "$checked" -gt 0 ] || fail 'no C file found'
! grep -n 'unsafeFlags' "$root/Package.swift" || fail 'unsafe flags in Package.swift: nobody could depend on this package by version'
printf '%s checks\n' "$checked"
