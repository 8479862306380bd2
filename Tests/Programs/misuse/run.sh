#!/usr/bin/env bash
# Misuse that no error can answer ends the process, with a message that says which rule was broken; in debug and in release.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
export SWIFT_BACKTRACE=enable=no
# name, and what stands behind "Fatal error: ".
messages="kept-call|this call is over, or belongs to another thread; copy what you need while its handler runs
call-on-other-thread|this call is over, or belongs to another thread; copy what you need while its handler runs
proceed-in-before|'proceed' was called outside of an 'around' handler, which alone decides whether the original runs
proceed-in-after|'proceed' was called outside of an 'around' handler, which alone decides whether the original runs
kept-closure|a non-escaping closure of type '(HookSubjects.Line) -> Swift.Bool' was kept and called after the handler it was lent to
target-gone|'HookSubjects.TicketOffice.ticket(_:)' was called on an object whose target is gone, and nothing can be returned instead"

for level in debug release; do
  cases=$(built_product $level misuse-cases)
  check "$level: every case has a message" diff <("$cases") <(cut -d'|' -f1 <<<"$messages")
  while IFS='|' read -r name message; do
    capture case timeout 60 "$cases" "$name"
    # SIGILL or SIGTRAP: Swift's own way to end.
    check "$level: $name ends the process" grep -qxE '132|133' case.status
    if grep -qF "Fatal error: $message" case.err; then good "$level: $name says so"; else bad "$level: $name says so" "$(cat case.out case.err)"; fi
  done <<<"$messages"
done

# A message of another kind needs a case of its own.
grep -rhoE 'fatalError\(".*' "$root/Sources/HookRuntime" | grep -vE '"internal error:|"unavailable"' >found || true
check 'no fatal error is without a case' test "$(wc -l <found)" = 4
finish
