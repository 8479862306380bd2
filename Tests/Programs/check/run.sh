#!/usr/bin/env bash
# What `scripthost check` says of patches: each mistake at its place, and nothing of patches that are right.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
swiftc -O -wmo -parse-as-library -module-name Shop "$here/Shop.swift" -o shop

# MARK: Mistakes

name='' sentence=''
mkdir cases
while IFS= read -r line; do
  case $line in
    '=== '*) name=${line#=== }; : >"cases/$name.lua" ;;
    '> '*) printf '%s' "${line#> }" >"cases/$name.sentence" ;;
    *) [ -z "$name" ] || printf '%s\n' "$line" >>"cases/$name.lua" ;;
  esac
done <"$here/cases.lua"
# One run for all of them: the program is read once.
capture all "$scripthost" check cases ./shop
ended 'mistakes end with status 1' all 1
for file in cases/*.lua; do
  name=${file#cases/} name=${name%.lua}
  grep -aF "$file:" all.out | grep -av ': warning: ' >found || true
  says "$name" found "$file:$(cat "cases/$name.sentence")"
  check "$name: once" [ "$(wc -l <found)" -eq 1 ]
done

# MARK: Several files

mkdir -p both unit/lib unit/tests presets
printf 'patch { id = "one" }\n' >both/a.lua
printf -- '-- Of the same id.\npatch { version = "1.0", id = "one" }\n' >both/b.lua
capture both "$scripthost" check both ./shop
ended 'two patches of one id in a directory' both 1
says 'the second is told' both.out "both/b.lua:2:31: id 'one' is taken by 'both/a.lua'; give each patch its own"
capture versions "$scripthost" check both/a.lua both/b.lua ./shop
ended 'files that are named one by one may be versions of one patch' versions
printf 'patch { id = "unit" }\nlocal money, none, linked = require "lib.money", require "lib.none", require "lib.linked"\nprint(money, none, linked)\nlocal up = require "../up"\nprint(up)\n' >unit/patch.lua
printf 'return {}\n' >unit/lib/money.lua
ln -s /etc/passwd unit/lib/linked.lua
capture unit "$scripthost" check unit ./shop
ended 'modules that are not there' unit 1
says 'a missing one' unit.out "unit/patch.lua:2:58: module 'lib.none': there is no file 'lib/none.lua' in the patch's directory"
says 'a symbolic link' unit.out "unit/patch.lua:2:78: module 'lib.linked': 'unit/lib/linked.lua' is a symbolic link; modules are files of the patch's own directory"
says 'what is no name' unit.out "unit/patch.lua:4:20: module '../up': a module's name has letters"
check 'nothing else' [ "$(grep -vc warning unit.out)" -eq 3 ]
rm unit/lib/linked.lua
ln -s /usr/lib unit/lib/away
printf 'print(require "lib.money", require "lib.away.x")\n' >unit/patch.lua
capture away "$scripthost" check unit ./shop
says 'a folder that is a symbolic link' away.out "module 'lib.away.x': 'unit/lib/away' is a symbolic link"
printf 'patch { id = "own" }\n' >presets/own.lua
printf 'use "own"\n' >presets/user.lua
capture presets "$scripthost" check presets/user.lua ./shop
ended 'a preset is found beside its user, wherever the check is called' presets

# MARK: The command line

capture dashes "$scripthost" check "$here/good.lua" -- ./shop 3 --flag
ended 'the program may stand behind --, with its arguments' dashes
says 'and is the one that is checked against' dashes.err '1 patch checked against ./shop, nothing wrong'
capture nodashes "$scripthost" check "$here/good.lua" --
ended 'nothing behind -- is no program' nodashes
capture ended "$scripthost" check -- "$here/good.lua" ./shop
ended 'behind a -- in front of all, patches and program are told apart as ever' ended

# MARK: Patches that are right

capture good "$scripthost" check --strict "$here/good.lua" ./shop
ended 'a patch that is right' good
same 'nothing is said of it' good.out /dev/null
says 'what was done is told' good.err '1 patch checked against ./shop, nothing wrong'
capture examples "$scripthost" check "$root/examples/swift-format" swift-format
ended 'the examples on swift-format' examples
same 'nothing is said of them' examples.out /dev/null
capture plutil "$scripthost" check "$root/examples/plutil/colon.lua" plutil
ended 'the example on plutil' plutil

# The presets are rules that people read and copy; what they are about is not in each of these programs.
for program in swift-format docc sourcekit-lsp; do
  capture presets "$scripthost" check --strict "$root"/presets/*.lua "$program"
  ended "the presets on $program" presets
  same "nothing is said of them on $program" presets.out /dev/null
done

# The patches of other tests, as far as the text tells.
patches=("$root"/Tests/Programs/{closures/wrap,async/patches/args/patch,imports/patches/change/patch,network/patches/track/patch,values/lifetimes/patch}.lua)
capture corpus "$scripthost" check "${patches[@]}"
ended 'patches of other tests, without a program' corpus

# MARK: Warnings

printf 'local unused = 1\nmethod "Shop.Base.touch()"\nx = 2\nlocal function f() end\nlocal m = method "Shop.Base.touch()"\n' >warn.lua
capture warn "$scripthost" check warn.lua ./shop
ended 'warnings are no mistakes' warn
says 'an unused local' warn.out "warn.lua:1:7: warning: 'unused' is never used"
says 'a method without a hook' warn.out "warn.lua:2:1: warning: this is resolved and nothing is hooked"
says 'a global that is assigned' warn.out "warn.lua:3:1: warning: global 'x' is assigned; write 'local' before it"
says 'an unused function' warn.out "warn.lua:4:16: warning: function 'f' is never called"
says 'an unused method' warn.out "warn.lua:5:7: warning: 'm' is resolved and never hooked or used"
capture strict "$scripthost" check --strict warn.lua ./shop
ended 'with --strict they are' strict 1

# MARK: The program is not started

SHOP_RAN=ran capture notrun "$scripthost" check "$here/good.lua" ./shop
ended 'a check of a program that writes a file when it runs' notrun
check 'the program did not run' [ ! -e ran ]
SHOP_RAN=ran ./shop >/dev/null
check 'which it would have shown' [ -e ran ]

# MARK: Forms

capture json "$scripthost" check --json "cases/a misspelt selector.lua" ./shop
check 'JSON reads back' python3 -c '
import json, sys
found = [json.loads(line) for line in open("json.out")]
assert len(found) == 1 and found[0]["line"] == 1 and found[0]["column"] == 8 and found[0]["severity"] == "error", found'
capture missing "$scripthost" check nowhere.lua ./shop
ended 'a patch that is not there' missing 127
capture noprogram "$scripthost" check good.lua nowhere
ended 'a program that is not there' noprogram 127
capture other "$scripthost" check shop
ended 'a program without a patch' other 2

# A program nobody here wrote, and a misspelt name in it.
printf 'method "SwiftFormat.PrettyPrinter.pretyPrint()":after(function(call) log.info(call.result) end)\n' >banner.lua
capture format "$scripthost" check banner.lua swift-format
says 'the message of the manual' format.out "banner.lua:1:8: no selector 'pretyPrint()' in SwiftFormat.PrettyPrinter; did you mean 'prettyPrint()'?"

finish
