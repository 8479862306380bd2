patch { id = "write", version = "1", api = 1 }

local checks = 0
local function is(name, got, want)
  checks = checks + 1
  if got ~= want or math.type(got) ~= math.type(want) then print("FAIL " .. name .. ": got " .. tostring(got) .. ", want " .. tostring(want)) end
end
local function fails(name, want, f, ...)
  local ok, why = pcall(f, ...)
  is(name, not ok, true)
  is(name, (tostring(why):gsub("^[^ ]+:%d+: ", "")), want)
end
local count = {}
local function around(name, f)
  method("static Shop.Calls." .. name):around(function(call, ...)
    count[name] = (count[name] or 0) + 1
    return f(call, count[name], ...)
  end)
end
local items = {}
-- refused(name, call, value, what): the first argument is not made from this value.
local function refused(name, call, value, what, index)
  index = index or 1
  fails(name, "argument '" .. index .. "' of '" .. call.selector .. "': " .. what, function() call.args[index] = value end)
end

around("price(_:)", function(call, n, p)
  refused("no struct", call, 5, "expected Shop.Price, got an integer")
  refused("a text", call, "x", "expected Shop.Price, got a string")
  refused("nil", call, nil, "expected Shop.Price, got nil")
  refused("missing field", call, { cents = 1 }, "field 'currency' of Shop.Price is missing")
  refused("unknown field", call, { cents = 1, currency = "A", cent = 2 }, "Shop.Price has no stored field 'cent'; it has cents, currency, note")
  refused("wrong field", call, { cents = 1.5, currency = "A" }, ".cents: 1.5 does not fit in Int")
  refused("wrong Optional field", call, { cents = 1, currency = "A", note = 3 }, ".note: expected String, got an integer")
  call.args[1] = { cents = 250, currency = "A currency with a long name", note = "made of a table" }
  is("the new argument", call.args[1].note, "made of a table")
  is("what was passed", p.cents, 100)
  call.args[1] = p
  is("back again", call.args[1].note, nil)
  call.args[1] = { cents = 250, currency = "A currency with a long name", note = "made of a table" }
  local staged = call.args[1]
  call.args[1] = { cents = 250, currency = "A currency with a long name", note = "made of a table" }
  is("a handle to what was replaced again", staged.note, "made of a table")
  local first = call:original()
  is("what was passed, after the original", p.currency, "EUR")
  is("the argument, after the original", call.args[1].cents, 250)
  local second = call:original({ cents = 4, currency = "second" })
  is("result of the first run", first.cents, 250)
  is("result of the second run", second.cents, 4)
  call.result = { cents = 5, currency = "staged" }
  is("result as it was", second.cents, 4)
  is("result set", call.result.cents, 5)
  return swift.with(call:original({ cents = 250, currency = "A currency with a long name", note = "made of a table" }), { cents = 99 })
end)
around("line(_:)", function(call, n, l)
  items.a, items.b = swift.keep(l.item), swift.keep(l.item.next)
  refused("wrong element", call, { item = l.item, price = l.price, amounts = { 1, "2" }, secret = 1 }, ".amounts[2]: expected Int, got a string")
  refused("wrong class", call, { item = l.price, price = l.price, amounts = {}, secret = 1 }, ".item: expected Shop.Item, got a value of type Shop.Price")
  local r = call:original(swift.with(l, { item = l.item.next, amounts = { 4, 5 }, price = { cents = 1, currency = "X" } }))
  return swift.with(r, { item = items.a, amounts = l.amounts })
end)
around("big(_:)", function(call, n, b)
  local r = call:original(swift.with(b, { b = "another second text, long enough" }))
  return swift.with(r, { b = "and one for the result, long enough" })
end)
around("plain(_:)", function(call, n, e)
  refused("unknown case", call, "gren", "Shop.Plain has no case 'gren'; did you mean 'green'?")
  refused("far case", call, "purple!", "Shop.Plain has no case 'purple!'; it has red, green, blue")
  refused("payload too many", call, { red = 5 }, ".red: case 'red' of Shop.Plain takes 0 values, got 1")
  call:original("blue")
  return "red"
end)
around("shape(_:)", function(call, n, s)
  if n == 1 then
    refused("payload missing", call, "circle", "case 'circle' of Shop.Shape takes 1 value, got 0")
    refused("payload wrong", call, { circle = "x" }, ".circle: expected Double, got a string")
    refused("tuple wrong", call, { rect = { 1, "2" } }, ".rect.height: expected Int, got a string")
    refused("two cases", call, { circle = 1, named = "x" }, "expected Shop.Shape, as { case = payload }, got another table")
    refused("no case", call, {}, "expected Shop.Shape, as { case = payload }, got an empty table")
    call:original({ circle = 1.5 })
    return swift.case("rect", 5, 6)
  elseif n == 2 then
    call:original({ rect = { 1, height = 2 } })
    return { circle = { radius = 8 } }
  elseif n == 3 then
    call:original({ named = "a new name that is long enough" })
    return "empty"
  elseif n == 4 then
    call:original(swift.case("tagged", { cents = 3, currency = "C" }))
    return { tagged = swift.with(items.a.price, { note = "tagged" }) }
  end
  call:original("empty")
  return call.args[1]
end)
around("tree(_:)", function(call, n, t)
  local r = call:original({ node = { { leaf = 8 }, t } })
  return swift.case("node", r, { leaf = 9 })
end)
around("only(_:)", function(call, n, o) call:original({ only = items.b }) return { only = items.a } end)
around("optional(_:_:_:)", function(call, n, a, b, c)
  if n == 1 then
    refused("Bool is no Int", call, true, "expected Int, got a boolean")
    call:original(nil, "new text that is long enough", { cents = 9, currency = "N" })
    return 0
  end
  call:original(0, nil, nil)
  return nil
end)
around("nested(_:)", function(call, n, a)
  if n == 1 then call:original(swift.null) return 5 elseif n == 2 then call:original(0) return nil end
  call:original(nil)
  return swift.null
end)
around("list(_:)", function(call, n, l)
  refused("hole", call, { 1, nil, 3 }, "a list has no holes, index 2 is nil; write swift.null for none")
  refused("named", call, { x = 1 }, "a list has the keys 1, 2, …, got key 'x'")
  refused("element", call, { 1, 2, "3" }, "[3]: expected Int, got a string")
  refused("null element", call, { swift.null }, "[1]: expected Int, got swift.null")
  refused("too large", call, { 1, 2 ^ 63 }, "[2]: 9.223372036854776e+18 does not fit in Int")
  refused("other list", call, swift.data("x"), "expected Swift.Array<Swift.Int>, got a value of type Swift.Array<Swift.UInt8>")
  local t = l:table()
  t[#t + 1] = 40
  call:original(t)
  return {}
end)
around("lines(_:)", function(call, n, l)
  refused("path", call, { l[1], { item = items.a, price = { cents = "x", currency = "" }, amounts = {}, secret = 0 } }, "[2].price.cents: expected Int, got a string")
  call:original({ l[2], { item = items.a, price = items.b.price, amounts = { 7 }, secret = 2 } })
  return { l[1], l[1], l[2] }
end)
around("optionals(_:)", function(call, n, l) call:original({ 5, swift.null, swift.null }) return { swift.null } end)
around("slice(_:)", function(call, n, l) call:original({ "long enough to be on the heap", "y" }) return {} end)
around("contiguous(_:)", function(call, n, l) call:original({ l[2], { cents = 4, currency = "C" } }) return { l[1] } end)
around("set(_:)", function(call, n, s)
  refused("member", call, { "a", 1 }, "[2]: expected String, got an integer")
  call:original({ "p", "q", "p" })
  return { "only" }
end)
around("map(_:)", function(call, n, m)
  refused("value", call, { a = 1, b = "2" }, "['b']: expected Int, got a string")
  refused("key", call, { 5 }, "key 1: expected String, got an integer")
  call:original({ three = 3, four = 4 })
  return {}
end)
around("prices(_:)", function(call, n, m)
  local key = next and pairs(m)(m)
  call:original({ [swift.with(key, { cents = 5 })] = { items.b }, [key] = {} })
  return m
end)
around("bytes(_:)", function(call, n, b)
  refused("text is no bytes", call, "abc", "expected Swift.Array<Swift.UInt8>, got a string; write swift.data(s)")
  refused("byte", call, { 1, 256 }, "[2]: 256 does not fit in UInt8")
  call:original(swift.data("\0\xFF"))
  return { 1, 2 }
end)
around("range(_:)", function(call, n, r)
  refused("order", call, { lowerBound = 5, upperBound = 4 }, "a lower bound above the upper does not fit in Swift.Range<Swift.Int>")
  call:original({ lowerBound = 1, upperBound = 2 })
  return swift.with(r, { upperBound = 20 })
end)
around("texts(_:_:_:_:)", function(call, n, a, b, c, d)
  refused("Character", call, "ab", "a string of 2 characters does not fit in Character", 2)
  refused("scalar", call, "", "a string of 0 scalars does not fit in Unicode.Scalar", 3)
  refused("StaticString", call, "x", "values of type 'StaticString' cannot be made in a script: its text is part of the program's code", 4)
  call.args[1], call.args[2], call.args[3] = "a substring that is long enough", "👍🏽", "é"
  call:original()
  return "and the result as well, long"
end)
around("string(_:)", function(call, n, s)
  refused("not UTF-8", call, "\xFF", "expected a String, got bytes that are not UTF-8; swift.data(s) makes bytes")
  refused("cut", call, "\xE2\x82", "expected a String, got bytes that are not UTF-8; swift.data(s) makes bytes")
  refused("surrogate", call, "\xED\xA0\x80", "expected a String, got bytes that are not UTF-8; swift.data(s) makes bytes")
  local all = {}
  for i = 0, 127 do all[#all + 1] = string.char(i) end
  call:original("\0" .. table.concat(all))
  return s .. "\0"
end)
around("wide(_:_:_:_:_:)", function(call, n, a, b, c, d, e)
  refused("negative", call, -1, "-1 does not fit in UInt64")
  refused("fraction", call, 1.5, "1.5 does not fit in UInt64")
  refused("too wide", call, c, "340282366920938463463374607431768211455 does not fit in UInt64")
  refused("Int128 of UInt128", call, c, "340282366920938463463374607431768211455 does not fit in Int128", 2)
  refused("Float16", call, 1e9, "1000000000.0 does not fit in Float16", 4)
  call:original(swift.u64("0xFFFFFFFFFFFFFFFE"), a, a, 0.5, -1)
  return swift.u64("18446744073709551613")
end)
around("small(_:_:_:_:)", function(call, n, a, b, c, d)
  refused("Int8", call, 128, "128 does not fit in Int8")
  refused("UInt8", call, -1, "-1 does not fit in UInt8", 2)
  refused("Float", call, 1e300, "1e+300 does not fit in Float", 3)
  refused("integer beyond Double", call, 9007199254740993, "9007199254740993 does not fit in Double", 4)
  call:original(127, 0, 0 / 0, -0.0)
  return 0 / 0
end)

around("any(_:)", function(call, n, v)
  if n == 1 then
    refused("nil is no Any", call, nil, "expected Any, got nil")
    refused("a function", call, print, "expected Any, got a function")
    refused("mixed table", call, { 1, x = 2 }, "expected a list or a dictionary by name, got a table that mixes names and positions")
    refused("hole in Any", call, { 1, nil, 3 }, "a list has no holes, index 2 is nil; write swift.null for none")
    local cyclic = {}
    cyclic[1] = cyclic
    fails("cyclic", "argument '1' of 'static Shop.Calls.any(_:)': " .. ("[1]"):rep(64) .. ": the table is nested more than 64 deep, or contains itself", function() call.args[1] = cyclic end)
    local deep = 1
    for i = 1, 60 do deep = { deep } end
    call.args[1] = deep
    call.args[1] = { 0, 1, false, true, 1.0, "s", swift.null, { a = { 0, false } }, {}, items.a, items.a.price }
    return call:original()
  end
  if n == 2 then v = false elseif n == 3 then v = 0 elseif n == 4 then v = 1 elseif n == 6 then v = "six" elseif n == 7 then v = 7.5 end
  return call:original(v)
end)
around("maybeAny(_:)", function(call, n, v)
  local new = { 0, false, swift.null }
  return call:original(new[n])
end)
around("anyMap(_:)", function(call, n, m)
  local t = m:table()
  t.zero, t["false"], t.one, t["true"] = false, 0, true, 1
  t.five = swift.u64(5)
  return call:original(t)
end)
around("shown(_:)", function(call, n, v)
  if n == 1 then
    refused("no conformance", call, "text", "expected Shop.Shown, and 'Swift.String' does not conform")
    return call:original(items.b.price)
  elseif n == 2 then return call:original(4) end
  call:original(items.b)
  return 5
end)
around("held(_:)", function(call, n, v)
  refused("no object", call, 5, "expected Shop.Held, got an integer")
  call:original(items.b)
  return items.a
end)
around("object(_:)", function(call, n, v) refused("no object", call, "x", "expected Swift.AnyObject, got a string") return call:original(items.a) end)
around("hashable(_:)", function(call, n, v)
  if n == 1 then refused("not hashable", call, items.a, "expected AnyHashable, and 'Shop.Item' does not conform") end
  return call:original(n == 1 and "one" or items.a.price)
end)
local kept_error
around("error(_:)", function(call, n, e)
  if n == 1 then
    kept_error = swift.keep(e)
    refused("a text is no error", call, "text", "expected Swift.Error, and 'Swift.String' does not conform")
    call:original(swift.error("made by a script"))
    return e
  end
  call:original(kept_error)
  return kept_error.value
end)
around("metatype(_:)", function(call, n, t) refused("a name", call, "Shop.Item", "values of type 'Any.Type' cannot be made in a script yet; pass on the one you were given") return call:original(t) end)
around("item(_:_:)", function(call, n, a, b)
  if n == 1 then
    refused("class", call, items.a.price, "expected Shop.Item, got a value of type Shop.Price")
    refused("nil object", call, nil, "expected Shop.Item, got nil")
    return call:original(b, nil)
  end
  if n == 2 then return call:original(a, items.b) end
  call:original(items.a, a)
  return items.a
end)
around("fails(_:)", function(call, n, x)
  if n == 1 then
    call:original()
    call:throw("thrown by a script")
  elseif n == 2 then
    local ok, e = call:try()
    is("try", ok, false)
    is("payload", e.value[1], -1)
    kept_error = swift.keep(e)
    return "swallowed " .. e.case
  elseif n == 3 then
    local ok, e = call:try()
    call:throw(kept_error)
  elseif n == 4 then
    call:throw(swift.error("without the original"))
  elseif n == 5 then
    local ok, e = pcall(call.throw, call, kept_error)
    is("caught", e == kept_error, true)
    return call:original()
  elseif n == 6 then
    fails("no error", "'call:throw' takes a Swift error or a text, got an object of type Shop.Item", function() call:throw(items.a) end)
    call:throw(kept_error.value)
  end
  return call:original(x < 80 and x or -x)
end)
method("static Shop.Calls.fails(_:)"):after(function(call, x)
  if x < -1 then print("FAIL outside: an outer handler sees " .. x .. ", which an inner one has passed on") end
end)
method("static Shop.Calls.change(_:_:)"):around(function(call, list, p)
  local first, last, price = list[1], list[2], p
  is("inout list", last.name, "only in the list")
  call.args[2] = { cents = 1000, currency = "inout" }
  call:original()
  is("lent objects stay in the handler", last.name, "only in the list")
  is("inout list now", #call.args[1], 0)
  is("inout struct now", call.args[2].cents, 1001)
  items.last = swift.weak(last)
  call.args[1] = { items.a, last }
end)
around("safe(_:)", function(call, n, x)
  fails("cannot throw", "'static Shop.Calls.safe(_:)' does not throw; return a value instead", function() call:throw("x") end)
  if n == 1 then is("weak of a living object", items.last().id, 9) end
  if n == 2 then
    -- fields of objects
    items.a.name, items.a.tags, items.a.price = "a field set by a script", { "one", "two long enough to be on the heap" }, { cents = 77, currency = "S" }
    items.a.extra, items.a.shelf, items.b.level = { k = { 1, false } }, nil, 70
    items.a.next = nil
    is("set", items.a.name .. items.a.tags[1] .. items.a.price.cents .. items.b.level .. tostring(items.a.next), "a field set by a scriptone7770nil")
    is("Any field", items.a.extra.k[2], false)
    items.a.shelf = items.b
    is("weak field set", items.a.shelf == items.b, true)
    fails("let", "'id': field 'id' of Shop.Item cannot be set: it is a 'let'", function() items.a.id = 5 end)
    fails("type", "argument 1 'newValue' of 'Shop.Item.name.set': expected String, got an integer", function() items.a.name = 5 end)
    fails("nil", "argument 1 'newValue' of 'Shop.Item.name.set': expected String, got nil", function() items.a.name = nil end)
    is("unchanged", items.a.name, "a field set by a script")
  end
  return call:original()
end)
around("positions(_:_:_:)", function(call, n, a, b, c) call:original(c, a, b) return ({ nil, 0, 7 })[n] end)
method("Shop.Item.rename(_:)"):before(function(call, to)
  if call.self.id ~= 1 then return end
  call.args[1] = to .. " by a script"
  is("self is what is kept", call.self == items.a, true)
  items.a.next = nil
  swift.release(items.a) swift.release(items.b)
  print("checks " .. checks)
end)
