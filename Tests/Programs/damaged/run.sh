#!/usr/bin/env bash
# Files that are damaged end no command and no program: images with any bytes changed, images whose types and debug information are, what the state
# directory holds, and files that are cut short while they are in use. SCRIPTHOST_SEED chooses what is damaged.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
seed=${SCRIPTHOST_SEED:-$((RANDOM % 1000))}
printf 'seed %s\n' "$seed"
cd "$work"
swiftc -O -g -module-name Shop "$here/Shop.swift" -o shop
swiftc -O -module-name Steady "$here/Steady.swift" -o steady
export SWIFT_BACKTRACE=enable=no

# MARK: Commands that read an image

# Ended by itself: 126 is how the command refuses a file.
reads() {
  local status=0
  timeout 30 "$scripthost" "$@" >out 2>&1 || status=$?
  [ $status -lt 124 ] || [ $status -eq 126 ] || { printf 'exit status %s\n' $status; return 1; }
}
python3 "$here/damage.py" "$seed" 40 shop any >any.told
while read -r i told; do
  for command in types methods "explain Shop.Cart.total(tax:)"; do
    # shellcheck disable=SC2086
    set -- $command
    reads "$1" "any/$i" ${2:+"$2"} 2>>wrong || printf '%s of copy %s (%s): %s\n' "$1" "$i" "$told" "$(tail -n 2 out | cut -c 1-200)" >>unread
  done
done <any.told 2>/dev/null
check '40 damaged images are read, or refused' [ ! -s unread ]
[ ! -s unread ] || cat unread

# MARK: A program whose types are damaged

./shop >alone
python3 "$here/damage.py" "$seed" 30 shop quiet quiet >quiet.told
ran=0
while read -r i told; do
  # Those that run by themselves.
  "quiet/$i" >own 2>/dev/null && cmp -s own alone || continue
  ran=$((ran + 1))
  for command in "run --patches $here/patch.lua" "trace -o trace -e Shop.**"; do
    # shellcheck disable=SC2086
    timeout 60 "$scripthost" $command --state "$work/state" -- "quiet/$i" >own 2>said || printf 'exit status %s\n' $? >>said
    # Another commit in the section that names the compiler is another compiler, for which the command does not start a program.
    [[ $told != *.comment* ]] || ! grep -q 'was compiled by another Swift' said || continue
    cmp -s own alone || printf '%s of copy %s (%s): %s\n' "${command%% *}" "$i" "$told" "$(tail -n 2 said | cut -c 1-200)" >>ended
  done
done <quiet.told 2>/dev/null
check "$ran programs with damaged types run as without" [ ! -s ended ]
[ ! -s ended ] || cat ended

# MARK: What the state directory holds

"$scripthost" run --state state --patches "$here/patch.lua" -- ./shop >own 2>said
"$scripthost" run --state state --patches "$here/patch.lua" -- ./shop >own 2>said
cat >spoil.py <<'PYTHON'
import os, random, sys
r = random.Random(int(sys.argv[1]))
for directory, _, names in os.walk(sys.argv[2]):
    for name in names:
        path = os.path.join(directory, name)
        if not os.path.isfile(path): continue
        os.chmod(path, 0o600)
        data = bytearray(open(path, 'rb').read())
        if not data: continue
        for _ in range(r.choice([1, 4, 64])):
            data[r.randrange(len(data))] = r.randrange(256)
        if r.random() < 0.3: del data[r.randrange(len(data)) :]
        open(path, 'wb').write(data)
PYTHON
for turn in 1 2 3 4 5 6; do
  python3 spoil.py "$seed$turn" state
  status=0
  timeout 60 "$scripthost" run --state state --patches "$here/patch.lua" -- ./shop >own 2>said || status=$?
  cmp -s own alone && [ $status = 0 ] || printf 'turn %s: exit status %s: %s\n' $turn $status "$(tail -n 2 said)" >>spoiled
  for command in 'events' 'logs' 'crashes' 'safe-mode' 'ps'; do
    status=0
    timeout 30 "$scripthost" "$command" --state state >out 2>&1 || status=$?
    [ $status -lt 124 ] || printf 'turn %s: %s: exit status %s\n' $turn "$command" $status >>spoiled
  done
done
check 'a program starts with damaged index, journal and state files' [ ! -s spoiled ]
[ ! -s spoiled ] || cat spoiled

# MARK: Files that are cut short while they are in use

printf 'patch { id = "c" }\ntrack "n" { on = "Steady.Counter.count(_:)", fields = { n = "self.n", text = "args.1" } }\nmethod "Steady.Counter.count(_:)":before(function(call) kept = (kept or 0) + 1 end)\n' >counts.lua
"$scripthost" run --state short --patches counts.lua -- ./steady 1500 >own 2>said &
program=$!
sleep 0.8
find short -type f -exec chmod u+w {} + -exec truncate -s 0 {} +
status=0
wait $program || status=$?
check 'files cut short while they are in use: the program goes on' [ "$status $(cat own)" = '0 done true' ]
says 'and it is said' said 'was cut short while it was in use'
finish
