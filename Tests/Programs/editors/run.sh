#!/usr/bin/env bash
# Stub files for editors: those of swift-format are Lua, their annotations are well formed, and complete the program's names.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
check 'stubs are written' "$scripthost" stubs -o stubs swift-format
for file in stubs/*.lua; do check "${file##*/} is Lua" luac5.4 -p "$file"; done
judged '' python3 "$here/stubs.py" stubs
finish
