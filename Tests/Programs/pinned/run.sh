#!/usr/bin/env bash
# `scripthost pin`: a patch that is tied to the code of its functions is loaded in a new build in which they did not change, and in no other.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"

cat >pinned.lua <<'LUA'
-- The total, and what goes with it.
patch { id = "pinned", version = "1.0.0", api = 1, target = { program = "shop" } }

method "Shop.Cart.total(tax:)":around(function(call) return call:original() + 100 end)
method "Shop.Cart.deliver(_:)":before(function(call) end)
track "labels" { on = "Shop.Cart.label(_:)" }
track "all" { on = "Shop.Cart.*" }
LUA

# build NAME FLAG…: the program of that directory.
build() {
  local name=$1
  shift
  mkdir -p "$name"
  swiftc -parse-as-library -module-name Shop "$level" "$@" "$here/Shop.swift" -o "$name/shop" 2>build.log || bad "$level: $name builds" "$(tail -n 3 build.log)"
}
# runs NAME: the program of that directory with the patch.
runs() { capture "$1" "$scripthost" run -v --state state --patches patches -- "$1/shop"; }

for level in -Onone -O; do
  rm -rf patches
  mkdir patches
  build shop
  cp pinned.lua patches
  capture pin "$scripthost" pin --write patches/pinned.lua shop/shop
  ended "$level: it is pinned" pin
  says "$level: how many functions" pin.err "patches/pinned.lua: 3 functions of shop pinned"
  says "$level: a glob is left out, and told" pin.err "'Shop.Cart.*' is left out: a glob"
  check "$level: the header has them" [ "$(grep -c '^    \["Shop.Cart.[a-z]*(.*)"\] = "[0-9a-f]\{16\}",$' patches/pinned.lua)" -eq 3 ]
  cp patches/pinned.lua once.lua
  capture again "$scripthost" pin --write patches/pinned.lua -- shop/shop
  check "$level: pinning it again changes nothing" cmp -s once.lua patches/pinned.lua
  capture checked "$scripthost" check patches/pinned.lua shop/shop
  ended "$level: check finds nothing wrong" checked

  runs shop
  says "$level: loaded where it was pinned" shop.out '105.25 2 pieces 4'
  build other -D OTHER
  check "$level: the other build has another code everywhere" bash -c '! cmp -s shop/shop other/shop'
  runs other
  says "$level: loaded where other functions changed" other.out '105.25 2 pieces 4'
  for what in 'CHANGED total(tax:)' 'CLOSURE total(tax:)' 'TEXT label(_:)' 'LATER deliver(_:)'; do
    flag=${what%% *} function=${what#* }
    build "$flag" -D "$flag"
    runs "$flag"
    says "$level $flag: refused where that one changed" "$flag.err" "pinned.lua: the code of 'Shop.Cart.$function' is not what the patch was pinned to"
    check "$level $flag: the program runs without it" bash -c "! grep -q '10[0-9][.]' $flag.out && [ -s $flag.out ]"
  done
  capture changed "$scripthost" check patches/pinned.lua CHANGED/shop
  ended "$level: check says so before" changed 1
  says "$level: where in the text" changed.out "patches/pinned.lua:5:6: the code of 'Shop.Cart.total(tax:)' is not what the patch was pinned to"
  # Of a build that the header lists, nobody asks.
  id=$(readelf -n CHANGED/shop | sed -n 's/.*Build ID: //p')
  sed -i "s/program = \"shop\"/program = \"shop\", build_ids = { \"${id:0:12}\" }/" patches/pinned.lua
  runs CHANGED
  says "$level: a build that is listed" CHANGED.out '106.25'
  runs other
  says "$level: one that is not, whose code is the same" other.out '105.25'
done

# What people write.
mkdir forms
printf 'method "Shop.Cart.total(tax:)":before(function(call) end)\n' >forms/none.lua
printf 'patch { id = "bare", -- a name\n  priority = 2, -- outside\n}\nmethod "Shop.Cart.total(tax:)":before(function(call) end)\n' >forms/bare.lua
printf 'patch { target = {} }\nmethod "Shop.Cart.total(tax:)":before(function(call) end)\n' >forms/empty.lua
printf "patch({ target = { bodies = { ['Shop.Cart.total(tax:)'] = '0123456789abcdef' }; program = 'shop' } })\nmethod 'Shop.Cart.total(tax:)':before(function(call) end)\n" >forms/old.lua
for form in none bare empty old; do
  capture "$form" "$scripthost" pin --write forms/$form.lua shop/shop
  ended "the header is written: $form" "$form"
  capture "$form" "$scripthost" check forms/$form.lua shop/shop
  ended "and is right: $form" "$form"
  check "and pins: $form" grep -q '\["Shop.Cart.total(tax:)"\] = "[0-9a-f]*"' forms/$form.lua
  check "and the rest is there: $form" [ "$(grep -c 'before(function' forms/$form.lua)" -eq 1 ]
done
capture printed "$scripthost" pin forms/bare.lua shop/shop
check 'without --write it is printed' grep -q '^  \["Shop.Cart.total(tax:)"\] = "' printed.out
printf 'track "all" { on = "Shop.Cart.*" }\n' >forms/glob.lua
capture glob "$scripthost" pin forms/glob.lua shop/shop
ended 'nothing to pin' glob 1
says 'why' glob.err 'no function that it names has code to pin'
printf 'method "Shop.Cart.totl(tax:)":before(function(call) end)\n' >forms/wrong.lua
capture wrong "$scripthost" pin forms/wrong.lua shop/shop
ended 'a patch with a mistake' wrong 1
says 'is not pinned, and the mistake is told' wrong.err "did you mean 'total(tax:)'?"
for mistake in 'bodies = 5|is a table of selectors with digests' 'bodies = { "x" }|has selectors with digests of 16 digits' \
  'bodies = { ["x"] = "12" }|has selectors with digests of 16 digits' 'bodies = { [5] = "12" }|expected a text after' \
  'bodies = { ["x" = "12" }|expected '\'']'\'' to close'; do
  printf 'patch { target = { %s } }\n' "${mistake%%|*}" >forms/mistake.lua
  capture mistake "$scripthost" check forms/mistake.lua
  says "a mistake: ${mistake%%|*}" mistake.out "${mistake#*|}"
done

# A program that nobody here wrote: two builds of it are not at hand, its own code is.
format=$(readlink -f "$(command -v swift-format)")
printf 'patch { id = "banner" }\nmethod "SwiftFormat.PrettyPrinter.prettyPrint()":around(function(call) return call:original() .. "// pinned\\n" end)\n' >banner.lua
capture banner "$scripthost" pin --write banner.lua "$format"
ended 'swift-format is pinned' banner
printf 'let  x=1\n' >t.swift
capture formatted "$scripthost" run --state state --patches banner.lua -- "$format" t.swift
says 'and the patch is loaded in it' formatted.out '// pinned'
finish
