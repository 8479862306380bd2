#!/usr/bin/env bash
# The language of patches is Lua's own: the snippets of a table and random expressions do in a patch of a program what they do under the
# command lua5.4. What scripts do not have is not compared, nor what Lua leaves open. SCRIPTHOST_SEED and STOCK_COUNT choose what is drawn.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
export TZ=UTC LC_ALL=C.UTF-8
seed=${SCRIPTHOST_SEED:-$RANDOM}
echo "seed $seed"
printf 'print("the program")\n' >subject.swift
swiftc subject.swift -o subject || fail 'subject.swift does not compile'
mkdir patches
files=(patches/{1,2,3,4}.lua)
count=$(python3 "$here/make_cases.py" "$seed" "${STOCK_COUNT:-800}" "$here/snippets.txt" "${files[@]}")
# One process on each side; the chunks' names are those of the patches.
(cd patches && lua5.4 -e 'for i = 1, 4 do dofile(i .. ".lua") end') >stock.out 2>stock.err
check 'lua5.4 comes to the end' [ ! -s stock.err ]
capture_loaded host "$scripthost" run -v --state state --patches patches -- ./subject
ended 'the program ends' host
says 'and did its own work' host.out 'the program'
sed -n 's/^scripthost: [1-4].lua:[0-9]*: //p' host.err >host.said
check "all $count snippets answered" [ "$(wc -l <host.said)" = "$count" ]
same "$count snippets: what the patches say is what lua5.4 says" stock.out host.said
finish
