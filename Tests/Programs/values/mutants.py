#!/usr/bin/env python3
"""Deliberate bugs: mutants.py SOURCES puts all of them in, each asleep until SCRIPTHOST_MUTANT names its number; without an
argument lists them; mutants.py --check SOURCES only looks whether they still find their places."""
import sys

V = "HookRuntime/Values/"
MUTANTS = [
    ("values of four registers go by address", V + "AggregateLowering.swift", "registers > mostRegisters", "registers > (mutant(N) ? 3 : mostRegisters)"),
    ("integers that share a word are not merged", V + "AggregateLowering.swift", "&& sameUnit(entries[i - 1].offset", "&& !mutant(N) && sameUnit(entries[i - 1].offset"),
    ("a float merges with its neighbours", V + "AggregateLowering.swift", "kind == .integer || kind == .opaque", "kind == .integer || kind == .opaque || mutant(N) && kind == .float"),
    ("a 128-bit integer takes the last register and a stack slot's place", V + "Lowering/PlaceAllocator.swift", "if integers + 2 <= 6 {", "if integers + (mutant(N) ? 1 : 2) <= 6 {"),
    ("stack slots start one too high", V + "Lowering/PlaceAllocator.swift", "    slots += 1\n    return .stack(slots - 1)", "    slots += 1\n    return .stack(mutant(N) ? slots : slots - 1)"),
    ("floating result registers are not counted", V + "Lowering/PlaceAllocator.swift", "        floats += 1\n      } else if scalar.kind == .extended {", "        floats += mutant(N) ? 0 : 1\n      } else if scalar.kind == .extended {"),
    ("initialisers and setters borrow their arguments", V + "Lowering/SILSignature+Declaration.swift", "case .allocatingInit, .`init`, .setter: true", "case .allocatingInit, .`init`, .setter: !mutant(N)"),
    ("the tag byte behind a payload is forgotten", V + "TypeResolver.swift", "if size > payloadSize { scalars", "if size > payloadSize, !mutant(N) { scalars"),
    ("a replaced inout value is put beside the caller's variable", V + "ValueWriter.swift", "} else if argument.isInout {", "} else if argument.isInout, !mutant(N) {"),
    ("an owned value that is replaced is not released", V + "ValueWriter.swift", "      if argument.isOwned, !value.info.isTrivial {", "      if argument.isOwned, !value.info.isTrivial, !mutant(N) {"),
    ("a borrowed replacement is never released", V + "ValueWriter.swift", "if argument.isOwned || value.info.isTrivial { value.forget() } else { release(value) }", "if argument.isOwned || value.info.isTrivial || mutant(N) { value.forget() } else { release(value) }"),
    ("every indirect result has its address in the first argument register", V + "Lowering/CallAssembly.swift", "{ signature.results.count == 1 &&", "{ !mutant(N) && signature.results.count == 1 &&"),
    ("a part of a tuple is looked for at its start", V + "Lowering/CallAssembly.swift", "ValuePart(offset: span.offset,", "ValuePart(offset: mutant(N) ? 0 : span.offset,"),
    ("the address of a typed error is not counted among what a private body is passed", V + "Lowering/CallAssembly.swift", "case .address(let place): places.append(place)", "case .address(let place): if !mutant(N) { places.append(place) }"),
    ("a method that may consume its struct is run twice", V + "CallPlan.swift", "!leavesSelf(value) { return false }", "!leavesSelf(value), !mutant(N) { return false }"),
    ("a copy of an inout Optional has the Optional's type", "ScriptHost/Script/Values/ValueBridge.swift", "made.map { BorrowedValue($0) } ?? place", "(mutant(N) ? nil : made.map { BorrowedValue($0) }) ?? place"),
    ("a stack slot of 16 bytes is not aligned", V + "Lowering/PlaceAllocator.swift", "slots = (slots + 1) / 2 * 2 + 2", "slots = (mutant(N) ? slots : (slots + 1) / 2 * 2) + 2"),
    ("elements of a result that share a register are both at its start", V + "Lowering/CallAssembly.swift", "skip: begin - piece.offset))", "skip: mutant(N) ? 0 : begin - piece.offset))"),
    ("elements of a result in one memory are all at its start", V + "Lowering/CallAssembly.swift", "skip: span.lowerBound)", "skip: mutant(N) ? 0 : span.lowerBound)"),
    ("closures of generic places are called as others", V + "TypeResolver.swift", "if info.form == form { return info }", "if info.form == form || mutant(N) { return info }"),
    ("the address of a typed error counts as a word of self", V + "Lowering/CallAssembly.swift", "if $1 != ofError {", "if $1 != ofError || mutant(N) {"),
]
SWITCH = '''
private import Glibc
private let chosenMutant = getenv("SCRIPTHOST_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0
func mutant(_ number: Int) -> Bool { chosenMutant == number }
'''

if len(sys.argv) < 2:
    print("0\tno mutant")
    for n, (what, *_) in enumerate(MUTANTS, 1): print(f"{n}\t{what}")
else:
    check, sources = sys.argv[1] == "--check", sys.argv[-1]
    for n, (what, path, old, new) in enumerate(MUTANTS, 1):
        path = f"{sources}/{path}"
        with open(path) as f: text = f.read()
        if old not in text: sys.exit(f"mutants.py: '{what}' finds nothing to change in '{path}'; write it anew")
        if check: continue
        with open(path, "w") as f: f.write(text.replace(old, new.replace("(N)", f"({n})"), 1))
    for target in () if check else (V, "ScriptHost/"):
        with open(f"{sources}/{target}Mutant.swift", "w") as f: f.write(SWITCH)
