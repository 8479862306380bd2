#!/usr/bin/env bash
# Tests/Programs/isolation/run.sh: whether async functions take their callers' actors, which no name tells, is seen or said not to be known.
#
# With the upcoming feature NonisolatedNonsendingByDefault and without, at -Onone and -O, each argument a trace shows is the one that
# was passed. What is not shown is counted.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
python3 -B "$here/generate.py" Isolated.swift expected

for level in -Onone -O; do
  for feature in "" "-enable-upcoming-feature NonisolatedNonsendingByDefault"; do
    what="$level${feature:+ with the feature}"
    # shellcheck disable=SC2086
    swiftc -swift-version 6 -suppress-warnings -wmo -parse-as-library $level $feature -module-name Isolated Isolated.swift -o program
    capture run env SWIFT_BACKTRACE=enable=no "$scripthost" trace --state state -e 'Isolated.**.f*' -e 'Isolated.f*' -o traced -- ./program
    check "$what: the program ends as alone" [ "$(cat run.status) $(cat run.out)" = '0 end' ]
    python3 -B "$here/compare.py" expected traced >told || bad "$what: arguments are those that were passed" "$(head -n 20 told)"
    good "$what: $(tail -n 1 told)"
  done
done
finish
