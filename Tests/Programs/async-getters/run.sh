#!/usr/bin/env bash
# Tests/Programs/async-getters/run.sh: async getters that throw, that do not, and that leave an error of their own behind: no name tells
# which. What a patch sees of each call is held against what the program says itself; then `trace -c`, and results that are replaced.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
for level in $levels; do
  swiftc -swift-version 6 "$level" -parse-as-library -emit-module -emit-object -module-name Shop "$here/Shop.swift" -o Shop.o
  swiftc -swift-version 6 "$level" -module-name Caller "$here/main.swift" Shop.o -I. -o apart
  swiftc -swift-version 6 "$level" -wmo -DWHOLE -module-name Shop "$here/main.swift" "$here/Shop.swift" -o whole
  for program in apart whole; do
    what="$level, $program"
    sed "s|MODULE|Shop|" "$here/patch.lua" >patch.lua
    capture plain timeout 60 "./$program"
    capture hooked timeout 60 "$scripthost" run -v --state state --patches patch.lua -- "./$program"
    unchanged "$what: the program behaves as ever" plain hooked
    sed -n 's/.*SAW //p' hooked.err >saw
    case $program in
      # The optimiser makes copies that are called in their place, which are told: what is seen is right, in its order.
      whole)
        check "$what: every outcome that is seen is true" python3 "$here/within.py" saw plain.out
        [ "$level" = -O ] || [ "$level" = -Osize ] || same "$what: every outcome is seen" saw plain.out ;;
      apart) same "$what: every outcome is seen" saw plain.out ;;
    esac
  done

  capture counted timeout 60 "$scripthost" trace -c -e 'Shop.Counter.price.get' -- ./apart
  threw=$(grep -c '^Counter.price threw' plain.out)
  check "$level: trace -c counts the calls and those that threw" \
    grep -qE " $(grep -c '^Counter.price' plain.out) +$threw +Shop.Counter.price.get" counted.err

  sed 's/MODULE/Shop/' "$here/replace.lua" >replace.lua
  capture replaced timeout 60 "$scripthost" run -v --state state --patches replace.lua -- ./apart
  ended "$level: the program ends as ever with other results" replaced
  check "$level: a result takes the place of an error" [ "$(grep -c '^Counter.price returned 99$' replaced.out)" = "$(grep -c '^Counter.price' plain.out)" ]
  check "$level: a text takes the place of a text" [ "$(grep -c '^Counter.label returned another, and a long one at that$' replaced.out)" = "$(grep -c '^Counter.label' plain.out)" ]
  check "$level: the error of a type of its own cannot be replaced" grep -qa 'unknown type' replaced.err
done
finish
