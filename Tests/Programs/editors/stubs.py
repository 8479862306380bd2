"""stubs.py DIRECTORY: the stub files of swift-format, read as the Lua language server reads them, and what they complete."""
import os, sys
from annotations import Malformed, Stubs, Types
from checks import *

directory = sys.argv[1]

# The reader itself refuses what is malformed.
for text in ["---@meta\n---@class Not A Name\nlocal X = {}\n", "---@meta\n---@field x integer\n", "---@meta\n---@class A\n---@field x (integer\nlocal A = {}\n",
             "---@meta\n---@param y integer\nfunction f(x) end\n", "---@class A\nlocal A = {}\n", "---@meta\nx + 1\n", "---@meta\n---@nonsense\nfunction f() end\n"]:
    try:
        Stubs().read(text, "text")
        check(f"malformed annotations are refused: {text!r}", False)
    except Malformed:
        check(f"malformed annotations are refused: {text!r}", True)
check("types nest", Types("table<string, (Shop.Cart?)[]> | fun(a: integer): string?").type()[0] == "union")

stubs = Stubs()
try:
    for name in sorted(os.listdir(directory)):
        stubs.read(open(os.path.join(directory, name), encoding="utf-8").read(), name)
    check("every line of the stub files is an annotation, a declaration or a comment", True)
except Malformed as problem:
    check("every line of the stub files is an annotation, a declaration or a comment", False, str(problem))
check("the program's types are classes", len(stubs.classes) > 500 and "SwiftFormat.PrettyPrinter" in stubs.classes, len(stubs.classes))
found = stubs.complete("SwiftFormat.PrettyPrinter", "pretty")
check("a method of the program completes", found == ["prettyPrint"], found)
kind, parameters, result = stubs.members("SwiftFormat.PrettyPrinter").get("prettyPrint", ("", [], None))
check("with its result", kind == "function" and parameters == [] and result == ("name", "string"), kind, parameters, result)
kind, parameters, result = stubs.members("SwiftFormat.PrettyPrinter").get("printDebugToken", ("", [], None))
check("and its parameters", [name for name, _ in parameters] == ["token", "length", "idx"] and parameters[1][1] == ("name", "integer"), parameters)
check("an inherited method completes", "visit" in stubs.complete("SwiftFormat.AlwaysUseLowerCamelCase", "vis"), stubs.complete("SwiftFormat.AlwaysUseLowerCamelCase", "")[:40])
found = [each for each in stubs.aliases.get("Selector", []) if each.startswith("SwiftFormat.PrettyPrinter.pretty")]
check("a selector completes inside method \"…\"", found == ["SwiftFormat.PrettyPrinter.prettyPrint()"], found)
check("method takes one of them", stubs.functions.get("method", (0, [(0, 0)]))[1][0] == ("selector", ("name", "Selector")), stubs.functions.get("method"))
found = stubs.complete("Method", "a")
check("the host's own names complete", found == ["after", "around"], found)
undeclared = stubs.undeclared()
check("every type that is named is declared", not undeclared, len(undeclared), list(undeclared.items())[:8])
finish()
