#!/usr/bin/env bash
# Tests/Architecture/run.sh: each dangerous act stays with its owner, by the table in `owners`.
. "$(dirname "${BASH_SOURCE[0]}")/../Programs/support/checks.sh"

# Without comments: a line comment, and lines inside a block comment that begin with a star.
code() { sed -E 's#(^|[^:])//.*#\1#; s#/\*.*\*/##g; /^ *\*/d' "$1"; }

cd "$root/Sources"
while IFS='|' read -r act rest; do
  [[ $act =~ ^[[:space:]]*(#|$) ]] && continue
  files=${rest##*|} pattern=${rest%|*}
  act=$(sed 's/^ *//; s/ *$//' <<<"$act")
  pattern=$(sed 's/^ *//; s/ *$//' <<<"$pattern")
  read -ra owners <<<"$files"
  found=()
  while IFS= read -r file; do
    code "$file" | grep -E -- "$pattern" >/dev/null && found+=("$file")
  done < <(grep -rlE --include='*.swift' --include='*.c' --include='*.h' --include='*.S' -- "$pattern" . | sed 's#^\./##' | LC_ALL=C sort)
  for file in "${found[@]}"; do
    owned=no
    for owner in "${owners[@]}"; do [[ $file == "$owner"* ]] && owned=yes; done
    case $owned in
      yes) ;;
      *) bad "$act: $file is no owner" "$(code "$file" | grep -nE -- "$pattern" | head -n 3)" "owners: ${owners[*]}" ;;
    esac
  done
  for owner in "${owners[@]}"; do
    case " ${found[*]} " in
      *" $owner"*) good "$act: $owner" ;;
      *) bad "$act: $owner does not do it any more; take it off the table" ;;
    esac
  done
done <"$here/owners"

# Everything opened inside a program does without Foundation (ABI: eleven dynamic replacements would change the program).
if grep -rnE '^ *(public |package |internal |private |@preconcurrency )*import (Foundation|FoundationEssentials)' \
  HookRuntime LuaBridge ScriptHost ScriptHostBoot SwiftMangling >"$work/imports"; then
  bad 'no Foundation in what is opened inside a program' "$(head -n 3 "$work/imports")"
else
  good 'no Foundation in what is opened inside a program'
fi
finish
