#!/usr/bin/env bash
# ScriptHost's events are as many as gdb's breakpoint hits over all bodies of a selector, and `explain` claims no more: random
# selectors of swift-format, of Foundation in a program of ours, and of plutil with the libraries it loads, among those that run,
# half of them with several bodies.
# And a rule on RuleMask.ruleState captures swift-format's rules.
#
# SCRIPTHOST_SEED chooses the selectors, SCRIPTHOST_COUNT how many of each (0: all that run, which takes minutes); COUNTS_PART=N: an Nth of them.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

# MARK: Rules

mkdir "$work/rules"
cat >"$work/rules/patch.lua" <<'LUA'
patch { id = "rules", version = "1.0.0", api = 1 }
track "rule" { on = "SwiftFormat.RuleMask.ruleState(_:at:)", fields = { name = "args.1" } }
LUA
cp "$here/input.swift" "$work/input.swift"
capture "$work/alone" swift-format lint "$work/input.swift"
capture "$work/lint" "$scripthost" run --patches "$work/rules" --events "$work/rules.jsonl" --state "$work/state" -- \
  swift-format lint "$work/input.swift"
same_run 'swift-format lints as it does alone' "$work/alone" "$work/lint"
sed -n 's/.*"kind":"event","name":"rule","fields":{"name":"\([A-Za-z]*\)"}}$/\1/p' "$work/rules.jsonl" | sort -u >"$work/rules.captured"
swift-format dump-configuration | sed -n '/"rules"/,/}/s/^ *"\([A-Z][A-Za-z]*\)" : .*/\1/p' | sort -u >"$work/rules.listed"
check "dump-configuration lists rules" [ "$(wc -l <"$work/rules.listed")" -gt 40 ]
same 'a rule on ruleState(_:at:) captures the rules that dump-configuration lists' "$work/rules.listed" "$work/rules.captured"

# MARK: Counts

if ! command -v gdb >/dev/null; then
  printf '\n*** SKIPPED: counts against gdb, because there is no gdb in PATH ***\n\n' | tee /dev/stderr
  finish
fi
seed=${SCRIPTHOST_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
printf 'seed %s (SCRIPTHOST_SEED)\n' "$seed"

# counts NAME COUNT PROGRAM INPUT [MODULE…]: that many selectors of the program, or of those modules.
counts() {
  local name=$1 count=${SCRIPTHOST_COUNT:-$(($2 / ${COUNTS_PART:-1}))} program=$3 input=$here/$4
  [[ $4 != /* ]] || input=$4
  mkdir "$work/counts.$name"
  if python3 -B "$here/counts.py" "$scripthost" "$program" "$input" "$work/counts.$name" "$seed" "$count" "${@:5}"; then
    good "$name: events are as many as breakpoint hits, and explain claims no more"
  else
    bad "$name: events are as many as breakpoint hits, and explain claims no more" "again with SCRIPTHOST_SEED=$seed"
  fi
}
counts swift-format 24 "$(command -v swift-format)" input.swift
swiftc -swift-version 6 -O "$here/foundation.swift" -o "$work/foundation"
counts Foundation 16 "$work/foundation" input.swift Foundation FoundationEssentials
COUNTS_OPTIONS='-convert xml1 -o -' counts plutil 16 "$(command -v plutil)" input.plist . Foundation FoundationEssentials

if [ "${COUNTS_WHOLE:-}" ]; then
  COUNTS_OPTIONS="convert --fallback-display-name Shop --fallback-bundle-identifier shop --output-path $work/documentation" \
    counts docc 100 "$(command -v docc)" ../everything/files/Shop.docc
  # What a client says to a language server, all at once.
  python3 - "$work/said" "$root/Tests/Programs/everything/files/shop.swift" <<'PYTHON'
import json, sys
uri, text = "file:///shop.swift", open(sys.argv[2]).read()
document = {"textDocument": {"uri": uri}}
said = [
    {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
    {"method": "initialized", "params": {}},
    {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "languageId": "swift", "version": 1, "text": text}}},
    {"id": 2, "method": "textDocument/documentSymbol", "params": document},
    {"id": 3, "method": "shutdown", "params": None},
    {"method": "exit"},
]
with open(sys.argv[1], "w") as out:
    for message in said:
        body = json.dumps({"jsonrpc": "2.0", **message})
        out.write("Content-Length: %d\r\n\r\n%s" % (len(body), body))
PYTHON
  COUNTS_STDIN=1 COUNTS_PACE=20 counts sourcekit-lsp 100 "$(command -v sourcekit-lsp)" "$work/said"
fi
finish
