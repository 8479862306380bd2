#!/usr/bin/env bash
# Scripts observe properties of a program's own objects and of Foundation's, at -Onone and at -O.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
for level in -Onone -O; do
  swiftc "$level" -wmo -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Shop "$here/Shop.swift" -o libShop.so
  swiftc "$level" -suppress-warnings -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Till "$here/main.swift" -o program
  capture plain timeout 60 ./program
  capture seen timeout 60 "$scripthost" run -v --state "state$level" --patches "$here/patch.lua" -- ./program
  same "$level: the program's output" plain.out seen.out
  check "$level: it ends well" grep -qx 0 seen.status
  sed -n 's/.*TOLD //p' seen.err >told
  cat >expected <<'TOLD'
lines 0>1*
total 0.0>2.5*
title first>second
title second>third
customer.name nil>Ann
customer.name Ann>Bo
customer.name Bo>nil
address.city Ulm>Bonn*
total 2.5>0.0
static limit 1>7
completedUnitCount 0>3
completedUnitCount 3>7*
TOLD
  sed -i 's/^limit/static limit/' told
  same "$level: what is told, in order" told expected
  says "$level: what is seen" seen.err 'seen     Shop.Cart.title.set'
  says "$level: what is not" seen.err 'unseen   writes inside Shop that the compiler stored straight into the field'
  says "$level: an unknown property" seen.err "cannot observe 'titel': Shop.Cart has no property of that name"
  says "$level: no object" seen.err "'observe' takes an object or class, got an integer"
  says "$level: no function" seen.err "'observe' takes an object or class, a property such as"
  says "$level: a static property of an object" seen.err 'a static property is observed on its class'
  says "$level: a failing function is said" seen.err 'oops'
  says "$level: the handle shows itself" seen.err 'SHOWN observation of title'
done
finish
