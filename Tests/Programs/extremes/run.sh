#!/usr/bin/env bash
# The extremes of every option and argument that the reference of scripts names (cases.py): a program ends as without the patch, whether they are
# given while it is loaded or in a handler, and no single patch holds it up longer than its budgets.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
shop=$root/Tests/Programs/reference
swiftc -Onone -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Shop "$shop/Shop.swift" -o libShop.so
swiftc -Onone -suppress-warnings -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' -module-name main "$here/main.swift" -o shop
count=$(python3 "$here/cases.py" "$root/docs/lua-api.md" cases)
# EXTREMES=N takes every Nth patch, EXTREMES_ONLY=TEXT those whose name holds the text.
find cases -name "*${EXTREMES_ONLY:-}*.lua" | LC_ALL=C sort | awk -v n="${EXTREMES:-1}" 'NR % n == 0' >all

# ends FILE…: the program with these patches comes to its end.
ends() {
  local patches=() each state status=0
  state=$(mktemp -d)
  for each; do patches+=(--patches "$each"); done
  SWIFT_BACKTRACE=enable=no timeout -s KILL $((20 + 5 * $#)) "$scripthost" run --state "$state" "${patches[@]}" -- ./shop >"$state/out" 2>"$state/err" </dev/null || status=$?
  [ "$status" = 0 ] && [ "$(tail -n 1 "$state/out")" = end ] || { printf '%s\n' "status $status" "$(tail -n 2 "$state/err" | cut -c 1-200)"; status=1; }
  rm -rf "$state"
  return "$status"
}

# group FILE…: one line for each patch that does not let the program end.
group() {
  ends "$@" >/dev/null && return 0
  local each said
  for each; do said=$(ends "$each") || printf '%s: %s\n' "$each" "$(tr '\n' ' ' <<<"$said")"; done
}
export -f ends group
export scripthost
xargs -P 2 -n 24 bash -c 'group "$@"' group <all >wrong
while IFS= read -r line; do bad "${line%%:*}" "${line#*: }"; done <wrong
good "$(wc -l <all) of $count patches"
check 'there are patches for hundreds of slots' [ "$count" -ge 1000 ]
finish
