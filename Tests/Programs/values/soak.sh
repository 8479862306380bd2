#!/usr/bin/env bash
# Tests/Programs/values/soak.sh [FIRST [FUNCTIONS]]: FUNCTIONS generated functions at each level, many seeds, with little
# priority. Default: 34,000 at -Onone, -O and -Osize each, which takes hours on a busy machine.
#
# Runs run.sh in batches of 2,000 functions (seeds 4 × n to 4 × n + 3) and one level, n from FIRST on. What was done is noted
# in SOAK_DIRECTORY: the same command goes on where it was stopped, and runs batches that failed again. SOAK_MODES says how
# values are looked at; half of the modules know what is in each other (VALUES_CMO); plans are always compared, and private
# modules run at -O and -Osize. SOAK_JOBS (1) modules at a time, with the priority SOAK_NICE (19). `soak.sh --table` prints the table.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
directory=${SOAK_DIRECTORY:-${XDG_STATE_HOME:-$HOME/.local/state}/scripthost-soak}
batch=2000
notes=$directory/done
mkdir -p "$directory"
touch "$notes"

# table: what all batches that are noted showed, by level; a batch that was repeated counts as its last run.
table() {
  printf '\n%-8s %10s %10s %10s %10s %10s %10s %8s %8s %8s\n' LEVEL FUNCTIONS BODIES ARGUMENTS RESULTS DECODED REPLACED OPAQUE WRONG FAILED
  local level n
  for level in -Onone -O -Osize; do
    awk -v l="$level" '$2 == l { last[$1] = $4 } END { for (n in last) print n, last[n] }' "$notes" | while read -r n status; do
      awk -v l="$level" -v status="$status" -v batch="$batch" '
        / bodies compared, / { bodies += $1; for (i = 2; i < NF; i++) { if ($i == "arguments" && $(i + 1) == "and" && $(i + 3) == "results" && $(i + 4) == "agree") { arguments += $(i - 1); results += $(i + 2); wrong += $(i + 7) } } }
        / functions, .* wrong$/ { wrong += $(NF - 1) }
        / values decoded, / { decoded += $1; opaque += $4; replaced += $6 }
        END { print l, batch, bodies + 0, arguments + 0, results + 0, decoded + 0, replaced + 0, opaque + 0, wrong + 0, status != "ok" }' "$directory/log$level.$n"
    done
  done | awk '
    function row(name, i, text) {
      text = sprintf("%-8s", name)
      for (i = 2; i <= 10; i++) text = text sprintf(i > 7 ? " %8d" : " %10d", sum[name, i])
      print text
    }
    { for (i = 2; i <= 10; i++) { sum[$1, i] += $i; sum["all", i] += $i } seen[$1] = 1 }
    END {
      n = split("-Onone -O -Osize", names, " ")
      for (k = 1; k <= n; k++) if (names[k] in seen) row(names[k])
      row("all")
    }'
  awk '
    { last[$1 " " $2] = $4; seen[$1 + 0] = 1; if (!least || $1 < least) least = $1 + 0; if ($1 > most) most = $1 + 0 }
    END {
      for (n = least; n <= most; n++) if (n in seen) { from = n; while ((n + 1) in seen) n++; print "seeds " 4 * from " to " 4 * n + 3 }
      for (b in last) if (last[b] != "ok") { split(b, p, " "); print "failed: run.sh " p[1] " at " p[2] }
    }' "$notes"
}
if [ "${1:-}" = --table ]; then table; exit; fi

first=${1:-7000}
functions=${2:-34000}
read -ra levels <<<"${SOAK_LEVELS:--Onone -O -Osize}"
batches=$(((functions + batch - 1) / batch))
echo "$((batches * batch)) functions at each of ${levels[*]}: batches $first to $((first + batches - 1)), notes in $directory"
for n in $(seq "$first" $((first + batches - 1))); do
  for level in "${levels[@]}"; do
    if grep -q "^$n $level [0-9]* ok$" "$notes"; then continue; fi
    start=$SECONDS status=ok
    VALUES_CMO=${VALUES_CMO:-half} VALUES_LEVELS=$level VALUES_MODES=${SOAK_MODES:-decode replace} VALUES_ROUNDS=0 VALUES_JOBS=${SOAK_JOBS:-1} \
      nice -n "${SOAK_NICE:-19}" "$here/run.sh" "$n" "$batch" >"$directory/log$level.$n" 2>&1 || status=failed
    echo "$n $level $((SECONDS - start)) $status" >>"$notes"
    printf '%(%H:%M:%S)T batch %s (%s of %s) %s, seeds %s to %s: %s, %s s\n' -1 "$n" $((n - first + 1)) "$batches" "$level" \
      $((4 * n)) $((4 * n + 3)) "$status" $((SECONDS - start))
  done
done
table
! awk '{ last[$1 " " $2] = $4 } END { for (b in last) if (last[b] != "ok") exit 1 }' "$notes" || exit 0
exit 1
