#!/usr/bin/env bash
# Tests/Programs/types-table/run.sh [--write]: docs/types.md says what a fresh run shows; --write writes it anew.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

page=$root/docs/types.md
python3 -B "$here/generate.py" "$work"
cd "$work"
# The subject is a module of its own, so that callers know no more of it than they would of a library; equal functions stay apart.
compile=(swiftc -swift-version 6 -O -wmo -parse-as-library -I. -suppress-warnings -disable-cmo -Xllvm -swiftmergefunc-threshold=0)
"${compile[@]}" -emit-module -emit-object -module-name Kinds Kinds.swift -o Kinds.o
"${compile[@]}" -module-name Main main.swift Kinds.o -o table
patches=()
for patch in patches/*; do patches+=(--patches "$patch"); done
capture plain ./table
capture_loaded patched timeout 120 "$scripthost" run -v --state state "${patches[@]}" -- ./table
loaded=$(grep -c ': loaded, ' patched.err || true)
same 'the program comes to its end' plain.status patched.status
check "all patches are loaded ($loaded of $((${#patches[@]} / 2)))" [ "$loaded" -eq $((${#patches[@]} / 2)) ]
status=0
python3 -B "$here/table.py" patched.out patched.err >types.md 2>table.err || status=$?
check 'every value read, replaced and answered is the right one, or refused' [ "$status" -eq 0 ]
cat table.err
if [ "${1:-}" = --write ] && [ "$loaded" -eq $((${#patches[@]} / 2)) ]; then cp types.md "$page"; fi
if cmp -s "$page" types.md; then good 'docs/types.md is what this run shows'
else bad 'docs/types.md is what this run shows; write it anew with --write' "$(diff "$page" types.md | head -20)"; fi
finish
