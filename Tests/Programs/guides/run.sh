#!/usr/bin/env bash
# The code in docs/coming-from.md runs: each block is a patch of a small shop by itself, and what it says it prints is printed. So does that in
# docs/tracking.md, docs/apm.md and docs/export.md, with a program that has what these pages name.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
export LC_ALL=C
for level in -Onone -O; do
  compile=(swiftc -swift-version 6 "$level" -suppress-warnings)
  "${compile[@]}" -parse-as-library -emit-library -emit-module -module-name Shop -o libShop.so "$here/Shop.swift"
  "${compile[@]}" -module-name main -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' "$here/main.swift" -o shop
  capture alone ./shop
  # A block begins below its ```lua; its number is that in the page.
  rm -rf blocks && mkdir blocks
  awk '/^```lua$/ { inside = 1; number += 1; next } /^```$/ { inside = 0 } inside { print > sprintf("blocks/%02d.lua", number) }' "$root/docs/coming-from.md"
  check "$level: the page has code" [ "$(find blocks -name '*.lua' | wc -l)" -ge 15 ]
  for block in blocks/*.lua; do
    name="$level: $(basename "$block" .lua), $(head -n 1 "$block" | cut -c 4-60)"
    sed -n 's/.*-- prints: //p' "$block" >expected
    status=0
    "$scripthost" run -v --state state --patches "$block" -- ./shop >both 2>&1 || status=$?
    check "$name: the program comes to its end" [ "$status" -eq 0 ]
    check "$name: no handler fails" bash -c '! grep -aE "stopped|runs instead|[1-9] refused|failed 5 times|attempt to" both'
    sed 's/^scripthost: [^ ]*lua:[0-9]*: //' both >said
    # The program's output may be held back to its end: each line is looked for, wherever it is.
    sort -u said >said.lines
    if [ -s expected ] && [ -z "$(sort -u expected | comm -23 - said.lines)" ]; then
      good "$name: prints what it says"
    else
      bad "$name: prints what it says" "expected: $(cat expected)" "found: $(cat both)"
    fi
  done
done

# The pages about what is watched: each block is loaded by itself, and nothing of it is refused; each line of the shell is run as it stands.
watched=$here/watched
export PATH=$products:$PATH STATE_DIRECTORY=$work/watched-state
for level in -Onone -O; do
  compile=(swiftc -swift-version 5 "$level" -suppress-warnings -Xlinker -rpath -Xlinker '$ORIGIN' -I. -L.)
  "${compile[@]}" -parse-as-library -emit-library -emit-module -module-name Toolkit "$here/../screens/Toolkit.swift" -o libToolkit.so
  for module in Shop Trip Bus; do "${compile[@]}" -parse-as-library -emit-library -emit-module -module-name $module "$watched/$module.swift" -o lib$module.so; done
  "${compile[@]}" -module-name main -lToolkit -lShop -lTrip -lBus "$watched/main.swift" -o server
  ln -sf server tool && ln -sf server client
  capture alone ./server
  for page in tracking apm export; do
    rm -rf blocks && mkdir blocks
    awk '/^```lua$/ { inside = 1; number += 1; next } /^```$/ { inside = 0 } inside { print > sprintf("blocks/%02d.lua", number) }' "$root/docs/$page.md"
    for block in $(find blocks -name '*.lua' | sort); do
      name="$level: docs/$page.md, block $(basename "$block" .lua)"
      capture block timeout 30 "$scripthost" run -v --patches "$block" -- ./server
      unchanged "$name: the program goes on as it did" alone block
      check "$name: nothing is refused" bash -c '! grep -aE "cannot|refused|not hooked|left out|stopped|:[0-9]+:.*(unknown|no |did you mean)|failed" block.err; grep -aq ": loaded" block.err'
    done
    grep -E '^    scripthost ' "$root/docs/$page.md" | sed 's/^    //' >lines || true
    while IFS= read -r line; do
      capture line timeout 30 bash -c "$line"
      check "$level: docs/$page.md: $line" [ "$(cat line.status)" -eq 0 ]
    done <lines
  done
done
finish
