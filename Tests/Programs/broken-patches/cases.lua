-- The cases of broken-patches: one patch per `=== NAME`, then the sentence it leads to, then its text.
-- `> text` must be part of the sentence; `>` alone means that nothing is said.

=== syntax
> syntax.lua:1: unexpected symbol near '='
local x = = 3
=== unfinished-string
> unfinished-string.lua:1: unfinished string near '"abc'
local s = "abc
=== unfinished-block
> unfinished-block.lua:2: 'end' expected (to close 'if' at line 1) near <eof>
if true then
=== missing-type
> missing-type.lua:1: no type 'SwiftFormat.PretyPrinter' in this program; did you mean 'SwiftFormat.PrettyPrinter'?
method "SwiftFormat.PretyPrinter.prettyPrint()":before(function() end)
=== missing-selector
> missing-selector.lua:1: no selector 'pretyPrint()' in SwiftFormat.PrettyPrinter; did you mean 'prettyPrint()'?
method "SwiftFormat.PrettyPrinter.pretyPrint()":before(function() end)
=== missing-far
> missing-far.lua:1: no selector 'Zebra.Quux.frobnicate(_:)' in this program
method "Zebra.Quux.frobnicate(_:)":before(function() end)
=== missing-class
> missing-class.lua:1: no type 'SwiftFormat.PretyPrinter' in this program; did you mean 'SwiftFormat.PrettyPrinter'?
class "SwiftFormat.PretyPrinter":before("prettyPrint()", function() end)
=== missing-member
> missing-member.lua:1: no selector 'pretyPrint()' in SwiftFormat.PrettyPrinter; did you mean 'prettyPrint()'?
class "SwiftFormat.PrettyPrinter":before("pretyPrint()", function() end)
=== missing-glob
> missing-glob.lua:1: no selector 'Zebra.**' in this program: no module 'Zebra' is in it; 'scripthost types' lists its types with their modules
method "Zebra.**":before(function() end)
=== ambiguous
> ambiguous.lua:1: 'SwiftSyntax.SyntaxVisitor.visit(_:)' is ambiguous
method "SwiftSyntax.SyntaxVisitor.visit(_:)":before(function() end)
=== empty-name
> empty-name.lua:1: no selector '' in this program
method "":before(function() end)
=== name-no-string
> name-no-string.lua:1: 'method' takes a selector, such as "Shop.Cart.total(tax:)"
method(42)
=== runtime
> runtime.lua:2: attempt to index a nil value (local 't')
local t = nil
t.x = 1
=== error-table
> error-table.lua:1: error object is a table value
error({ a = 1 })
=== error-nil
> error-nil.lua:1: error object is nil
error(nil)
=== error-function
> error-function.lua:1: error object is a function value
error(print)
=== error-tostring-loop
> error-tostring-loop.lua:1: error object is a table value
error(setmetatable({}, { __tostring = function() while true do end end }))
=== error-control-characters
> error-control-characters.lua:1: first\nsecond\x1B[31mred\x00nul
error("first\nsecond\27[31mred\0nul")
=== error-long
> error-long.lua:1: xxxxxxxxxx
error(("x"):rep(100000))
=== loop
> loop.lua:1: stopped:
while true do end
=== loop-in-pcall
> loop-in-pcall.lua:1: stopped:
while true do pcall(function() while true do end end) end
=== loop-in-coroutine
> loop-in-coroutine.lua:1: stopped:
local c = coroutine.wrap(function() while true do end end) while true do pcall(c) end
=== loop-in-close
> loop-in-close.lua:1: stopped:
local c <close> = setmetatable({}, { __close = function() while true do end end })
=== recursion
> recursion.lua:1: stopped: uses more than 16384 KiB of memory
local function f() return 1 + f() end f()
=== recursion-in-pcall
> recursion-in-pcall.lua:1: stopped:
local function f() pcall(f) f() end f()
=== recursion-in-metamethod
> recursion-in-metamethod.lua:1: C stack overflow
local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k .. "x"] end local _ = t.a
=== long-string
> long-string.lua: string too long
local s = "x" for i = 1, 40 do s = s .. s end
=== memory
> memory.lua:1: stopped: uses more than 16384 KiB of memory
local t = {} for i = 1, 1e9 do t[i] = {} end
=== pattern
> pattern.lua:1: stopped:
local _ = ("a"):rep(200):match(("a*"):rep(30) .. "b")
=== gone-library
> gone-library.lua:1: attempt to index a nil value (global 'io')
io.open("x")
=== half
> half.lua:2: after the hook
method "SwiftFormat.PrettyPrinter.prettyPrint()":around(function() return "half" end)
error("after the hook")
=== no-handler
> no-handler.lua:1: 'before' takes a handler function, got nil
method "SwiftFormat.PrettyPrinter.prettyPrint()":before()
=== bad-option
> bad-option.lua:1: unknown option 'prio'; known are priority, once, object, group, wait, max, by, on_busy, on_failure
method "SwiftFormat.PrettyPrinter.prettyPrint()":before(function() end, { prio = 1 })
=== bad-option-type
> bad-option-type.lua:1: option 'priority' is an integer, found the text 'x'
method "SwiftFormat.PrettyPrinter.prettyPrint()":before(function() end, { priority = "x" })
=== bad-verb
> bad-verb.lua:1: 'arround' is no member of a method
method "SwiftFormat.PrettyPrinter.prettyPrint()":arround(function() end)
=== dot-for-colon
> dot-for-colon.lua:1: 'before' is a method of a method, called on a function value; write 'value:before(...)' with a colon
method "SwiftFormat.PrettyPrinter.prettyPrint()".before(function() end)
=== track-without-selector
> track-without-selector.lua:1: track 'x' needs 'on', the selector of the call
track "x" {}
=== track-unknown-field
> track-unknown-field.lua:1: track 'x': unknown field 'felds'
track "x" { on = "SwiftFormat.PrettyPrinter.prettyPrint()", felds = {} }
=== track-unknown-argument
> track-unknown-argument.lua:1: track 'x': field 'a': 'SwiftFormat.PrettyPrinter.prettyPrint()' has no argument '9'; it has none
track "x" { on = "SwiftFormat.PrettyPrinter.prettyPrint()", fields = { a = "args.9" } }
=== header-id-number
> header-id-number.lua:1: 'id' is a text, such as "rounding", found the number 5
patch { id = 5 }
=== header-id-empty
> header-id-empty.lua:1: an id has 1 to 64 letters, digits, '.', '-' and '_', found ''
patch { id = "" }
=== header-id-blank
> header-id-blank.lua:1: an id has 1 to 64 letters, digits, '.', '-' and '_', found 'a b'
patch { id = "a b" }
=== header-priority-text
> header-priority-text.lua:1: 'priority' is a whole number, such as 10, found the text 'high'
patch { id = "a", priority = "high" }
=== header-priority-huge
> header-priority-huge.lua:1: '99999999999999999999999999' is no whole number within 64 bits
patch { id = "a", priority = 99999999999999999999999999 }
=== header-priority-fraction
> header-priority-fraction.lua:1: 'priority' is a whole number, such as 10, found the number 1.5
patch { id = "a", priority = 1.5 }
=== header-api
> header-api.lua:1: this host knows api 1, the patch asks for 2
patch { id = "a", api = 2 }
=== header-api-huge
> header-api-huge.lua:1: '99999999999999999999' is no whole number within 64 bits
patch { id = "a", api = 99999999999999999999 }
=== header-unknown
> header-unknown.lua:1: unknown field 'idd' in patch; known are id, version, api, target, priority
patch { idd = "x" }
=== header-unnamed
> header-unnamed.lua:1: the fields of patch are named, such as id = "rounding"
patch { "x" }
=== header-target
> header-target.lua:1: 'target' is a table, such as { program = "swift-format" }, found the text 'swift-format'
patch { target = "swift-format" }
=== header-target-program
> header-target-program.lua:1: 'target.program' is a text, such as "swift-format", found the number 5
patch { target = { program = 5 } }
=== header-other-program
> header-other-program.lua: made for program 'storefront', this is 'swift-format'; not loaded
patch { target = { program = "storefront" } }
=== header-expression
> header-expression.lua:1: 'os' is not a literal; the patch header holds literals only
patch { id = os.time() }
=== header-no-table
> header-no-table.lua:1: expected a table after 'patch'
patch "x"
=== header-unfinished
> header-unfinished.lua:2: the file ends inside the patch header
patch { id = "x"
=== header-twice
> header-twice.lua:1: 'id' is given twice
patch { id = "a", id = "b" }
=== header-late
> header-late.lua:2: 'patch' is the first statement of a file, once
local x = 1
patch { id = "late" }
=== header-two
> header-two.lua:2: 'patch' is the first statement of a file, once
patch { id = "two" }
patch { id = "three" }
=== header-escape
> header-escape.lua:1: '\x' in a string is not known here
patch { id = "\x41" }
=== fine-comment
>
--[==[ long
]] comment ]==] patch { id = "fine-comment" }
=== fine-blank
>

