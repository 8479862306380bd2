#!/usr/bin/env python3
"""kill -9 at random moments while four threads record: what was told is there, whole and in order, and breadcrumbs can be read.

    killed.py SCRIPTHOST PROGRAM FOLDER SEED COUNT
"""
import json, mmap, os, random, shutil, struct, subprocess, sys, time

scripthost, program, folder, seed, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
draw = random.Random(seed)
os.makedirs(folder, exist_ok=True)
patch = os.path.join(folder, "sales.lua")
with open(patch, "w") as file:
    file.write('patch { id = "sales" }\n'
               'track "sale" { on = "recording.sell(_:_:)", fields = { own = "args.1", number = "args.2" } }\n'
               'method "recording.sell(_:_:)":after(function(call) if call.result % 500 == 0 then log.info("sold " .. call.result) end end)\n')


def run(number):
    state, path = os.path.join(folder, f"state{number}"), os.path.join(folder, "told")
    shutil.rmtree(state, ignore_errors=True)
    with open(path, "wb") as file: file.write(bytes(4096))
    with open(path, "r+b") as file:
        told = mmap.mmap(file.fileno(), 4096)
        process = subprocess.Popen([scripthost, "run", "-v", "--no-control", "--state", state, "--patches", patch, "--", program, path],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        begun = time.monotonic()
        while min(struct.unpack("4q", told[:32])) == 0:
            if time.monotonic() - begun > 60 or process.poll() is not None: return f"it did not begin: {process.stderr.read()}"
            time.sleep(0.0005)
        time.sleep(draw.random() ** 2 * 0.06)
        process.kill()
        _, said = process.communicate()
        acknowledged = struct.unpack("4q", told[:32])
    # On a busy machine a patch that takes longer to load than it may is stopped, which shows nothing.
    if "stopped: ran longer" in said: return "again"
    events = subprocess.run([scripthost, "events", "--state", state, "--json"], capture_output=True, text=True)
    found = [[], [], [], []]
    for line in events.stdout.splitlines():
        event = json.loads(line)  # a torn line is no JSON
        if event.get("name") == "sale": found[event["fields"]["own"]].append(event["fields"]["number"])
    for own in range(4):
        numbers = found[own]
        # The newest ones: old ones make room for them.
        if numbers != list(range(numbers[0] if numbers else 1, (numbers[-1] if numbers else 0) + 1)):
            return f"thread {own}: not in order, or with gaps: {[n for n, m in zip(numbers, numbers[1:]) if m != n + 1][:5]}"
        if not numbers or numbers[-1] < acknowledged[own]: return f"thread {own}: {acknowledged[own]} was told, the last one there is {numbers[-1:]}"
    crashes = subprocess.run([scripthost, "crashes", "--state", state, "show", "1"], capture_output=True, text=True)
    if any(text not in crashes.stdout for text in ("killed without a report", "after 'recording.sell(_:_:)' (sales.lua:3)", "track 'recording.sell(_:_:)' (sales.lua)")):
        return f"breadcrumbs: {crashes.stdout[-500:]} {crashes.stderr}"
    calls.append(sum(acknowledged))
    shutil.rmtree(state, ignore_errors=True)


calls, wrong = [], 0
for number in range(count):
    for _ in range(6):
        problem = run(number)
        if problem != "again": break
    if problem:
        wrong += 1
        print(f"run {number} of seed {seed}: {problem}")
print(f"{count} kills of seed {seed}, {sum(calls)} calls recorded, {wrong} wrong")
sys.exit(1 if wrong else 0)
