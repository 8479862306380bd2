"""check.py FILE: holds a trace in JSON against what Shop.swift does."""
import json, sys
from checks import *

lines = [json.loads(line) for line in open(sys.argv[1])]
head, calls = lines[0], [line for line in lines if line["kind"] == "call"]
named = lambda part: [call for call in calls if part in call["selector"]]
check("the first line is of the hooks", head["kind"] == "hooks" and head["hooked"] == head["matched"] > 5)
check("all have the process", all(line["pid"] == head["pid"] for line in lines))
add = named(".add(")[0]
check("texts, numbers", [a["value"] for a in add["args"]][:2] == ["milk", 2.5] and add["result"] is False)
check("collections are texts", add["args"][2]["value"] == "[1, 2]" and add["args"][3]["value"].endswith("…] (1000)"))
take = named(".take(")[0]
check("errors in full", take["error"] == 'ShopError.outOfStock("tea", left: 1)' and "result" not in take)
check("whole numbers", take["args"][1]["value"] == 5)
send = [call["args"][0]["value"] for call in named(".send(")]
check("payloads in full", send == ['.post(street: "Elm", number: 7)', '.courier(["ann", "bob"])', ".pickup"])
sign = named(".sign(")[0]
check("secrets are masked", sign["args"][0]["value"] == 'Login(user: "ann", password: <masked>)')
check("what JSON has no number for is a text", sign["result"] == "inf" and [a["value"] for a in sign["args"][1:]] == [0.5, 9])
outer, inner = named(".outer(")[0], named(".inner(")[0]
check("parents", inner["parent"] == outer["id"] and inner["depth"] == 1 and outer["depth"] == 0 and "parent" not in outer)
check("a call lasts as long as what it calls", outer["duration_ns"] >= inner["duration_ns"])
check("ids are each one's own", len({call["id"] for call in calls}) == len(calls))
check("self", outer["self"].startswith("<Shop 0x"))
wait = named(".wait(")[0]
check("tasks have numbers", isinstance(wait.get("task"), int) and wait["result"] == 2)
tick = named("tick(")[0]
check("threads have numbers", tick["thread"] != head["pid"] and tick["thread_name"] == str(tick["thread"]) and outer["thread_name"] == "main")
finish()
