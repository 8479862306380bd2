"""ticks.py EVENTS COUNT [TEXTS]: each thread's events are all there, once, in the order of its calls; as many texts of the rule as that made them."""
import json
import sys

numbers, texts = {}, set()
for line in open(sys.argv[1]):
    fields = json.loads(line)["fields"]
    texts.add(fields.get("text", fields.get("other")))
    numbers.setdefault(fields["thread"], []).append(fields["number"])
count = int(sys.argv[2])
each = count // 8
if len(sys.argv) > 3 and len(texts) != int(sys.argv[3]): print("wrong texts", texts)
wrong = [t for t in range(8) if numbers.get(t) != list(range(each))]
if wrong:
    print("wrong", {t: (len(numbers.get(t, [])), numbers.get(t, [])[:5]) for t in wrong})
else:
    print("right", sum(map(len, numbers.values())))
