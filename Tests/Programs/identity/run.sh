#!/usr/bin/env bash
# Tests/Programs/identity/run.sh [SEED]: of this project's own files every third or so, by the seed; IDENTITY_FILES=10000 takes them all; IDENTITY_ROUNDS traces of everything (2).
# IDENTITY_WAYS=few: of the other ways to use the program some alone, since a handler on everything takes seconds to put in, and own files in groups.
# A program under ScriptHost does, byte by byte, what it does alone: swift-format over many files,
# without patches, with an empty handler on all of its formatter, and with one on everything in it.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

patches=$here/patches
files=$work/files
mkdir -p "$files" "$work/none"

# MARK: Files

mapfile -t sources < <(find "$root/Sources" "$root/Tests" "$root/examples" -name '*.swift' -type f | LC_ALL=C sort)
most=${IDENTITY_FILES:-160} seed=${1:-${SCRIPTHOST_SEED:-$(date +%j)}}
step=$(((${#sources[@]} + most - 1) / most))
own=0
for ((index = seed % step; index < ${#sources[@]}; index += step)); do
  own=$((own + 1))
  cp "${sources[index]}" "$files/$(printf '%03d' $own)-$(basename "${sources[index]}")"
done
echo "seed $seed: $own of the project's ${#sources[@]} files"

odd() { cat >"$files/odd-$1.swift"; }
odd empty </dev/null
printf '\n\n\n' | odd only-newlines
printf 'let x=1' | odd no-newline-at-end
printf 'struct A{\r\n  var x=1;  var y = 2\r\n}\r\n' | odd crlf
printf 'let a=1\rlet b=2\r' | odd cr
printf '\xef\xbb\xbflet  bom = 1\n' | odd bom
printf 'let x = "\xff\xfe"\n' | odd not-utf8
printf 'let a = 1\n\0let b = 2\n' | odd nul
printf 'func f( {\n  let = \n}}}\n' | odd syntax-error
printf 'struct {{{ ((( [[[ "unfinished\n' | odd syntax-error-open
printf '#if os(Linux)\nlet a=1\n' | odd unfinished-condition
printf 'let s = """\n  unfinished\n' | odd unfinished-string
printf '/* /* nested */ unfinished\n' | odd unfinished-comment
printf 'let 名前="値";let e\u0301=1\nlet 👩‍👩‍👧‍👦 = "\u200b\u202e"\nfunc `class`(`in` x:Int){}\n' | odd unicode
printf '#!/usr/bin/env swift\nprint( 1 )\n' | odd script
printf '// swift-format-ignore-file\nlet    x=1\n' | odd ignored
printf '// swift-format-ignore\nlet    x=1\nlet    y=1\n' | odd partly-ignored
printf 'import  Foundation\nimport A\nimport  B\n@testable import C\n' | odd imports
printf 'let f={(a:Int,b:Int)->Int in a+b}\nlet g=f(1,2)+f(3,4)*f(5,6)-f(7,8)/f(9,10)%%f(11,12)<<f(13,14)\n' | odd operators
printf '@attached(member) macro M()=#externalMacro(module:"A",type:"B")\n#M(1)\nactor A{nonisolated func f()async throws->Int{try await g()}}\n' | odd macros
awk 'BEGIN { for (i = 0; i < 300; i++) printf "("; printf "1"; for (i = 0; i < 300; i++) printf ")"; print "" }' | odd deep
awk 'BEGIN { printf "let x = "; for (i = 0; i < 400; i++) printf "a%d + ", i; print "b" }' | odd long-line
awk 'BEGIN { for (i = 0; i < 500; i++) printf "struct S%d{var a:Int=%d;func f(_ x:Int)->String{if x>%d{return \"a\\(x)\"}else{return \"b\"}}}\n", i, i, i }' | odd huge

cd "$files"
all=(*)
small=()
for file in "${all[@]}"; do [ "$file" = odd-huge.swift ] || small+=("$file"); done
# With a handler on everything: the first hundred and all odd ones.
many=("${small[@]:0:100}" "${small[@]:own > 100 ? own : 100}")
# Each by itself; few ways take a fifth of the odd ones so, by the seed, and all in groups.
single=("${all[@]}") least=40 failures=3
if [ "${IDENTITY_WAYS:-all}" = few ]; then
  single=(odd-macros.swift odd-syntax-error.swift) least=25 failures=1
  for ((index = own + seed % 5; index < ${#all[@]}; index += 5)); do
    [[ " ${single[*]} " == *" ${all[index]} "* ]] || single+=("${all[index]}")
  done
fi
check "${#all[@]} files, at least $least" [ "${#all[@]}" -ge "$least" ]

# MARK: Running

under() {
  local mode=$1
  shift
  "$scripthost" run --state "$work/state" --patches "$mode" -- "$@"
}

# one FILE MODE: what swift-format makes of one file, in $work/MODE/FILE.*
one() {
  mkdir -p "$work/$2"
  case $2 in
    alone) capture "$work/$2/$1" swift-format "$1" ;;
    *) capture "$work/$2/$1" under "$3" swift-format "$1" ;;
  esac
}
export -f one under capture last_words
export scripthost work

# each MODE PATCHES FILE…: two at a time.
each() {
  local mode=$1 with=$2
  shift 2
  printf '%s\0' "$@" | xargs -0 -P 2 -I @ bash -c 'one "$1" "$2" "$3"' - @ "$mode" "$with"
}

# compare NAME MODE FILE…: one check for all of the files.
compare() {
  local name=$1 mode=$2 file part different=()
  shift 2
  for file in "$@"; do
    for part in status out err; do
      cmp -s "$work/alone/$file.$part" "$work/$mode/$file.$part" || different+=("$file: $part")
    done
  done
  if [ ${#different[@]} -eq 0 ]; then good "$name: $# files, output, messages and exit status are the same"; else bad "$name" "${different[@]:0:8}" "$(cat "$work/$mode/${different[0]%%: *}.err" | head -n 5)"; fi
}

start=$SECONDS
each alone - "${single[@]}"
failing=$(cat "$work/alone"/*.status | grep -vc '^0$' || true)
check "$own own and $((${#all[@]} - own)) odd files; swift-format alone fails on some of them ($failing)" [ "$failing" -ge "$failures" ]
each plain "$work/none" "${single[@]}"
compare 'no patches' plain "${single[@]}"
each formatter "$patches/formatter.lua" "${single[@]}"
compare 'a handler on each selector of SwiftFormat' formatter "${single[@]}"

# MARK: Everything

# The table of what is hooked, and why not.
"$scripthost" trace --why -c -o "$work/why" -e '**' -- swift-format odd-empty.swift
head -n 1 "$work/why"
sed -n 's/^  refused .*: \([^:]*\)$/\1/p' "$work/why" | sed "s/'[^']*'/'…'/g" | sort | uniq -c | sort -rn | sed 's/^ */  refused: /'
read -r matched hooked refused < <(sed -n '1s/^\([0-9]*\) matched, \([0-9]*\) hooked, \([0-9]*\) refused.*/\1 \2 \3/p' "$work/why")
check "of $matched selectors, $hooked are hooked and $refused refused: less than one in a hundred" [ $((refused * 100)) -lt "$matched" ]
check "at least 20000 are hooked" [ "$hooked" -ge 20000 ]

# groups MODE PATCHES: several files in one run, as many as swift-format takes without stopping.
groups() {
  local mode=$1 with=$2 index=0
  while [ $index -lt ${#many[@]} ]; do
    printf '%s\0' "$mode" "$with" $index "$(printf '%s ' "${many[@]:index:40}")"
    index=$((index + 40))
  done | xargs -0 -n 4 -P 2 bash -c '
    read -ra files <<<"$4"
    mkdir -p "$work/alone" "$work/$1"
    [ -e "$work/alone/group-$3.status" ] || capture "$work/alone/group-$3" swift-format "${files[@]}"
    capture "$work/$1/group-$3" under "$2" swift-format "${files[@]}"' -
}
grouped=(everything formatter)
[ "${IDENTITY_WAYS:-all}" = all ] || grouped+=(plain)
for mode in "${grouped[@]}"; do
  if [ $mode = plain ]; then groups $mode "$work/none"; else groups $mode "$patches/$mode.lua"; fi
  names=()
  for file in "$work/$mode"/group-*.out; do names+=("$(basename "$file" .out)"); done
  compare "in groups, $mode: ${#many[@]} files" $mode "${names[@]}"
done

# The handlers do run: one that counts says so.
count() { grep -ac 'one hundred thousand' "$work/counted.err"; }
capture "$work/counted" "$scripthost" run -v --state "$work/state" --patches "$patches/counting.lua" -- swift-format "${small[@]:0:4}"
check 'a handler on everything runs more than 100000 times over four files' [ "$(count)" -eq 1 ]

# Reading all arguments and results changes nothing either; twice, since memory is laid out anew each time.
for ((round = 1; round <= ${IDENTITY_ROUNDS:-2}; round++)); do
  globs=('**' 'SwiftSyntax.**')
  # The suite `everything` traces all of swift-format, too.
  [ "${IDENTITY_WAYS:-all}" != few ] || globs=('SwiftFormat.**')
  for glob in "${globs[@]}"; do
    capture "$work/traced" "$scripthost" trace --state "$work/state" -o "$work/trace" -e "$glob" -- swift-format odd-macros.swift
    same_run "trace -e '$glob' with all values, round $round: $(wc -l <"$work/trace") lines" "$work/alone/odd-macros.swift" "$work/traced"
  done
done
capture "$work/traced" bash -c '"$1" trace --state "$2" -e "$3" -- swift-format odd-macros.swift 2> >(head -n 1 >/dev/null)' - "$scripthost" "$work/state" "${globs[0]}"
for part in out status; do same "trace | head: $part" "$work/alone/odd-macros.swift.$part" "$work/traced.$part"; done

# MARK: Other ways to use the program

for mode in none formatter everything; do
  with=$patches/$mode.lua
  [ $mode = none ] && with=$work/none
  some=("${small[@]:0:12}" "${small[@]:own}")
  few=
  if [ "${IDENTITY_WAYS:-all}" = few ]; then few=$mode some=("${small[@]:0:4}" "${small[@]:own + 12}"); fi
  if [ "$few" != everything ]; then
    capture "$work/a" swift-format lint "${some[@]}"
    capture "$work/b" under "$with" swift-format lint "${some[@]}"
    same_run "$mode: lint" "$work/a" "$work/b"
  fi
  capture "$work/a" swift-format lint --strict --parallel "${small[@]:0:8}"
  capture "$work/b" under "$with" swift-format lint --strict --parallel "${small[@]:0:8}"
  for prefix in a b; do sort -o "$work/$prefix.err" "$work/$prefix.err"; done
  same_run "$mode: lint --strict --parallel, messages in any order" "$work/a" "$work/b"

  if [ "$few" != everything ]; then
    for copy in a b; do rm -rf "$work/copy-$copy" && mkdir "$work/copy-$copy" && cp "${some[@]}" "$work/copy-$copy"; done
    (cd "$work/copy-a" && capture "$work/a" swift-format --in-place --recursive .)
    (cd "$work/copy-b" && capture "$work/b" under "$with" swift-format --in-place --recursive .)
    for prefix in a b; do sed -i "s|$work/copy-.|COPY|g" "$work/$prefix.err"; done
    same_run "$mode: --in-place --recursive" "$work/a" "$work/b"
    check "$mode: the files it wrote are the same" diff -r "$work/copy-a" "$work/copy-b"
  fi

  inputs=(odd-crlf.swift odd-empty.swift odd-syntax-error.swift)
  commands=('--version' '--help' '--no-such-option' 'no-such-file.swift' 'dump-configuration' 'lint --strict odd-crlf.swift' '--configuration /dev/null odd-bom.swift')
  case $few in
    formatter) inputs=(odd-crlf.swift) commands=('--version' '--no-such-option' 'lint --strict odd-crlf.swift') ;;
    everything) inputs=(odd-syntax-error.swift) commands=() ;;
  esac
  for file in "${inputs[@]}"; do
    capture "$work/a" swift-format <"$file"
    capture "$work/b" under "$with" swift-format <"$file"
    same_run "$mode: $file from stdin" "$work/a" "$work/b"
  done
  for words in "${commands[@]}"; do
    # shellcheck disable=SC2086
    capture "$work/a" swift-format $words </dev/null
    # shellcheck disable=SC2086
    capture "$work/b" under "$with" swift-format $words </dev/null
    same_run "$mode: swift-format $words (status $(cat "$work/a.status"))" "$work/a" "$work/b"
  done
  # A program that is interrupted while it writes: what the shell sees is the same. It traps; Swift's own report of that takes seconds.
  statuses=()
  for wrapper in alone under; do
    if [ $wrapper = alone ]; then set -- swift-format; else set -- under "$with" swift-format; fi
    statuses+=("$( (export SWIFT_BACKTRACE=enable=no; "$@" "${small[0]}" "${small[1]}" "${small[2]}" "${small[3]}"; echo $? >&3) 3>&1 >/dev/full 2>/dev/null)")
  done
  check "$mode: a full device (status ${statuses[0]})" [ "${statuses[0]}" = "${statuses[1]}" ]
done
printf '%s seconds\n' $((SECONDS - start))
finish
