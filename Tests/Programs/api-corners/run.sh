#!/usr/bin/env bash
# Corners of what scripts may say: cases of nil, equal keys, texts over the limit, a closure whose default is a handle, classes over classes of
# a script, protocols, errors of types that are not known.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
# What is freed reads as nothing that can be an object.
export SWIFT_BACKTRACE=enable=no MALLOC_PERTURB_=165
cd "$work"
for level in -Onone -O; do
  swiftc -swift-version 5 $level -enable-library-evolution -parse-as-library -emit-library -emit-module -module-name Lib "$here/Lib.swift" -o libLib.so
  swiftc -swift-version 5 $level -I. -L. -lLib -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Case "$here/main.swift" -o case
  capture_loaded run timeout 120 "$scripthost" run -v --state state --patches "$here/patch.lua" -- ./case
  ended "$level: the program ends as it does alone" run
  same "$level: callers see what handlers say" "$here/expected" run.out
  grep -aF "@ " run.err >said
  while IFS= read -r line; do says "$level: $line" said "$line"; done <"$here/told"
  check "$level: nothing is switched off" sh -c '! grep -a "switched off" run.err'
done
finish
