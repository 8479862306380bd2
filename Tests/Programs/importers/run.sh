#!/usr/bin/env bash
# Tests/Programs/importers/run.sh: a program compiles copies of a library's inlinable functions into itself. Hooks stand on the library's
# bodies: that calls are missed is told where the program's debug information shows the copies, that it is not known where it has none.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
cp "$here"/*.swift .
selectors=('Lib.copied(_:)' 'Lib.own(_:)' 'Lib.Sized.size(_:)')
{
  printf '%s\n' 'patch { id = "importers", version = "1.0.0", api = 1 }'
  for selector in "${selectors[@]}"; do printf 'track "%s" { on = "%s" }\n' "$selector" "$selector"; done
} >rules.lua

# built DEBUG…: the library with debug information, the program as the words say.
built() {
  swiftc -O -g -parse-as-library -emit-library -emit-module -module-name Lib Lib.swift -o libLib.so
  swiftc -O "$@" -wmo -I. -L. -lLib -Xlinker -rpath -Xlinker '$ORIGIN' -module-name App main.swift -o app
}

# seen SELECTOR: how many calls the trace has of it.
seen() { awk -v name="$1" '$NF == name { sum += $(NF - 1) } END { print sum + 0 }' table; }

for debug in -g '-g -dwarf-version=5' -gline-tables-only -gnone; do
  # shellcheck disable=SC2086 # words
  built $debug
  ./app >alone
  capture traced "$scripthost" trace -c --why --state state -o table "${selectors[@]/#/-e}" -- ./app
  check "$debug: the program says what it says alone" cmp -s alone traced.out
  for name in copied own size; do declare "$name=$(awk -v name=$name '$2 == name { print $3 }' alone)"; done
  check "$debug: calls of copies are missed: $(seen 'Lib.copied(_:)') of $copied, $(seen 'Lib.Sized.size(_:)') of $size" \
    [ "$(seen 'Lib.copied(_:)')" -lt "$copied" -a "$(seen 'Lib.Sized.size(_:)')" -lt "$size" ]
  check "$debug: what is not inlinable is seen" [ "$(seen 'Lib.own(_:)')" = "$own" ]
  capture_loaded ruled "$scripthost" run -v --state state --patches rules.lua -- ./app
  case $debug in
  -g | *=5)
    for selector in 'Lib.copied(_:)' 'Lib.Sized.size(_:)'; do
      check "$debug: a trace tells that $selector has copies" grep -qE "in part ${selector//[()]/.}: may miss [0-9]+ cop(y|ies) of it in app, which compiled" table
      check "$debug: loading tells it of $selector" grep -qE "'${selector//[()]/.}' may miss [0-9]+ cop(y|ies) of it in app, which compiled" ruled.err
      check "$debug: explain tells it of $selector" grep -qE "not known to be covered: a hook may miss [0-9]+ cop(y|ies) of it in app, which compiled" <("$scripthost" explain ./app "$selector")
    done
    check "$debug: nothing is told of what has none" [ "$(grep -c 'own(_:)' table)" -eq 1 ] ;;
  -gline-tables-only) says "$debug: what is not known is told" table 'may miss copies of it that were inlined: app has debug information for lines alone' ;;
  -gnone)
    says "$debug: what is not known is told" table 'may miss copies of it that were inlined: app has no debug information'
    says "$debug: loading tells it" ruled.err 'app has no debug information' ;;
  esac
done
finish
