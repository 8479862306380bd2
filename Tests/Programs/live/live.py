# live — are the calls that hooks on objects and subclasses saw those that gdb counts without hooks?
#
#   live.py SCRIPTHOST PROGRAM WORK COUNTED FILE…
#
# COUNTED has the lines that patches/formatter printed: KIND<tab>FUNCTION<tab>FILE<tab>CLASS<tab>COUNT. Prints `ok` or `WRONG` lines.
import json
import os
import re
import subprocess
import sys
import checks
from collections import Counter

scripthost, program, work, counted, *files = sys.argv[1:]
program = os.path.realpath(program)
FUNCTIONS = {
    "printToken": "SwiftFormat.PrettyPrinter.printToken(idx:)",
    "prettyPrint": "SwiftFormat.PrettyPrinter.prettyPrint()",
    "visitAny": "SwiftFormat.SyntaxFormatRule.visitAny(_:)",
    "visitPre": "SwiftSyntax.SyntaxRewriter.visitPre(_:)",
}


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def oracle():
    symbols, classes = {}, {}
    listed = output("nm", program)
    for line in listed.splitlines():
        address, _, name = line[:16], line[17:18], line[19:]
        if address.strip():
            symbols[name] = int(address, 16)
    # Private classes have a name for the whole of their metadata alone, which begins three words before what objects name.
    metadata = {name[:-2] + "N": address + 24 for name, address in symbols.items() if re.match(r"\$s.*CMf$", name)}
    readable = output("swift-demangle", "-compact", input="\n".join(metadata)).splitlines()
    for address, text in zip(metadata.values(), readable):
        match = re.search(r"(\w+)( in _[0-9A-F]+\)| #\d+ in .*)?$", text)
        classes[address] = match[1] if match else "?"
    functions = {}
    for short, selector in FUNCTIONS.items():
        found = json.loads(output(scripthost, "methods", "--json", program, selector).splitlines()[0])
        functions[short] = [symbols[each] for each in found["symbols"]]
    plan = {"program": program, "arguments": files, "functions": functions, "classes": classes, "next": "prettyPrint",
            "inside": "printToken", "out": os.path.join(work, "entries")}
    with open(os.path.join(work, "plan.json"), "w") as out:
        json.dump(plan, out)
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["gdb", "-nx", "-q", "-batch", "-x", os.path.join(here, "oracle.py")], check=True, capture_output=True,
                   env=dict(os.environ, LIVE_PLAN=os.path.join(work, "plan.json")), stdin=subprocess.DEVNULL)
    found = Counter()
    for line in open(plan["out"]):
        function, file, of, count = line.rstrip("\n").split("\t")
        found[function, int(file), of] = int(count)
    return found


def main():
    truth = oracle()
    kinds = {kind: Counter() for kind in ("object", "type", "subclass", "same")}
    for line in open(counted):
        kind, *key, count = line.rstrip("\n").split("\t")
        if kind == "same":
            kinds[kind][key[0]] = int(count)
        else:
            kinds[kind][key[0], int(key[1]), key[2]] = int(count)
    checks.same("%d calls of %d kinds on a type's hooks are gdb's" % (sum(truth.values()), len(truth)), dict(kinds["type"] - truth + (truth - kinds["type"])), {})
    subclasses = {key for key in kinds["subclass"] if key[0] == "visitAny"}
    checks.same("hooks on four subclasses, three files each", len(subclasses), 12)
    for key in sorted(subclasses):
        checks.same("a hook on the subclass %s sees its calls of file %d" % (key[2], key[1]), kinds["subclass"][key], truth[key])
    # The subclasses of SyntaxFormatRule are the classes whose visitAny is called: no other inherits it.
    rules = {of for function, _, of in truth if function == "visitAny"}
    own = Counter({key: n for key, n in truth.items() if key[0] == "visitPre" and key[2] in rules})
    checks.same("a hook on a class with %d subclasses sees %d of %d calls of what they inherit" % (
        len(rules), sum(own.values()), sum(n for key, n in truth.items() if key[0] == "visitPre")),
        Counter({key: n for key, n in kinds["subclass"].items() if key[0] == "visitPre"}), own)
    checks.same("a hook on one printer of three", {key: n for key, n in kinds["object"].items() if key[0] == "printToken"},
          {("printToken", 2, "PrettyPrinter"): truth["printToken", 2, "PrettyPrinter"]})
    # The call in which the hook was made is not one it sees.
    expected = {key: n - 1 for key, n in truth.items() if key[0] == "visitAny" and key[1] == 2 and n > 1}
    found = {key: n for key, n in kinds["object"].items() if key[0] == "visitAny"}
    checks.same("hooks on %d rules see their calls, and nothing of later rules" % len(expected), found, expected)
    same = {of: n for of, n in kinds["same"].items()}
    checks.same("a type's hook that compares identity agrees", all(n == found["visitAny", 2, of] for of, n in same.items()) and len(same) > 5, True)


main()
