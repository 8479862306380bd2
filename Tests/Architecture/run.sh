#!/usr/bin/env bash
# Tests/Architecture/run.sh: each dangerous act stays with its owner, by the table in `owners`.
. "$(dirname "${BASH_SOURCE[0]}")/../Programs/support/checks.sh"

# Without comments: a line comment, and lines inside a block comment that begin with a star.
code() { sed -E 's#(^|[^:])//.*#\1#; s#/\*.*\*/##g; /^ *\*/d' "$1"; }

cd "$root/Sources"
while IFS='|' read -r act rest; do
  [[ $act =~ ^[[:space:]]*(#|$) ]] && continue
  files=${rest##*|} pattern=${rest%|*}
  act=$(sed 's/^ *//; s/ *$//' <<<"$act")
  pattern=$(sed 's/^ *//; s/ *$//' <<<"$pattern")
  read -ra owners <<<"$(for each in $files; do if [[ $each == @* ]]; then grep -v '^#' "$here/${each#@}"; else echo "$each"; fi; done | tr '\n' ' ')"
  found=()
  while IFS= read -r file; do
    code "$file" | grep -P -- "$pattern" >/dev/null && found+=("$file")
  done < <(grep -rlP --include='*.swift' --include='*.c' --include='*.h' --include='*.S' -- "$pattern" . | sed 's#^\./##' | LC_ALL=C sort)
  for file in "${found[@]}"; do
    owned=no
    for owner in "${owners[@]}"; do [[ $file == "$owner"* ]] && owned=yes; done
    case $owned in
      yes) ;;
      *) bad "$act: $file is no owner" "$(code "$file" | grep -nP -- "$pattern" | head -n 3)" "owners: ${owners[*]}" ;;
    esac
  done
  for owner in "${owners[@]}"; do
    case " ${found[*]} " in
      *" $owner"*) good "$act: $owner" ;;
      *) bad "$act: $owner does not do it any more; take it off the table" ;;
    esac
  done
done <"$here/owners"

# Everything opened inside a program does without Foundation, whose dynamic replacements change how the program behaves.
if grep -rnE '^ *(public |package |internal |private |@preconcurrency )*import (Foundation|FoundationEssentials)' \
  HookRuntime Journal LuaBridge ScriptHost ScriptHostBoot SwiftMangling >"$work/imports"; then
  bad 'no Foundation in what is opened inside a program' "$(head -n 3 "$work/imports")"
else
  good 'no Foundation in what is opened inside a program'
fi
# Stages of a module point one way; helpers on raw memory are documented.
while IFS= read -r line; do
  case $line in
    'WRONG '*) bad "${line#WRONG   }" ;;
    'ok '*) good "${line#ok      }" ;;
  esac
done < <(
  python3 "$here/stages.py" "$root/Sources" "$here/stages.known"
  python3 "$here/documented.py" "$root/Sources" 80
  python3 "$here/citations.py" "$root" "$here/foreign.names"
  python3 "$here/targets.py" "$root"
  python3 "$here/doors.py" "$root"
  python3 "$here/words.py" "$root/Sources"
)

# The walls stand: a tree with an upward name, a folder without a place and an exception that is over fails.
mkdir -p "$work/walls/HookRuntime/"{Support,API,Attic} "$work/walls/ScriptHost" "$work/walls/CLuaShim" "$work/walls/CHookTrampoline/"{include,Reading,Dispatch,Patching}
echo 'struct Low { var door: Door }' >"$work/walls/HookRuntime/Support/Low.swift"
echo 'struct Door { var low: Low? }' >"$work/walls/HookRuntime/API/Door.swift"
# Besides types: members of extensions, with and without a receiver that is written, functions, what a literal interpolates, and a file beside the folders.
cat >"$work/walls/HookRuntime/API/Late.swift" <<'END'
extension Array { func lateOnes() -> Int { 1 } }
package func lateFunction(_ at: Int) -> Int { 2 }
func lateWords() -> String { "" }
extension Low {
  /// Of all.
  @inline(__always)
  static var lateMember: Int { earlyOnes + besideAll }
  private static var ownMember: Int { 4 }
  var isEmpty: Bool { low == nil }
}
END
cat >"$work/walls/HookRuntime/Support/Early.swift" <<'END'
struct Early { let all = [1].lateOnes(), one = lateFunction(1), text = "\(lateWords())", ownMember = [1].isEmpty }
extension Low { static let earlyOnes = lateMember }
func early(lateOnes: Int) {}
END
echo 'let besideAll = lateFunction(Early.ownMember)' >"$work/walls/HookRuntime/Beside.swift"
# In C: a function that is declared by hand, a constant of a header, one of assembly.
walls_c=$work/walls/CHookTrampoline
echo 'int hkt_patch_it(int);' >"$walls_c/include/HKT.h"
printf '%s\n' '#include "HKT.h"' 'int hkt_read_it(int at) {' '  return hkt_patch_it(at);' '}' >"$walls_c/Reading/read.c"
printf '%s\n' '#define HKT_WINDOW 5' 'static inline int hkt_window(void) { return HKT_WINDOW; }' >"$walls_c/Patching/patch.h"
printf '%s\n' 'int hkt_read_it(int);' '_Atomic(int *) hkt_book;' 'int hkt_patch_it(int at) { return hkt_read_it(at); }' >"$walls_c/Patching/patch.c"
printf '%s\n' '        .globl hkt_enter' >"$walls_c/Patching/enter.S"
printf '%s\n' 'extern _Atomic(int *) hkt_book;' 'void hkt_enter(void);' 'int hkt_deliver(void) { hkt_enter(); return HKT_WINDOW + hkt_window() + (hkt_book != 0); }' >"$walls_c/Dispatch/deliver.c"
echo 'int hkt_stray;' >"$walls_c/stray.c"
echo 'HookRuntime Model API Gone' >"$work/walls.known"
python3 "$here/stages.py" "$work/walls" "$work/walls.known" >"$work/walls.out"
for expected in "HookRuntime/Support/Low.swift names 'Door' of API" 'HookRuntime/Attic is no stage' "the exception 'HookRuntime Model API Gone' is over" \
  "CHookTrampoline/Reading/read.c names 'hkt_patch_it' of Patching" "CHookTrampoline/Dispatch/deliver.c names 'HKT_WINDOW' of Patching" \
  "CHookTrampoline/Dispatch/deliver.c names 'hkt_window' of Patching" "CHookTrampoline/Dispatch/deliver.c names 'hkt_book' of Patching" \
  "HookRuntime/Support/Early.swift names 'lateOnes' of API" "HookRuntime/Support/Early.swift names 'lateFunction' of API" \
  "HookRuntime/Support/Early.swift names 'lateWords' of API" "HookRuntime/Support/Early.swift names 'lateMember' of API" \
  "HookRuntime/API/Late.swift names 'besideAll' of the module's top" \
  "CHookTrampoline/Dispatch/deliver.c names 'hkt_enter' of Patching" 'CHookTrampoline/stray.c lies beside the stages'; do
  if grep -qF "$expected" "$work/walls.out"; then good "a violation is seen: $expected"; else bad "a violation is seen: $expected" "$(cat "$work/walls.out")"; fi
done
if grep -qE "names '(Low|hkt_read_it|earlyOnes|ownMember|isEmpty|low)'" "$work/walls.out"; then bad 'a downward name is no violation' "$(cat "$work/walls.out")"; else good 'a downward name is no violation'; fi
# A drawing that is not the package is seen: an edge too many and one that is missing, an import and a folder without a row.
mkdir -p "$work/drawn/Sources/"{Upper/Attic,Lower}
printf '%s\n' '| target | may |' '| `Upper`, `Lower` | do |' '' '    Lower ──► Upper' '    Upper ──► Zydis' >"$work/drawn/ARCHITECTURE.md"
printf '%s\n' '.target(name: "Upper", dependencies: ["Lower"]),' '.target(name: "Lower"),' >"$work/drawn/Package.swift"
echo 'private import Upper' >"$work/drawn/Sources/Lower/Low.swift"
python3 "$here/targets.py" "$work/drawn" >"$work/drawn.out"
for expected in 'draws Upper with Zydis below it, and Package.swift says Lower' 'draws Lower with Upper below it, and Package.swift says nothing' \
  'Lower/Low.swift imports Upper' 'has a row for Upper/Attic'; do
  if grep -qF "$expected" "$work/drawn.out"; then good "a violation is seen: $expected"; else bad "a violation is seen: $expected" "$(cat "$work/drawn.out")"; fi
done
# What nobody uses is seen, and so is a door that is none any more; what programs import is for them.
mkdir -p "$work/doors/Sources/"{HookRuntime,Journal,CLuaShim/include}
printf '%s\n' '## Doors of the tests' '' '| `shl_kept`, `isGone` | why |' >"$work/doors/ARCHITECTURE.md"
printf '%s\n' 'int shl_lost(void);' 'int shl_kept(void);' 'int shl_used(void);' >"$work/doors/Sources/CLuaShim/include/Shim.h"
printf '%s\n' 'int shl_lost(void) { return shl_used(); }' 'int shl_kept(void) { return 1; }' 'int shl_used(void) { return 2; }' >"$work/doors/Sources/CLuaShim/shim.c"
printf '%s\n' '// isIdle' 'package var isIdle: Bool { true }' 'var isGone: Bool { false }' 'let both = isGone' 'func run() { _ = both; run() }' >"$work/doors/Sources/Journal/Idle.swift"
echo 'public var forPrograms = 1' >"$work/doors/Sources/HookRuntime/API.swift"
python3 "$here/doors.py" "$work/doors" | sed 's/;.*//' >"$work/doors.out"
same 'violations are seen: names that only tests use, and a door that is used' "$work/doors.out" <(printf '%s\n' \
  "WRONG   Sources/Journal/Idle.swift declares 'isIdle', which the sources do not use" \
  "WRONG   Sources/CLuaShim/include/Shim.h declares 'shl_lost', which the sources do not use" "WRONG   the door 'isGone' is gone, or is used by the sources")
# A name of the project's own making is seen in code, not in comments and texts.
mkdir -p "$work/words"
echo 'let isLentTwice = "lent"  // lent' >"$work/words/Names.swift"
python3 "$here/words.py" "$work/words" >"$work/words.out"
same 'a violation is seen: a home-made word in a name' <(echo "WRONG   Names.swift names 'isLentTwice'; the term for 'lent' is borrowed") "$work/words.out"
# Helpers on raw memory without a comment are seen, in Swift and in C; a header's comment stands for all that it declares.
mkdir -p "$work/helpers/Journal" "$work/helpers/CCrash/include"
printf '%s\n' '/// Reads it.' 'func read(_ at: UnsafeRawPointer) {}' 'func write(_ at: UnsafeRawPointer) {}' >"$work/helpers/Journal/Bytes.swift"
printf '%s\n' '/// Begins and ends it.' 'void begin(char *at);' 'void end(char *at);' '' 'void go_on(char *at);' >"$work/helpers/CCrash/include/C.h"
printf '%s\n' 'void begin(char *at) {' '}' 'void end(char *at) {' '}' '// Small ones.' 'static int one(char *at) { return *at; }' 'static int two(char *at) { return *at; }' \
  '' 'void go_on(char *at) {' '}' >"$work/helpers/CCrash/c.c"
python3 "$here/documented.py" "$work/helpers" 80 all >"$work/helpers.out"
same 'a violation is seen: a helper on raw memory without a comment' - "$work/helpers.out" <<'END'
ok      CCrash: 4 of 5 helpers on raw memory are documented
        CCrash/c.c:9 go_on
WRONG   Journal: 1 of 2 helpers on raw memory are documented; most are missing in Journal/Bytes.swift (1)
        Journal/Bytes.swift:3 write
END
# What is registered for scripts stands in the reference.
judged '' python3 "$here/members.py" "$root"

# A comment has a subject of its own: it opens with none that stands in another comment, and is no bare phrase such as "Behind the lock.".
# finds_none NAME COMMAND…: the command prints no line.
finds_none() {
  local name=$1
  shift
  "$@" >"$work/found" || true
  if [ -s "$work/found" ]; then bad "$name" "$(head -n 3 "$work/found")"; else good "$name"; fi
}
leaning() {
  grep -rnE --include='*.swift' --include='*.c' --include='*.h' --include='*.S' --include='*.lua' --include='*.sh' --include='*.py' \
    '^ *(//+|--+|#+) (The same\b|As above\b|Same,)' "$@"
}
phrases() {
  awk 'FNR == 1 { before = line = "" }
       { gsub(/^ +/, "")
         if (line ~ /^\/\/\/ (Of|By|In|At|As|For|With|Without|Behind|Before|Under|From) [^:;,]*\.$/ && split(line, words) <= 6 && before !~ /^\/\// && $0 !~ /^\/\//)
           print place ": " line
         before = line; line = $0; place = FILENAME ":" FNR }' $(find "$@" -name '*.swift' -o -name '*.c' -o -name '*.h')
}
finds_none 'no comment opens with "The same" or "As above"' leaning "$root/Sources" "$root/Tests" "$root/Benchmarks" "$root/examples" "$root/presets" "$root/scripts"
finds_none 'no comment of a declaration is a bare phrase' phrases .
mkdir -p "$work/leaning"
printf '%s\n' '/// Behind the lock.' 'let one = 1' '/// As above, twice.' 'let two = 2' '/// The keys are names: what is in it, the lock guards.' 'let three = 3' >"$work/leaning/Names.swift"
leaning "$work/leaning" | sed "s#^$work/leaning/##" >"$work/leaning.out"
same 'a violation is seen: a comment that leans on another' <(echo 'Names.swift:3:/// As above, twice.') "$work/leaning.out"
phrases "$work/leaning" | sed 's#^[^ ]*/##' >"$work/phrases.out"
same 'a violation is seen: a bare phrase' <(echo 'Names.swift:1: /// Behind the lock.') "$work/phrases.out"

# A page and a source file that cite a missing document are seen.
mkdir -p "$work/cited/docs" "$work/cited/Sources" "$work/cited/Tests/Programs/slots"
echo 'see [the plan](plan.md), shown by Tests/Programs/slots, later and slots' >"$work/cited/docs/page.md"
printf '%s\n' '// docs/gone.md has the rules; `told` is no field, `isKnown` is, `strcpy` is of C.' 'let isKnown = true' >"$work/cited/Sources/Rules.swift"
printf '%s\n' strcpy strcat >"$work/cited/foreign"
python3 "$here/citations.py" "$work/cited" "$work/cited/foreign" >"$work/cited.out"
for expected in "docs/page.md cites 'plan.md'" "docs/page.md cites 'Tests/Programs/later'" "Sources/Rules.swift cites 'docs/gone.md'" \
  'Sources/Rules.swift cites `told`' '`strcat` of foreign.names'; do
  if grep -qF "$expected" "$work/cited.out"; then good "a violation is seen: $expected"; else bad "a violation is seen: $expected" "$(cat "$work/cited.out")"; fi
done

check 'what is there is no violation' test "$(grep -c '^WRONG' "$work/cited.out")" -eq 5

finish
