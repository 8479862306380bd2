=== an unknown global
> 1:1: unknown global 'prnt'; did you mean 'print'?
prnt("x")
=== a far-off global gets no guess
> 1:7: unknown global 'zzqqxx'
print(zzqqxx)
=== an unknown function of a library
> 2:8: 'string' has no 'formt'; did you mean 'format'?
-- second line
string.formt("%d", 1)
=== an unknown function of swift
> 1:13: 'swift' has no 'nwe'; did you mean 'new'?
print(swift.nwe)
=== a misspelt selector
> 1:8: no selector 'totl(tax:)' in Shop.Cart; did you mean 'total(tax:)'?
method "Shop.Cart.totl(tax:)":before(function() end)
=== wrong labels
> 1:8: no selector 'total(vat:)' in Shop.Cart; did you mean 'total(tax:)'?
method "Shop.Cart.total(vat:)":before(function() end)
=== a misspelt type
> 1:7: no type 'Shop.Crt' in ./shop; did you mean 'Shop.Cart'?
class "Shop.Crt":before("total(tax:)", function() end)
=== a misspelt member of a class
> 2:14: no selector 'ad(_:price:quantity:)' in Shop.Cart; did you mean 'add(_:price:quantity:)'?
local cart = class "Shop.Cart"
cart:before( "ad(_:price:quantity:)", function() end)
=== an ambiguous name
> 1:8: 'Shop.Cart.find(_:)' is ambiguous: 'Shop.Cart.find(_: Int) -> Line?', 'Shop.Cart.find(_: String) -> Line?'; spell the types
method "Shop.Cart.find(_:)":before(function() end)
=== too many arguments of a handler
> 1:57: 'Shop.Cart.total(tax:)' takes 1 argument, the handler asks for 2; remove 'loud'
method "Shop.Cart.total(tax:)":before(function(call, t, loud) print(t, loud) end)
=== through a local
> 2:31: 'Shop.Cart.total(tax:)' takes 1 argument, the handler asks for 2; remove 'b'
local total = method "Shop.Cart.total(tax:)"
total:after(function(call, a, b) print(a, b) end)
=== an unknown argument name
> 2:13: 'Shop.Cart.add(_:price:quantity:)' has no argument 'quantty'; did you mean 'quantity'?
method "Shop.Cart.add(_:price:quantity:)":before(function(call)
  call.args.quantty = 1
end)
=== an unknown field of the call
> 1:60: 'call' has no 'resul'; did you mean 'result'?
method "Shop.Cart.total(tax:)":after(function(c) print(c . resul) end)
=== the original from a before handler
> 1:59: only an 'around' handler calls the original; 'before' runs beside it
method "Shop.Cart.total(tax:)":before(function(call) call:original() end)
=== a result that is set too early
> 1:59: a 'before' handler cannot set the result; use 'around' or 'after'
method "Shop.Cart.total(tax:)":before(function(call) call.result = 1 end)
=== an around handler without an answer
> 1:39: the handler neither calls the original nor returns a value; end it with 'return call:original()'
method "Shop.Cart.total(tax:)":around(function(call) print(call.self) end)
=== an unknown option
> 1:83: unknown option 'prio' of 'before'; known are priority, once, object, group, wait, max, by, on_busy, on_failure
method "Shop.Cart.total(tax:)":before(function(call, tax) print(tax, call) end, { prio = 1 })
=== too few arguments of a verb
> 1:32: 'before' takes at least 1 argument, found 0
method "Shop.Cart.total(tax:)":before()
=== a handler that is none
> 1:39: 'before' takes a handler function: function(call, …) … end
method "Shop.Cart.total(tax:)":before("x")
=== a capture path with a misspelt field
> 1:77: 'self.titel': Shop.Cart has no stored field 'titel'; did you mean 'title'?
track "a" { on = "Shop.Cart.add(_:price:quantity:)", fields = { x =         "self.titel" } }
=== a capture path through an optional
> 3:17: 'self.user.mail': Shop.User has no stored field 'mail'; did you mean 'email'?
track "a" { on = "Shop.Cart.add(_:price:quantity:)", fields = {
  y = 'a' and nil, x = "self.user.email", z =
                "self.user.mail" } }
=== a capture path to a computed property
> 1:68: 'self.count': 'count' of Shop.Cart is computed; write 'count()' to run the program's code
track "a" { on = "Shop.Cart.add(_:price:quantity:)", fields = { x ="self.count" } }
=== a capture path to an argument that is not there
> 1:68: 'Shop.Cart.add(_:price:quantity:)' has no argument 'name'; it has 1, price, quantity
track "a" { on = "Shop.Cart.add(_:price:quantity:)", fields = { x ="args.name" } }
=== a computed step that is not there
> 1:68: 'self.nothing()': Shop.Cart has no property or method 'nothing' without arguments
track "a" { on = "Shop.Cart.add(_:price:quantity:)", fields = { x ="self.nothing()" } }
=== an unknown function of a rule
> 2:6: 'rule' has no 'inf'; did you mean 'info'?
local rule = track "a" { on = "Shop.Base.touch()" }
rule:inf()
=== an unknown field of a rule
> 1:40: unknown field 'filds' of 'track'; did you mean 'fields'?
track "a" { on = "Shop.Base.touch()",  filds = {} }
=== a rule without a selector
> 1:11: 'track' needs 'on': the selector, or a glob
track "a" { fields = {} }
=== another program's header
> 1:47: made for program 'other', this is 'shop'; correct target or check it against the other
patch { id = "x", api = 1, target = { program="other" } }
=== a header with an unknown field
> 2:3: unknown field 'idd' in patch; known are id, version, api, target, priority
patch {
  idd = "x" }
=== a constructor with wrong labels
> 1:31: no selector 'init(name:)' in Shop.Cart; did you mean 'init(title:)'?
print(swift.new("Shop.Cart",  "init(name:)", "x"))
=== a free function with too many arguments
> 1:18: 'Shop.discount(for:)' takes 1 argument, found 2
print(swift.call("Shop.discount(for:)", 1, 2))
=== a protocol that is not there
> 1:11: no protocol 'Shop.CartDelgate' in ./shop; did you mean 'Shop.CartDelegate'?
implement "Shop.CartDelgate" {}
=== an overridden method that is not there
> 1:66: no selector 'totl(tax:)' in Shop.Cart; did you mean 'total(tax:)'?
class.define("Fast", { super = "Shop.Cart", methods = {         ["totl(tax:)"] = function(call) return call:super() end } })
=== an extended member that is not there
> 2:4: no selector 'totl(tax:)' in Shop.Cart; did you mean 'total(tax:)'?
extend "Shop.Cart" {
  ["totl(tax:)"] = function(call) return call:original() end,
}
=== an extended type that is not there
> 1:8: no type 'Shop.Crt' in ./shop; did you mean 'Shop.Cart'?
extend "Shop.Crt" { ["total(tax:)"] = function(call) return call:original() end }
=== an extended member whose handler asks for too much
> 1:58: 'Shop.Cart.total(tax:)' takes 1 argument, the handler asks for 2; remove 'more'
extend "Shop.Cart" { ["total(tax:)"] = function(call, a, more) return call:original() end }
=== an option of a timer
> 1:25: unknown option 'mian' of 'timer.after'; did you mean 'main'?
timer.after(1, print, { mian = true })
=== a setting that is no literal
> 2:3: 'print' is not a literal; the patch header holds literals only
patch { id = "x",
  config = { a = print } }
=== a missing end
> 3:1: expected 'end' to close 'function' at line 1, found the end of the text
method "Shop.Cart.total(tax:)":before(function(call)
  print(call)
=== a stray symbol
> 1:11: expected a value, found '=='
local x = == 2
=== a text for a number
> 1:35: 'for' of 'Shop.discount(for:)' is of type Double, found a text
swift.call("Shop.discount(for:)", "much")
=== a boolean for a text
> 2:86: an argument of 'Shop.Cart.add(_:price:quantity:)' is of type String, found a boolean
local cart = swift.new("Shop.Cart", "init(title:)", "x")
method "Shop.Cart.add(_:price:quantity:)":around(function(call) return call:original(true, 1.5, 2) end, { group = cart.title })
=== a number for a text of an initialiser
> 1:54: 'title' of 'Shop.Cart.init(title:)' is of type String, found the number 7
print(swift.new("Shop.Cart", "init(title:)",         7).title)
=== an argument that is set to a fraction
> 2:24: 'quantity' of 'Shop.Cart.add(_:price:quantity:)' is of type Int, found the number 2.5, which is not whole
method "Shop.Cart.add(_:price:quantity:)":before(function(call)
  call.args.quantity = 2.5
end)
=== an argument by its number
> 2:18: 'price' of 'Shop.Cart.add(_:price:quantity:)' is of type Double, found nil
method "Shop.Cart.add(_:price:quantity:)":before(function(call)
  call.args[2] = nil
end)
=== a span's path that is not there
> 1:77: 'Shop.Cart.add(_:price:quantity:)' has no argument 'name'; it has 1, price, quantity
span { on = "Shop.Cart.add(_:price:quantity:)", attributes = { x = "'a'", y="args.name" } }
=== a path of a span's name
> 1:48: 'self.titel': Shop.Cart has no stored field 'titel'; did you mean 'title'?
span { on = "Shop.Cart.total(tax:)", name =    "total of {self.titel}" }
=== a condition that is none
> 1:47: 'where': 'self.title ==' ends where a value is expected
span { on = "Shop.Cart.total(tax:)", where =  "self.title ==" }
=== a condition's path
> 1:47: 'self.titel': Shop.Cart has no stored field 'titel'; did you mean 'title'?
span { on = "Shop.Cart.total(tax:)", where =  "self.titel == 'x' and self.lines.count > 0" }
=== a metric of what is not there
> 1:56: 'Shop.Cart.total(tax:)' has no argument 'rate'; it has tax
metric "a" { on = "Shop.Cart.total(tax:)", histogram = "args.rate" }
=== a share that is none
> 1:52: 'sample' is a share such as "10%" or 0.1, found 'ten'
track "a" { on = "Shop.Cart.total(tax:)", sample = "ten" }
=== a time that is none
> 1:51: 'budget' is a time such as "100ms", found '50'
slow { on = "Shop.Cart.total(tax:)",     budget = "50" }
=== a screen's method that is not there
> 1:41: no selector 'aper()' in Shop.Cart
screen { base = "Shop.Cart",  appear =  "aper()", disappear = "touch()" }
=== a screen's base that is not there
> 1:17: no type 'Shop.Kart' in ./shop; did you mean 'Shop.Cart'?
screen { base = "Shop.Kart", during = "touch()", name = "self.title" }
=== the end of a span
> 1:79: 'Shop.Cart.total(tax:)' has no argument 'rate'; it has tax
span { on = "Shop.Base.touch()", ends = { on = "Shop.Cart.total(tax:)", key = "args.rate" } }
=== a rule beside its name
> 1:1: 'track' takes a name, and then what belongs to it: track "…" { … }
track("a", { on = "Shop.Cart.total(tax:)" })
=== a rule without a name
> 1:1: 'metric' takes a name, and then what belongs to it: metric "…" { … }
metric { on = "Shop.Cart.total(tax:)", counter = true }
=== a guard that is not there
> 1:9: there is no guard 'zombie'; did you mean 'zombies'?
guard { "zombie", types = "Shop.*" }
=== no guard
> 1:7: 'guard' names no guard; known are unknown_selector, observation, notifications, timers, containers, null, zombies, main_thread
guard { mode = "report" }
=== an option of contain
> 1:46: unknown option 'vlue' of 'contain'; did you mean 'value'?
method "Shop.Cart.total(tax:)":contain {     vlue = 0.0 }
=== an option of another kind
> 1:54: 'priority' is a whole number, found the text '10'
method "Shop.Base.touch()":after(print, { priority = "10" })
=== a mode that is none
> 1:30: 'mode' is "report" or "contain" or "assert", found the text 'warn'
guard { "containers", mode = "warn" }
=== a start that never is
> 1:19: no selector 'begin()' in Shop.Cart
startup { first = "Shop.Cart.begin()" }
=== a preset that is not there
> 1:5: there is no preset 'stals'; did you mean 'stalls'?
use "stals"
=== a path into a list
> 1:69: 'self.lines.last.name': a path goes into Swift.Array by count, isEmpty, first or a position from 1, not by 'last'
track "a" { on = "Shop.Cart.add(_:price:quantity:)", fields = { x = "self.lines.last.name" } }
=== a path into a list's elements
> 1:69: 'self.lines.1.nme': Shop.Line has no stored field 'nme'; did you mean 'name'?
track "a" { on = "Shop.Cart.add(_:price:quantity:)", fields = { x = "self.lines.1.nme" } }
=== a path into a text
> 1:69: 'args.1.length': a path goes into Swift.String by count or isEmpty, not by 'length'
track "a" { on = "Shop.Cart.add(_:price:quantity:)", fields = { x = "args.1.length" } }
=== a path into a number
> 1:69: 'args.price.whole': Swift.Double has no fields, so no 'whole'
track "a" { on = "Shop.Cart.add(_:price:quantity:)", fields = { x = "args.price.whole" } }
=== a text compared with a number
> 1:46: 'where': 'self.title' is Swift.String, and is compared with a number
span { on = "Shop.Cart.total(tax:)", where = "self.title > 3" }
=== a list compared with a text
> 1:46: 'where': 'self.lines' is Swift.Array<Shop.Line>, and is compared with text
span { on = "Shop.Cart.total(tax:)", where = "self.lines == 'x'" }
=== a text looked for in a number
> 1:46: 'where': contains looks into text, and 'args.tax' is Swift.Double
span { on = "Shop.Cart.total(tax:)", where = "contains(args.tax, 'x')" }
=== a step behind a duration
> 1:56: 'duration.ms': 'duration' is a number, which has no 'ms'
metric "a" { on = "Shop.Cart.total(tax:)", histogram = "duration.ms" }
=== a rate that is none
> 1:50: 'rate' is a number in a time, such as "50/s" or "3/min", found '50'
track "a" { on = "Shop.Cart.total(tax:)", rate = "50" }
=== a timer's time that is none
> 1:13: 'timer.after' takes seconds, or a time such as "100ms", found the text '10x'
timer.after("10x", function() end)
=== an observed property that is not there
> 1:28: Shop.Cart has no property 'titel'; did you mean 'title'?
observe(class "Shop.Cart", "titel", function() end)
=== an observed path that is not there
> 1:28: Shop.User has no property 'mail'; did you mean 'email'?
observe(class "Shop.Cart", "user.mail", function() end)
=== a failed handler's value of another type
> 1:107: the result of 'Shop.Cart.total(tax:)' is of type Double, found a text
method "Shop.Cart.total(tax:)":around(function(call) return call:original() end, { on_failure = { value = "much" } })
=== a failed handler's error where nothing throws
> 1:97: 'on_failure': 'Shop.Cart.total(tax:)' cannot throw; give { value = v }
method "Shop.Cart.total(tax:)":around(function(call) return call:original() end, { on_failure = "throw" })
=== a failed handler's value where there is no result
> 1:86: 'on_failure': 'Shop.Base.touch()' has no result; leave on_failure out
method "Shop.Base.touch()":around(function(call) call:original() end, { on_failure = { value = 1 } })
=== a failed handler's answer beside the original
> 1:68: 'on_failure' is for 'around': the original of a 'before' runs in any case
class "Shop.Base":before("touch()", function() end, { on_failure = "throw" })
=== a busy handler's error where nothing throws
> 1:94: 'on_busy': 'Shop.Cart.total(tax:)' cannot throw; "wait" and "original" can be had
method "Shop.Cart.total(tax:)":around(function(call) return call:original() end, { on_busy = "throw" })
=== a result of another type
> 2:26: the result of 'Shop.Cart.total(tax:)' is of type Double, found a text
method "Shop.Cart.total(tax:)":around(function(call, tax)
  if tax > 0 then return "much" end
  return call:original()
end)
=== a result set to another type
> 1:67: the result of 'Shop.Cart.total(tax:)' is of type Double, found a text
method "Shop.Cart.total(tax:)":after(function(call) call.result = "much" end)
=== an override's result of another type
> 1:93: the result of 'Shop.Cart.total(tax:)' is of type Double, found a boolean
class.define("Slow", { super = "Shop.Cart", methods = { ["total(tax:)"] = function() return true end } })
=== a contained trap's answer of another type
> 1:50: the result of 'Shop.Cart.total(tax:)' is of type Double, found a text
method "Shop.Cart.total(tax:)":contain { value = "much" }
=== a number in a function's place
> 1:11: 'body' of 'on_unload' is a function, found the number 3
on_unload(3)
=== a setting that is written
> 1:1: 'config' is read only: its settings are in the header, in a file beside the patch or given with run --config
config.x = 1
=== an unknown function of the store, behind a colon
> 1:7: 'store' has no 'gett'; did you mean 'get'?
store:gett("x")
=== too many arguments of the store, behind a colon
> 1:16: 'store:get' takes 1 argument, found 2: store.get(key: string) -> any
store:get("x", "y")
=== a module of a patch that has none
> 1:9: 'require' finds modules in the directory of a patch that has one: a directory with patch.lua
require "lib.money"
=== an unknown function of a test
> 1:25: 't' has no 'expct'; did you mean 'expect'?
test "x" (function(t) t.expct(1) end)
=== a comparison with nothing
> 1:23: 't.equal' takes at least 2 arguments, found 1: equal(found: any, expected: any, why?: string) -> any
test "x" (function(t) t.equal(1) end)
=== a test's function behind a colon
> 1:25: 't' is a table of functions: write 't.expect'
test "x" (function(t) t:expect(1) end)
=== a stub of what is not there
> 1:30: no selector 'totl(tax:)' in Shop.Cart; did you mean 'total(tax:)'?
test "x" (function(t) t.stub("Shop.Cart.totl(tax:)", 1) end)
=== a stub's answer of another type
> 1:55: the result of 'Shop.Cart.total(tax:)' is of type Double, found a text
test "x" (function(t) t.stub("Shop.Cart.total(tax:)", "much") end)
=== a jump into the scope of a local
> 1:6: this goto jumps into the scope of the local 'x'; declare it before, or end its block before the label
goto done local x = 1 ::done:: print(x)
=== a jump out of a block into the scope of a local
> 1:9: this goto jumps into the scope of the local 'a'; declare it before, or end its block before the label
do goto l1 end local a ::l1:: print(a)
=== a header behind the first statement
> 2:1: 'patch' is the first statement of a file, once: it is read without running the file
print(1)
patch { id = "late" }
=== a handler around a deinit
> 1:27: cannot hook 'Shop.Cart.deinit': a 'deinit' must run exactly once; use 'before' (self can be read) or 'after'
method "Shop.Cart.deinit":around(function(call) call:original() end)
=== an empty file
> 1:1: the file is empty
=== a timer's time below nothing
> 1:13: 'timer.after' takes seconds, or a time such as "100ms", found the number -1
timer.after(-1, print)
=== a timer without a pause
> 1:13: 'timer.every' calls at most once in a millisecond
timer.every(0, print)
=== a timer with too short a pause
> 1:13: 'timer.every' calls at most once in a millisecond
timer.every("100us", print)
=== an error of a type of its own
> 1:89: 'on_failure': 'Shop.brew(_:)' throws errors of a type of its own, which a text cannot make; give { value = v }
method "Shop.brew(_:)":around(function(call) return call:original() end, { on_failure = "throw" })
=== a metric of no kind
> 1:15: a metric needs one of counter, histogram and gauge
metric "brew" { on = "Shop.brew(_:)" }
=== a metric of two kinds
> 1:55: a metric is one of counter, histogram and gauge
metric "brew" { on = "Shop.brew(_:)", counter = true, histogram = "duration" }
=== a back end that is none
> 1:70: 'by' is "entry" or "vtable" or "class-switch" or "dynamic-replacement" or "witness" or "import", found the text 'vtabel'
method "Shop.brew(_:)":before(function(call) print(call) end, { by = "vtabel" })
=== zombies of no class
> 1:9: guard 'zombies' needs 'types', such as { "Shop.*Session" }
guard { "zombies" }
=== zombies of no class, in a table
> 1:9: guard 'zombies' needs 'types', such as { "Shop.*Session" }
guard { zombies = { count = 10 } }
=== delegates in a property that is not there
> 1:11: cannot watch the delegates in 'Shop.Cart.delegat': Shop.Cart has no property 'delegat'; did you mean 'delegate'?
delegates "Shop.Cart.delegat" { ["cartDidChange(_:)"] = function(call) print(call) end }
=== delegates of no protocol
> 1:11: cannot watch the delegates in 'Shop.Cart.user': its values are of type 'Shop.User', which is no protocol of classes
delegates "Shop.Cart.user" { ["cartDidChange(_:)"] = function(call) print(call) end }
