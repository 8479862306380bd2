#!/usr/bin/env bash
# Every function of the toolchain's own programs traced, with every value decoded: they say what they say alone, and end as they do alone.
#
# EVERYTHING_WHOLE=1: also a language server, a build and a test run of a small package, which take minutes. EVERYTHING_PROGRAMS: those of
# swift-format, plutil and docc that are traced.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
# Dictionaries have the order of their hashes.
export SWIFT_BACKTRACE=enable=no SWIFT_DETERMINISTIC_HASHING=1
limit=${EVERYTHING_TIMEOUT:-900}
cd "$work"

# traced NAME FILE [COMMAND… --] COMMAND…: alone and with a trace, from directories with the same files of the same names; FILE, which both write, is
# compared too. What stands before the -- starts the program.
traced() {
  local name=$1 file=$2 which starter=()
  shift 2
  if [[ " $* " == *' -- '* ]]; then
    while [ "$1" != -- ]; do starter+=("$1"); shift; done
    shift
  fi
  for which in alone traced; do
    rm -rf here && cp -r "$here/files" here
    local with=()
    [ "$which" = alone ] || with=("$scripthost" trace -e '**' --state "$work/state" -o "$work/$name.trace" --)
    (cd here && capture "$work/$name.$which" timeout "$limit" "${starter[@]}" "${with[@]}" "$@")
    # How long it took, and the time of day.
    sed -Ei 's/[0-9]+\.[0-9]+ ?(s\b|seconds)/TIME/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]+/DATE/g' "$work/$name.$which.out"
    [ "$file" = - ] || cp -r "here/$file" "$name.$which.file"
  done
  unchanged "$name: it says and ends as it does alone" "$name.alone" "$name.traced"
  [ "$file" = - ] || check "$name: it writes the same" diff -r "$name.alone.file" "$name.traced.file"
  check "$name: calls are shown, $(head -n 1 "$name.trace" | tr -d '\n'), $(wc -l <"$name.trace") lines" [ "$(wc -l <"$name.trace")" -gt "${least:-100}" ]
  rm -f "$name.trace"
}

for program in ${EVERYTHING_PROGRAMS:-swift-format plutil docc}; do
  case $program in
    swift-format) traced swift-format - swift-format shop.swift ;;
    plutil) least=30 traced plutil - plutil -p list.plist ;;
    docc) traced docc out docc convert Shop.docc --fallback-display-name Shop --fallback-bundle-identifier shop --output-path out ;;
    *) bad "no program '$program'" ;;
  esac
done
if [ "${EVERYTHING_WHOLE:-}" ]; then
  traced sourcekit-lsp answers python3 -B "$root/Tests/Programs/presets/language.py" answers shop.swift -- sourcekit-lsp
  # `swift build` becomes this one.
  traced swift-build - swift-build --package-path package
  traced swift-test - swift-test --package-path package
fi
finish
