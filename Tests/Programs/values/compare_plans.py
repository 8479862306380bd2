#!/usr/bin/env python3
"""Compares call plans with the compiler's own lowering.

    compare_plans.py PLANS IRGEN…

PLANS is what `call-plans` prints (with or without --evidence); IRGEN files are made with `swiftc -emit-irgen`, before LLVM's own passes. The
registers of each LLVM parameter are found here anew, from the x86-64 rules of swiftcc alone.
"""
import re, sys

WIDTH = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "ptr": 8, "i128": 16, "half": 2, "float": 4, "double": 8, "x86_fp80": 10}


def split(text):
    parts, depth, part = [], 0, ""
    for c in text:
        if c in "<({[": depth += 1
        if c in ">)}]": depth -= 1
        if c == "," and depth == 0: parts.append(part.strip()); part = ""
        else: part += c
    if part.strip(): parts.append(part.strip())
    return parts


def width(t):
    if t in WIDTH: return WIDTH[t]
    m = re.match(r"<(\d+) x (\w+)>", t)
    if m: return int(m.group(1)) * WIDTH[m.group(2)]
    m = re.match(r"i(\d+)$", t)
    return (int(m.group(1)) + 7) // 8


def place(types):
    """Places of a parameter list: [(place, size)] per parameter."""
    i = f = s = 0
    result = []
    for t, attributes in types:
        w = width(t)
        if "swiftself" in attributes: result.append([("self", 8)])
        elif "swifterror" in attributes: result.append([])
        elif "swiftasync" in attributes: result.append([])
        elif "sret" in attributes: result.append([("sret", 8)])
        elif t == "x86_fp80":
            s = (s + 1) // 2 * 2
            result.append([(f"s{s}", 8), (f"s{s + 1}", 2)]); s += 2
        elif t in ("half", "float", "double") or t.startswith("<"):
            if f < 8: result.append([(f"f{f}", w)]); f += 1
            else:
                if w == 16: s = (s + 1) // 2 * 2
                n = (w + 7) // 8
                result.append([(f"s{s + k}", min(w, 8)) for k in range(n)]); s += n
        elif w == 16:
            if i + 2 <= 6: result.append([(f"i{i}", 8), (f"i{i + 1}", 8)]); i += 2
            else:
                s = (s + 1) // 2 * 2
                result.append([(f"s{s}", 8), (f"s{s + 1}", 8)]); s += 2
        else:
            if i < 6: result.append([(f"i{i}", w)]); i += 1
            else: result.append([(f"s{s}", w)]); s += 1
    return result, s * 8


def returned(text):
    text = text.strip()
    if text == "void": return []
    types = split(text[1:-1]) if text.startswith("{") else [text]
    i = f = x = 0
    result = []
    for t in types:
        w = width(t)
        if t == "x86_fp80": result.append((f"st{x}", 10)); x += 1
        elif t in ("half", "float", "double") or t.startswith("<"): result.append((f"f{f}", w)); f += 1
        elif w == 16: result += [(f"i{i}", 8), (f"i{i + 1}", 8)]; i += 2
        else: result.append((f"i{i}", w)); i += 1
    return result


def signatures(paths):
    found = {}
    pattern = re.compile(r'^define (.*?)swift(?:tail)?cc (.*?) @"?(\$s[^"(]*)"?\((.*?)\) (?:(?:local_)?unnamed_addr )?(?:#|\{|comdat|!|personality|align)')
    for path in paths:
        for line in open(path):
            if not line.startswith("define"): continue
            m = pattern.match(line)
            if not m: continue
            result = m.group(2)
            result = re.sub(r"\b(noalias|zeroext|signext|noundef|nonnull|returned|align \d+|\w+\(.*?\))(?=\s) ?", "", result).strip()
            parameters = []
            for p in split(m.group(4)):
                t = re.match(r"<[^>]*>|\S+", p).group(0)
                parameters.append((t, p))
            found[m.group(3)] = (result, parameters)
    return found


def machine_values(text):
    """The places and widths a plan's column names."""
    text = text.lstrip("!&")
    if text in ("()", "-") or text.startswith("?"): return []
    if text.startswith("*"): return [(text[1:].split("^")[0], 8)]
    # Parts of one variable lie behind one address.
    if text.startswith("["): return list(dict.fromkeys(v for part in text[1:-1].split(",") for v in machine_values(part.split("=")[1])))
    # What starts behind other bytes of its place reaches as far behind them.
    return [(p.split(":")[0], int(p.split(":")[1].split("@")[0]) + int(p.partition("^")[2] or 0)) for p in text.split("+")]


def result_values(text):
    """The same for a result. Elements that are returned together share registers, as wide as an integer that has them all, or
    memory; those in memory of their own are arguments."""
    if not text.startswith("["): return machine_values(text)
    if "=*sret" in text: return [("sret", 8)]
    union = {}
    for part in text[1:-1].split(","):
        element = part.split("=")[1]
        for place, width in [] if element.startswith("*") else machine_values(element): union[place] = max(width, union.get(place, 0))
    return [(place, width if place[0] == "f" or place[:2] == "st" else next(n for n in (1, 2, 4, 8) if n >= width)) for place, width in union.items()]


def main():
    plans, irgen = sys.argv[1], signatures([a for a in sys.argv[2:] if not a.startswith("--")])
    hidden = hidden_opaque = later = 0
    unexplained = []
    exact = partial = values = missing = wrong = opaque = results = unknown_results = 0
    for line in open(plans):
        name, kind, stack, self_plan, result, *arguments = line.rstrip("\n").split("\t")
        if arguments and arguments[0] in ("never", "throws"): arguments.pop(0)  # the plans were made with evidence
        planned_hidden = arguments.pop()[7:].split() if arguments and arguments[-1].startswith("hidden=") else []
        error = arguments.pop()[6:] if arguments and arguments[-1].startswith("error=") else ""
        if name not in irgen: missing += 1; continue
        llvm_result, parameters = irgen[name]
        places, bytes_needed = place(parameters)
        flat = [p for parameter in places for p in parameter]
        problems = []
        # Metadata and witness tables are the parameters that irgen gives names.
        actual_hidden = [p[0][0] for (t, a), p in zip(parameters, places) if not re.search(r"%\d+$", a) and p]
        if any(h.startswith("?") for h in planned_hidden): hidden_opaque += 1
        elif [h.split(":")[0] for h in planned_hidden] == actual_hidden: hidden += len(actual_hidden)
        elif not planned_hidden: hidden_opaque += 1
        else: problems.append(f"hidden {planned_hidden} != {actual_hidden}")
        if "--unexplained" in sys.argv and (any("?" in x for x in [result] + arguments) or actual_hidden and not planned_hidden):
            unexplained.append(line.rstrip().replace("\t", " ") + "\n    " + " ".join(t for t, a in parameters) + " -> " + llvm_result)
        if int(stack) < bytes_needed: problems.append(f"stack {stack} < {bytes_needed}")
        # Static ones and specialised ones end otherwise, but yield as all do.
        is_coroutine = name.endswith(("vM", "iM", "vr", "ir")) or re.search(r"(^|[*+=\[,])r\d", result)
        # What an async function returns goes to its caller's resume function, of which its own signature says nothing.
        is_async = any("swiftasync" in a for _, a in parameters)
        if is_async: later += 1
        elif "?" not in result and result != "-":
            results += 1
            ours = result_values(result)
            theirs = [("sret", 8)] if any("sret" in a for _, a in parameters) else returned(llvm_result)
            if is_coroutine:
                # Behind the continuation come values and (as `*r1`) addresses.
                ours = [(place, int(width)) for place, width in re.findall(r"([if]\d+):(\d+)@", re.sub(r"\*r(\d)", r"i\1:8@0", result))]
                theirs = theirs[1:]
            # A deinitialiser hands its object on to the deallocating form; no source says so.
            if error and error[0] not in "*?":
                # The registers hold the one or the other: integers in their order, floating-point values in theirs.
                union = {}
                for p, w in ours + machine_values(error): union[p] = max(w, union.get(p, 0))
                ours, theirs = sorted(union.items()), sorted(theirs)
            if ours != theirs and not name.endswith("fd"): problems.append(f"result {ours} != {theirs}")
        else: unknown_results += 1
        # Every place of ours must be one of theirs, with its width, in their order.
        remaining = [p for p in flat if p[0] not in ("sret", "self")]
        if is_coroutine: remaining = remaining[1:]  # the coroutine's buffer
        cursor = 0
        known = True
        if is_async and "*sret" in result:
            # The address of what is too large for registers is an argument, the first.
            if remaining[:1] != [("i0", 8)]: problems.append(f"result address is not first of {remaining}")
            remaining = remaining[1:]
        addresses = sorted(set(re.findall(r"=\*(?!r\d|sret)(\w+)", result))) if result.startswith("[") else []
        if [(a, 8) for a in addresses] != remaining[:len(addresses)]: problems.append(f"result addresses {addresses} are not first of {remaining}")
        remaining = remaining[len(addresses):]
        if error.startswith("*"):
            if remaining[-1:] != [(error[1:], 8)]: problems.append(f"error address {error} is not last of {remaining}")
            remaining = remaining[:-1]
        for a in arguments:
            a = a.lstrip("!&")
            if a.startswith("?") or a == "-": opaque += 1; known = False; continue
            if "=-" in a: known = False  # some of its words are not passed
            ours = machine_values(a)
            values += 1
            for o in ours:
                if o not in remaining[cursor:]: problems.append(f"argument {a}: {o} not in {remaining[cursor:]}"); break
                cursor = remaining.index(o, cursor) + 1
        if kind == "exact" and known:
            exact += 1
            # What is left must be what the plan does not speak of: a value self, metadata and witness tables.
            used = sum(len(machine_values(a)) for a in arguments)
            # The actor of an async function's caller comes before its arguments, in two words that no plan speaks of.
            if cursor - used not in ((0, 2) if is_async else (0,)) and "?" not in result: problems.append(f"{used} machine values planned, {cursor} matched")
            rest = remaining[cursor:]
            rest = rest[: len(rest) - len(actual_hidden)]
            # Where there is no argument, nothing was matched behind the actor.
            if is_async and not arguments and [w for _, w in rest] == [8, 8]: rest = []
            # What a local function captures is in no name, nor is how many types a pack has.
            untold = any("captures" in h for h in re.findall(r"\?[^?]*", line)) or "Qp" in name
            if self_plan.startswith(("object", "metatype", "none")) and rest and not untold and "?" not in result:
                problems.append(f"left over {rest}")
        else: partial += 1
        if self_plan.endswith(":self") and ("self", 8) not in flat: problems.append("no self register")
        if problems:
            wrong += 1
            print(name, "\n  plan", line.rstrip().replace("\t", " ")[len(name):], "\n  llvm", llvm_result, [t + (" " + " ".join(x for x in ("sret", "swiftself", "swifterror") if x in a)) for t, a in parameters], "\n  ", "; ".join(problems))
    print(f"{exact + partial} bodies compared, {exact} of them whole; {values} arguments and {results} results agree but for {wrong} bodies; "
          f"{opaque} arguments and {unknown_results} results opaque, {later} results of async functions; {missing} without signature")
    print(f"{hidden} metadata and witness table arguments agree, of {hidden_opaque} bodies they are opaque")
    for each in unexplained: print("opaque:", each)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__": main()
