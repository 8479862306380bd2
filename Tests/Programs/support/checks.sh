# Sourced by the program tests: a directory for the run, and checks that are counted.
#
#     . "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
#     check 'the sum is right' [ 2 -eq $((1 + 1)) ]
#     finish

. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"
need_swift
here=$(cd "$(dirname "$0")" && pwd -P)
products=${SCRIPTHOST_TEST_PRODUCTS:-$products}
scripthost=$products/scripthost
[ -x "$scripthost" ] || fail "no '$scripthost'; build it with scripts/build"
export PATH="$(toolchain_bin):$PATH"

work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
# Nothing of the tester's own settings and records.
export HOME=$work/home
unset STATE_DIRECTORY XDG_STATE_HOME LD_PRELOAD
mkdir -p "$HOME"
# The compiler's own modules of C headers, which take longer than most programs of the suites: compiled once for all of them.
export XDG_CACHE_HOME=$root/.build/cache
# checks.py, and the packages that scripts/setup installed.
export PYTHONPATH=$root/Tests/Programs/support:$root/.build/python PYTHONDONTWRITEBYTECODE=1 NODE_PACKAGES=$root/.build/node
checks=0 wrong=0
# What the subjects of many suites are compiled with.
levels=${SCRIPTHOST_LEVELS:--Onone -O -Osize}
# What the host says at load of programs without debug information, and of generic functions of optimised ones: a pattern for grep and sed.
not_proven='it is not known which calls were inlined\|may miss specialisations of it that the compiler merged with other functions'

# good NAME, bad NAME DETAIL…: notes one check.
good() { checks=$((checks + 1)); printf 'ok      %s\n' "$1"; }
bad() {
  checks=$((checks + 1)) wrong=$((wrong + 1))
  printf 'WRONG   %s\n' "$1"
  shift
  [ $# -eq 0 ] || printf '        %s\n' "$@"
}

# check NAME COMMAND…: the command succeeds.
check() {
  local name=$1
  shift
  if "$@" >"$work/.check" 2>&1; then good "$name"; else bad "$name" "$*" "$(head -n 12 "$work/.check")"; fi
}

# same NAME FILE FILE: the files hold the same bytes.
same() {
  if cmp -s "$2" "$3"; then good "$1"; else bad "$1" "$(cmp "$2" "$3" 2>&1)" "$(around "$2" "$3")" "$(diff -a "$2" "$3" 2>&1 | head -n 10 | cut -c 1-300)"; fi
}

# around FILE FILE: what stands where the files begin to differ, which in a long line is far from its begin.
around() {
  local file at
  at=$(cmp "$1" "$2" 2>/dev/null | sed -n 's/.* byte \([0-9]*\),.*/\1/p')
  [ "$at" ] || return 0
  for file in "$1" "$2"; do printf '…%s…\n' "$(tail -c "+$((at > 40 ? at - 40 : 1))" "$file" | head -c 160 | tr -d '\000' | tr '\n' '|')"; done
}

# says NAME FILE TEXT: a line of the file holds the text.
says() {
  if grep -qaF -- "$3" "$2"; then good "$1"; else bad "$1" "expected: $3" "found:    $(head -c 1500 "$2")"; fi
}

# The environment of programs built with the address sanitizer: its report, with the stack and the registers, of whatever they die of.
# Swift's crash handler, which comes first, fails there: it copies stacks that the sanitizer guards. SIGTRAP is how threads are kept out of
# code that changes; what is made at installation is kept for ever, which the leak checker does not know.
asan=(SWIFT_BACKTRACE=enable=no
  ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0:handle_sigtrap=0:handle_sigill=1:handle_abort=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}")
crash='ERROR: AddressSanitizer|^\*\*\* (Signal|Program crashed)|Fatal error: '

# capture PREFIX COMMAND…: runs it and keeps PREFIX.out, PREFIX.err and PREFIX.status. How it died, if it did, is told where a check fails.
capture() {
  local prefix=$1 status=0
  shift
  "$@" >"$prefix.out" 2>"$prefix.err" || status=$?
  printf '%s\n' "$status" >"$prefix.status"
  [ "$status" -gt 128 ] || grep -qaE "$crash" "$prefix.err" || return 0
  printf 'exit status %s: %s\n%s\n' "$status" "$*" "$(last_words "$prefix.err")" >>"$work/.deaths"
}

# last_words FILE: what a program said last, from the report of its crash on where there is one.
last_words() {
  local line
  # Of traps that were contained, it goes on after their messages.
  line=$(grep -anE 'ERROR: AddressSanitizer|Fatal error: ' "$1" | tail -n 1 | cut -d : -f 1) || true
  [ "$line" ] || line=$(grep -anm 1 -E "$crash" "$1" | cut -d : -f 1) || true
  if [ "$line" ]; then sed -n "$line,$((line + 59))p" "$1"; else tail -n 12 "$1"; fi | tr -d '\000' | cut -c 1-240
}

# ended NAME PREFIX [STATUS]: the captured program exited so, with 0 if nothing is said.
ended() {
  local status
  status=$(cat "$2.status")
  if [ "$status" = "${3:-0}" ]; then good "$1"; else bad "$1" "exit status $status, expected ${3:-0}" "$(tail -n 12 "$2.err" | cut -c 1-240)"; fi
}

# capture_loaded NAME COMMAND…: the same; on a busy machine the host stops a patch that takes longer to load than it may, which
# shows nothing: then again, at most 5 times.
capture_loaded() {
  local again
  for again in 1 2 3 4 5; do
    capture "$@"
    grep -qa 'stopped: ran longer than 1000 ms' "$1.err" || return 0
    sleep "$again"
  done
}

# same_run NAME PREFIX PREFIX: output, messages and exit status of two captures are the same.
same_run() {
  local part
  for part in status out err; do
    cmp -s "$2.$part" "$3.$part" && continue
    bad "$1" "$part: $(cmp "$2.$part" "$3.$part" 2>&1)" "$(diff -a "$2.$part" "$3.$part" 2>&1 | head -n 10 | cut -c 1-300)"
    return 0
  done
  good "$1"
}

# unchanged NAME PREFIX PREFIX: like same_run, but the second one may say more on stderr.
unchanged() {
  local part
  for part in status out; do
    cmp -s "$2.$part" "$3.$part" && continue
    bad "$1" "$part: $(cmp "$2.$part" "$3.$part" 2>&1)" "$(head -c 1500 "$3.err")"
    return 0
  done
  good "$1"
}

# The last line of a test: the count, and the exit status. Deaths may be what a test is about; one with a failed check is evidence.
finish() {
  [ "$wrong" -eq 0 ] || [ ! -f "$work/.deaths" ] || sed 's/^/        /' "$work/.deaths"
  printf '%s checks, %s wrong\n' "$checks" "$wrong"
  [ "$wrong" -eq 0 ]
}

# marks PREFIX FILE: counts the lines `ok …` and `WRONG …` that a program printed.
marks() {
  local line
  checks=$((checks + $(grep -ac '^ok ' "$2" || true)))
  while IFS= read -r line; do bad "${1:+$1: }${line#WRONG   }"; done < <(grep -a '^WRONG' "$2")
}

# judged PREFIX COMMAND…: runs a program that prints such lines (checks.py), and prints what else it says. One that ends with another
# status than 0, or 1 after a check that did not hold, is wrong itself.
judged() {
  local prefix=${1:+$1: } line before=$wrong status=
  shift
  while IFS= read -r line; do
    case $line in
      'ok '*) good "$prefix${line#ok      }" ;;
      'WRONG '*) bad "$prefix${line#WRONG   }" ;;
      'ended '*) status=${line#ended } ;;
      *' checks, '*' wrong') ;;
      *) printf '%s\n' "$line" ;;
    esac
  done < <("$@" 2>&1 && printf 'ended 0\n' || printf 'ended %s\n' "$?")
  [ "$status" = 0 ] || { [ "$status" = 1 ] && [ "$wrong" -gt "$before" ]; } || bad "$prefix'$*' ended with status $status"
}

# compared N NAME COMMAND…: a command that makes N checks at once and prints what it found.
compared() {
  local number=$1 name=$2
  shift 2
  if "$@" >"$work/.compared" 2>&1; then
    good "$name: $(tail -n 1 "$work/.compared")"
    checks=$((checks + number - 1))
  else
    bad "$name" "$(tail -n 40 "$work/.compared")"
  fi
}

# checked PATCH…: copies patches to $work with `same` and `fails` (checks.lua) in the place of their line `-- checks`.
checked() {
  local patch
  for patch; do
    grep -qx -- '-- checks' "$patch" || fail "no line '-- checks' in $patch"
    sed -e "/^-- checks$/{r $root/Tests/Programs/support/checks.lua" -e 'd;}' "$patch" >"$work/${patch##*/}"
  done
}
