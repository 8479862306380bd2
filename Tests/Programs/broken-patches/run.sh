#!/usr/bin/env bash
# A patch that is broken changes nothing but what is said on stderr: one clear sentence each, the
# program's output and exit status stay, and the other patches are loaded.
# BROKEN_TOGETHER: so many of them are loaded by one run of the program (1).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

printf 'import Foundation\nstruct A{var x=1\nfunc f( a:Int,b : String )->String{ return "\\(a)"+b}}\n' >"$work/a.swift"
capture "$work/alone" swift-format "$work/a.swift"
state=$work/state
format() { capture "$work/run" "$scripthost" run --state "$state" "$@" -- swift-format "$work/a.swift"; }

# good.lua is loaded beside each case, after it.
good='patch { id = "good", priority = -1 } print("the good one is loaded")'
mkdir "$work/good" && printf '%s\n' "$good" >"$work/good/good.lua"

# broken NAME FILE SENTENCE: an empty sentence means silence. `load` loads what waits to be loaded together.
names=() paths=() sentences=()
broken() {
  names+=("$1") paths+=(--patches "$2") sentences+=("$3")
  [ ${#names[@]} -lt "${BROKEN_TOGETHER:-1}" ] || load
}
load() {
  [ ${#names[@]} -gt 0 ] || return 0
  local all expected=0 i
  all=$(printf '%s, ' "${names[@]}")
  format -v "${paths[@]}" --patches "$work/good"
  unchanged "${all%, }: output and status are the program's" "$work/alone" "$work/run"
  says "${all%, }: the other patch is loaded" "$work/run.err" 'good.lua:1: the good one is loaded'
  format "${paths[@]}" --patches "$work/good"
  for i in "${!names[@]}"; do
    [ "${sentences[i]}" ] || continue
    expected=$((expected + 1))
    says "${names[i]}: ${sentences[i]}" "$work/run.err" "${sentences[i]}"
    check "${names[i]}: in one line" [ "$(grep -acF -- "${sentences[i]}" "$work/run.err")" -eq 1 ]
  done
  check "${all%, }: nothing else is said" [ "$(wc -l <"$work/run.err")" -eq $expected ]
  names=() paths=() sentences=()
}

# MARK: What the text says

mkdir "$work/cases"
name='' sentence=''
while IFS= read -r line; do
  case $line in
    '=== '*) name=${line#=== }; : >"$work/cases/$name.lua"; : >"$work/cases/$name.sentence" ;;
    '>') ;;
    '> '*) printf '%s' "${line#> }" >"$work/cases/$name.sentence" ;;
    *) [ -z "$name" ] || printf '%s\n' "$line" >>"$work/cases/$name.lua" ;;
  esac
done <"$here/cases.lua"
for file in "$work"/cases/*.lua; do
  name=$(basename "$file" .lua)
  broken "$name" "$file" "$(cat "$work/cases/$name.sentence")"
done

# MARK: What the file is

files=$work/files
mkdir "$files"
{ printf -- '-- big\n'; head -c 104857600 /dev/zero | tr '\0' '-'; } >"$files/big.lua"
printf '\033Lua\124\0\031\223' >"$files/bytecode.lua"
: >"$files/empty.lua"
printf '\377\376p\0a\0t\0c\0h\0 \0{\0}\0' >"$files/utf16.lua"
printf '\376\377\0p\0a\0t\0c\0h\0 \0{\0}' >"$files/utf16-big-endian.lua"
printf 'local a = 1\n\0\0error("ran")\n' >"$files/nul.lua"
printf 'patch { id = "caf\351" }\n' >"$files/latin1.lua"
{ printf 'patch '; head -c 120000 /dev/zero | tr '\0' '{'; } >"$files/header-deep.lua"
{ printf 'patch {'; for ((i = 0; i < 9000; i++)); do printf 'a%d=1,' $i; done; printf '}'; } >"$files/header-many.lua"
{ printf 'local t = '; head -c 1000 /dev/zero | tr '\0' '{'; head -c 1000 /dev/zero | tr '\0' '}'; } >"$files/nested.lua"
broken 'a file of 100 MB' "$files/big.lua" "big.lua: 104857607 bytes, a patch has at most 131072"
broken 'bytecode' "$files/bytecode.lua" 'bytecode.lua: bytecode, expected Lua source text'
broken 'an empty file' "$files/empty.lua" 'empty.lua: the file is empty'
broken 'UTF-16' "$files/utf16.lua" 'utf16.lua: the file is UTF-16; save it as UTF-8'
broken 'UTF-16, big endian' "$files/utf16-big-endian.lua" 'utf16-big-endian.lua: the file is UTF-16; save it as UTF-8'
broken 'NUL bytes' "$files/nul.lua" 'nul.lua:2: NUL byte in the source; is this a text file?'
broken 'Latin-1 in the header' "$files/latin1.lua" "latin1.lua:1: an id has 1 to 64 letters"
broken 'a header nested 120000 deep' "$files/header-deep.lua" 'header-deep.lua:1: tables nest more than 4 deep'
broken 'a header of 9000 fields' "$files/header-many.lua" 'header-many.lua:1: more than 64 fields'
broken 'tables nested 1000 deep' "$files/nested.lua" 'nested.lua: too many nested blocks, functions or parentheses'

# In a directory each.
odds=0
odd() { odds=$((odds + 1)) odd=$work/odd$odds && mkdir -p "$odd"; }
odd && mkdir "$odd/x.lua"
broken 'a directory that is called x.lua' "$odd" 'x.lua: a directory, expected a Lua file'
odd && mkfifo "$odd/x.lua"
broken 'a FIFO' "$odd" 'x.lua: not an ordinary file, expected a Lua file'
odd && ln -s nowhere "$odd/x.lua"
broken 'a link to nowhere' "$odd" 'x.lua: No such file or directory'
odd && ln -s x.lua "$odd/x.lua"
broken 'a link to itself' "$odd" 'x.lua: Too many levels of symbolic links'
odd && printf 'patch { id = "same" }\n' | tee "$odd/a.lua" >"$odd/b.lua"
broken 'an id that is taken' "$odd" "b.lua: id 'same' is taken by '$odd/a.lua'; give each patch its own"
odd && printf 'print(1)\n' >"$odd/notes.txt"
broken 'a directory without patches' "$odd" ''
says 'which is told with -v' <(format -v --patches "$odd"; cat "$work/run.err") "'$odd' has no patches; a patch is a file that ends in .lua"
odd && printf 'print(1)\n' >"$odd/$(printf 'caf\351').lua"
broken 'a name that is no UTF-8' "$odd" ''
says 'it is loaded, too' <(format -v --patches "$odd"; cat "$work/run.err") '.lua:1: 1'
load
if [ "$(id -u)" -eq 0 ]; then
  odd && printf 'print(1)\n' >"$odd/x.lua" && chmod 000 "$odd/x.lua"
  chmod -R a+rX "$work" && chmod 000 "$odd/x.lua" && mkdir -p "$work/open" && chmod 777 "$work/open"
  format() { capture "$work/run" setpriv --reuid 65534 --regid 65534 --clear-groups "$scripthost" run --state "$work/open" "$@" -- swift-format "$work/a.swift"; }
  broken 'an unreadable file' "$odd" 'x.lua: Permission denied'
  odd && chmod 000 "$odd"
  broken 'an unreadable directory' "$odd" "${odd##*/}: Permission denied"
  load
  format() { capture "$work/run" "$scripthost" run --state "$state" "$@" -- swift-format "$work/a.swift"; }
fi
format --patches "$work/nowhere"
check 'a missing directory: the program is not started' [ "$(cat "$work/run.status")" -eq 125 ]
says 'a missing directory: the sentence' "$work/run.err" "--patches: no directory or file '$work/nowhere'; create it or correct the path"

# MARK: What handlers do

printer='SwiftFormat.PrettyPrinter.prettyPrint()'
# handler NAME POSITION BODY SENTENCE: the handler fails, the program does not. `call` makes the call with those that wait to be loaded together.
handlers=$work/handlers
mkdir "$handlers"
handler() {
  names+=("$2, $1") sentences+=("$4")
  printf 'method "%s":%s(function(call)\n%s\nend)\n' "$printer" "$2" "$3" >"$handlers/${#names[@]}-$2-handler.lua"
  [ ${#names[@]} -lt "${BROKEN_TOGETHER:-1}" ] || call
}
call() {
  [ ${#names[@]} -gt 0 ] || return 0
  local all i
  all=$(printf '%s; ' "${names[@]}")
  format -v --patches "$handlers"
  unchanged "${all%; }" "$work/alone" "$work/run"
  for i in "${!names[@]}"; do
    grep -aF ": $((i + 1))-" "$work/run.err" >"$work/run.said" || true
    says "${names[i]}: ${sentences[i]}" "$work/run.said" "${sentences[i]}"
    check "${names[i]}: said once" [ "$(grep -ac "handler.lua:[0-9]*: .* (in ${names[i]%%,*}" "$work/run.said")" -eq 1 ]
  done
  rm "$handlers"/*
  names=() sentences=()
}
for position in before around after; do
  handler 'an error' $position 'error("oops")' 'handler.lua:2: oops'
  handler 'an error object' $position 'error({ code = 1 })' 'handler.lua:2: error object is a table value'
  handler 'no error object' $position 'error(nil)' 'handler.lua:2: error object is nil'
  handler 'yield' $position 'coroutine.yield()' 'handler.lua:2: attempt to yield from outside a coroutine'
done
expected='the handler'"'"'s result: expected'
handler 'nothing' around '' "the handler neither called the original nor returned a value; end it with 'return call:original()'"
handler 'nil' around 'return nil' "$expected String, got nil"
handler 'a number' around 'return 5' "$expected String, got an integer"
handler 'a table' around 'return {}' "$expected String, got a table"
handler 'a function' around 'return print' "$expected String, got a function"
handler 'itself' around 'return call' "$expected String, got"
handler 'an object' around 'return call.self' "$expected String, got an object of type SwiftFormat.PrettyPrinter"
handler 'broken text' around 'return "\xff\xfe"' "the handler's result: expected a String, got bytes that are not UTF-8"
handler 'a late error' around 'local text = call:original() error("late")' 'handler.lua:2: late'
handler 'arguments of its own' around 'return call:original(1, 2)' "takes 0 arguments, call:original got 2; pass all or none"
handler 'a number as result' after 'call.result = 5' "result of '$printer': expected String, got an integer"
handler 'a result too early' before 'call.result = "x"' "a 'before' handler cannot set the result; use 'around' or 'after'"
handler 'the original' before 'call:original()' "only an 'around' handler calls the original; 'before' runs beside it"
handler 'an unknown argument' before 'call.args.foo = 1' "'$printer' has no argument 'foo'; it has none"
handler 'an unknown field' before 'return call.foo' "'call' has no field 'foo'; it has self, type"
call
# Those that take all that the handlers of a call may take, each by itself.
for position in before around after; do
  # A busy machine reaches the limit of time before that of instructions or of memory.
  handler 'an endless loop' $position 'while true do end' 'handler.lua:2: stopped: ' && call
  handler 'a loop in pcall' $position 'while true do pcall(function() while true do end end) end' 'handler.lua:2: stopped:' && call
  handler 'deep recursion' $position 'local function f() return 1 + f() end return f()' 'handler.lua:2: stopped: uses more than' && call
  handler 'memory' $position 'local t = {} while true do t[#t + 1] = {} end' 'handler.lua:2: stopped: ' && call
done

# MARK: The breaker

rule='SwiftFormat.RuleMask.ruleState(_:at:)'
printf 'local calls = 0\nmethod "%s":before(function()\n  calls = calls + 1\n  print("call " .. calls)\n  error("each time")\nend)\n' "$rule" >"$work/breaker.lua"
format -v --patches "$work/breaker.lua"
unchanged 'a handler that fails at each call' "$work/alone" "$work/run"
check 'the handler ran five times' [ "$(grep -ac 'breaker.lua:4: call ' "$work/run.err")" -eq 5 ]
check 'five failures are told' [ "$(grep -ac 'breaker.lua:5: each time' "$work/run.err")" -eq 5 ]
check 'it is switched off once' [ "$(grep -ac 'switched off' "$work/run.err")" -eq 1 ]
format --patches "$work/breaker.lua"
unchanged 'the same without -v' "$work/alone" "$work/run"
says 'the one sentence' "$work/run.err" "breaker.lua: before '$rule' failed 5 times in 60 s and is switched off; the program runs on with the original"
says 'the first failure is told' "$work/run.err" 'breaker.lua:5: each time'
check 'and nothing else' [ "$(wc -l <"$work/run.err")" -eq 2 ]
capture "$work/run" "$scripthost" events --state "$state" --kind failure -n 6
says 'the journal has it, too' "$work/run.out" 'handler switched off'

# A failure of one handler leaves the others of the patch.
printf 'method "%s":before(function() error("each time") end)\nmethod "%s":around(function(call) return "// patched\\n" .. call:original() end)\n' "$rule" "$printer" >"$work/two.lua"
format --patches "$work/two.lua"
says 'the other hook of the patch stays' "$work/run.out" '// patched'

finish
