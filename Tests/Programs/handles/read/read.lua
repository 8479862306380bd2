patch { id = "read", version = "1", api = 1 }

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
local kept, escaped = {}, {}
local calls = {}
local function on(selector, f)
  method("Shop." .. selector):before(function(call, ...)
    calls[selector] = (calls[selector] or 0) + 1
    f(call, calls[selector], ...)
  end)
end
local function on_static(selector, f)
  method("static Shop.Calls." .. selector):before(function(call, ...)
    calls[selector] = (calls[selector] or 0) + 1
    f(call, calls[selector], ...)
  end)
end

on_static("price(_:)", function(call, n, p)
  if n > 1 then return end
  is("struct field", p.cents, 100)
  is("struct text field", p.currency, "EUR")
  is("nil field", p.note, nil)
  is("type name", swift.type(p), "Shop.Price")
  is("tostring", tostring(p), 'Price(cents: 100, currency: "EUR", note: nil)')
  local names = {}
  for name, value in pairs(p) do names[#names + 1] = name .. "=" .. tostring(value) end
  is("pairs of a struct", table.concat(names, " "), "cents=100 currency=EUR note=swift.null")
  is("fields", table.concat(swift.fields(p), " "), "cents currency note")
  is("equal values", p == call.args[1], true)
  is("other values", p == swift.with(p, { cents = 1 }), false)
  is("equal copies", p == swift.with(p, { cents = 100 }), true)
  fails("unknown field", "Shop.Price has no stored field 'cent'; it has cents, currency, note", function() return p.cent end)
  fails("copies are not written", "this is a copy of a Shop.Price and cannot be changed; swift.with(value, { cents = … }) makes a changed one", function() p.cents = 3 end)
  fails("arguments neither", "this is a copy of a Shop.Price and cannot be changed; swift.with(value, { cents = … }) makes a changed one", function() call.args[1].cents = 3 end)
  local q = swift.with(p, { cents = 7, note = "n" })
  is("with", q.cents .. q.currency .. q.note, "7EURn")
  is("with leaves", p.cents, 100)
  fails("with: unknown field", "'swift.with': Shop.Price has no stored field 'cent'; it has cents, currency, note", swift.with, p, { cent = 1 })
  fails("with: wrong type", "'swift.with': .cents: expected Int, got a string", swift.with, p, { cents = "1" })
  fails("with: nil", "'swift.with' takes a Swift struct or tuple and a table of fields, got a Swift value", swift.with, p)
  fails("no order", "only numbers are compared by order", function() return p < q end)
  fails("no length", "a value of type Shop.Price has no length", function() return #p end)
  escaped.price, kept.price = p, swift.keep(p)
end)

on_static("line(_:)", function(call, n, l)
  is("object in a struct", l.item.name, "apple")
  is("struct in a struct", l.price.currency, "EUR")
  is("list in a struct", l.amounts[3], 3)
  is("private field", l.secret, 42)
  is("two ways to an object", l.item == call.args[1].item, true)
  is("same table key", ({ [l.item] = "k" })[call.args[1].item], "k")
  escaped.item, escaped.nested = l.item, l.price
  kept.item = swift.keep(l.item)
  is("kept is given out", ({ [kept.item] = 1 })[l.item], 1)
  is("kept equals lent", kept.item == escaped.item, true)
  kept.weak = swift.weak(l.item)
  is("weak", kept.weak() == l.item, true)
  is("weak text", tostring(kept.weak), "<weak Shop.Item>")
  is("object text", tostring(l.item), "<Shop.Item>")
  is("inherited", l.item.next.name, "banana that is a long name")
  is("is", swift.is(l.item.next, "Shop.Special"), true)
  is("is subclass", swift.is(l.item.next, "Shop.Item"), true)
  is("is not", swift.is(l.item, "Shop.Special"), false)
  is("as", swift.as(l.item.next, "Shop.Special").level, 7)
  is("as not", swift.as(l.item, "Shop.Special"), nil)
  is("weak field", l.item.shelf == l.item.next, true)
  is("unowned field", l.item.owner == l.item.next, true)
  is("Any field", l.item.extra.cents, 5)
  is("list field", #l.item.tags, 2)
  is("element", l.item.tags[2], "round")
  is("beyond the end", l.item.tags[3], nil)
  fails("position 0", "a list has the positions 1, 2, …, got 0", function() return l.item.tags[0] end)
  fails("no position", "a list has the positions 1, 2, …, got 'x'", function() return l.item.tags.x end)
end)

on_static("big(_:)", function(call, n, b)
  is("big text", b.c, "third text that is long enough")
  is("big float", b.d, 1.5)
  is("big bool", b.f, true)
  is("big list", b.e[1] + b.e[2] + b.e[3], 6)
end)

on_static("tuple(_:)", function(call, n, t)
  if t then is("a tuple argument", type(t), "userdata") end
end)

on_static("plain(_:)", function(call, n, e)
  is("case", e.case, "green")
  is("swift.case", swift.case(e), "green")
  is("no payload", e.payload, nil)
  is("enum text", tostring(e), ".green")
  fails("enum member", "an enum value has 'case', 'payload' and [1], [2], …; it has no 'name'", function() return e.name end)
end)

on_static("shape(_:)", function(call, n, s)
  local want = { "empty", "circle", "rect", "named", "tagged" }
  is("case " .. n, s.case, want[n])
  if n == 2 then is("labelled payload", s.payload, 2.0) is("position", s[1], 2.0) is("no second", s[2], nil) end
  if n == 3 then is("tuple payload", s.payload[1] * 10 + s.payload.height, 34) is("e[1]", s[1], 3) is("e[2]", s[2], 4) end
  if n == 4 then is("text payload", s[1], "a name that is long enough") end
  if n == 5 then is("struct payload", s.payload.currency, "EUR") end
  escaped.shape = s
end)

on_static("tree(_:)", function(call, n, t)
  is("indirect", t.case, "node")
  is("indirect payload", t[1].payload, 1)
  is("deep", t[2][2].payload, 3)
end)
on_static("only(_:)", function(call, n, o) is("single case", o.case, "only") is("its object", o.payload.name, "apple") end)
on_static("optional(_:_:_:)", function(call, n, a, b, c)
  if n == 1 then is("zero is no nil", a, 0) is("nil text", b, nil) is("some struct", c.cents, 100)
  else is("nil int", a, nil) is("some text", b, "text") is("nil struct", c, nil) end
end)
on_static("nested(_:)", function(call, n, a)
  if n == 1 then is("none", a, nil) elseif n == 2 then is("nested none", a, swift.null) else is("some some", a, 0) end
end)

on_static("list(_:)", function(call, n, l)
  is("count", #l, 3)
  local sum = 0
  for i, x in ipairs(l) do sum = sum + i * x end
  is("ipairs", sum, 140)
  sum = 0
  for i, x in pairs(l) do sum = sum + i * x end
  is("pairs", sum, 140)
  is("table", table.concat(l:table(), ","), "10,20,30")
  is("table(2)", #l:table(2), 2)
  fails("lists are not written", "this is a copy of a Swift.Array<Swift.Int> and cannot be changed; take c:table(), change that, and pass it on", function() l[1] = 3 end)
  escaped.list, kept.list = l, swift.keep(l)
end)
on_static("lines(_:)", function(call, n, l)
  is("struct elements", l[1].item.name .. l[2].item.name, "applebanana that is a long name")
  is("their lists", l[1].amounts[1], 1)
  is("element of an element", #l[2].amounts, 0)
  escaped.line = l[1]
end)
on_static("optionals(_:)", function(call, n, l)
  local seen = {}
  for i, x in ipairs(l) do seen[i] = tostring(x) end
  is("none in a list", table.concat(seen, " "), "swift.null 1 swift.null 2")
  is("positions stay", l[3], swift.null)
end)
on_static("slice(_:)", function(call, n, l) is("slice", #l .. l[1] .. l[2], "2bc") is("its end", l[3], nil) end)
on_static("contiguous(_:)", function(call, n, l) is("contiguous", l[2].cents, 200) end)
on_static("set(_:)", function(call, n, s)
  is("members", #s, 2)
  is("has", s["x"], true)
  is("has not", s["z"], false)
  local all = {}
  for member, yes in pairs(s) do all[#all + 1] = member is("member value", yes, true) end
  table.sort(all)
  is("pairs of a set", table.concat(all), "xy")
  local copy = s:table() table.sort(copy)
  is("table of a set", table.concat(copy), "xy")
  fails("wrong member", "key: expected String, got an integer", function() return s[1] end)
end)
on_static("map(_:)", function(call, n, m)
  is("entries", #m, 2)
  is("value", m["two"], 2)
  is("by name", m.one, 1)
  is("missing", m.three, nil)
  local sum = 0
  for k, v in pairs(m) do sum = sum + v * #k end
  is("pairs of a dictionary", sum, 9)
end)
on_static("prices(_:)", function(call, n, m)
  for price, items in pairs(m) do
    is("struct key", price.cents, 100)
    is("value of objects", items[2].name, "banana that is a long name")
    is("lookup by struct", m[price][1].id, 1)
    is("lookup by table", m[{ cents = 100, currency = "EUR" }][1].id, 1)
    is("miss", m[{ cents = 101, currency = "EUR" }], nil)
  end
end)
on_static("bytes(_:)", function(call, n, b)
  is("bytes", tostring(b), "\0\xFF\x80A")
  is("byte", b[2], 255)
  is("data", tostring(swift.data("\0\xFF")), "\0\xFF")
end)
on_static("range(_:)", function(call, n, r) is("range", r.lowerBound .. ".." .. r.upperBound, "3..9") end)
on_static("texts(_:_:_:_:)", function(call, n, a, b, c, d)
  is("Substring", a, "text that is long enough")
  is("Character", b, "é")
  is("scalar", c, "ß")
  is("StaticString", d, "static text")
end)
on_static("string(_:)", function(call, n, s) is("NUL and more", s, "a\0b\u{10FFFF}") end)
on_static("wide(_:_:_:_:_:)", function(call, n, a, b, c, d, e)
  is("UInt64.max", tostring(a), "18446744073709551615")
  is("it is exact", a == swift.u64("18446744073709551615"), true)
  is("one less", a == swift.u64("18446744073709551614"), false)
  is("order", swift.u64("9223372036854775808") < a, true)
  is("order with integers", 5 < a, true)
  is("not less", a <= math.maxinteger, false)
  fails("does not fit", "'swift.int': 18446744073709551615 does not fit in Int64", swift.int, a)
  is("int", swift.int(swift.u64(7)), 7)
  is("Int128", tostring(b), "-170141183460469231731687303715884105728")
  is("UInt128", tostring(c), "340282366920938463463374607431768211455")
  is("order of wide", b < c, true)
  is("Float16", d, 1.5)
  is("Float80", e, 2.25)
end)
on_static("small(_:_:_:_:)", function(call, n, a, b, c, d)
  is("Int8", a, -128) is("UInt8", b, 255) is("inf", c, math.huge) is("-inf", d, -math.huge)
end)
on_static("any(_:)", function(call, n, v)
  local want = { 0, 1, false, true }
  if n <= 4 then is("Any plain " .. n, v, want[n]) end
  if n == 5 then is("UInt8 keeps its type", swift.type(v), "Swift.UInt8") is("its number", swift.value(v), 5) is("its int", swift.int(v), 5) end
  if n == 6 then is("Double", v, 2.5) end
  if n == 7 then is("String", v, "text") end
  if n == 8 then is("struct in Any", v.cents, 100) end
  if n == 9 then is("object in Any", v.name, "apple") end
  if n == 10 then is("list in Any", v[1], 1) is("its text", v[2], "two") is("its Bool", v[3], false) end
  if n == 11 then is("dictionary in Any", v.k, 0) end
  if n == 12 then is("enum in Any", v.case, "empty") end
  if n == 13 then is("none in Any", v, swift.null) end
  if n == 14 then is("Float keeps its type", swift.type(v), "Swift.Float") is("its value", swift.value(v), 1.0) end
end)
on_static("maybeAny(_:)", function(call, n, v)
  if n == 1 then is("Any? nil", v, nil) elseif n == 2 then is("Any? 0", v, 0) elseif n == 3 then is("Any? false", v, false) else is("Any? none", v, swift.null) end
end)
on_static("anyMap(_:)", function(call, n, m)
  is("0", m.zero, 0) is("false", m["false"], false) is("1", m.one, 1) is("true", m["true"], true)
  is("nested none", m.none, swift.null) is("missing", m.nothing, nil) is("in a list", m.list[2], false)
end)
on_static("shown(_:)", function(call, n, v)
  if n == 1 then is("Int behind P", v, 3) elseif n == 2 then is("struct behind P", v.cents, 100) else is("object behind P", v.name, "apple") end
end)
on_static("held(_:)", function(call, n, v) is("class-bound", v.name, "apple") end)
on_static("object(_:)", function(call, n, v) is("AnyObject", v.level, 7) end)
on_static("hashable(_:)", function(call, n, v) is("AnyHashable", v, n == 1 and 3 or "text") end)
on_static("error(_:)", function(call, n, e)
  if n == 1 then
    is("error type", e.type, "Shop.Failure") is("error case", e.case, "code") is("error payload", e.value[1], 4) is("by label", e.value.payload.why, "four")
    is("error message", e.message, 'code(4, why: "four")')
    is("error text", tostring(e), "Failure.code(…)")
    escaped.error, kept.error = e, swift.keep(e)
    is("same error", kept.error == e, true)
  else is("struct error", e.value.text, "broken with code 5") end
end)
on_static("metatype(_:)", function(call, n, t) is("metatype", tostring(t), "Price") end)
on_static("item(_:_:)", function(call, n, a, b)
  if n == 2 then is("nil object", b, nil) end
  if n == 3 then is("seen twice", a == b, true) is("one key", ({ [a] = 1 })[b], 1) is("identical", rawequal(a, b), true) end
  escaped.object = a
end)
on_static("positions(_:_:_:)", function(call, n, a, b, c)
  local got = tostring(a) .. tostring(b) .. tostring(c)
  is("nil position " .. n, got, ({ "nil23", "1nil3", "12nil" })[n])
end)

on("Item.rename(_:)", function(call, n)
  if n > 1 then return end
  local over = "this object was only borrowed for the call it came with, which is over; copy what you need from it"
  fails("expired object", over, function() return escaped.object.name end)
  fails("expired object of a struct", over, function() return escaped.item.name end)
  fails("expired struct", over, function() return escaped.price.cents end)
  fails("expired list", over, function() return escaped.list[1] end)
  fails("expired count", over, function() return #escaped.list end)
  fails("expired pairs", over, function() for _ in pairs(escaped.list) do end end)
  fails("expired element", over, function() return escaped.line.item end)
  fails("expired enum", over, function() return escaped.shape.case end)
  fails("expired error", over, function() return escaped.error.type end)
  fails("expired keep", over, swift.keep, escaped.object)
  is("expired text", tostring(escaped.object), "<a Swift object of a call that is over>")
  is("expired is unequal", escaped.object == call.self, false)
  is("kept struct", kept.price.cents .. kept.price.currency, "100EUR")
  is("kept list", kept.list[1] + #kept.list, 13)
  is("kept object", kept.item.name, "apple")
  is("kept is self", kept.item == call.self, true)
  is("kept is the key", ({ [call.self] = 5 })[kept.item], 5)
  is("object of a kept object", kept.item.next.level, 7)
  is("list of a kept object", kept.item.tags[1], "red")
  is("kept error", kept.error.value[1], 4)
  is("weak lives", kept.weak() == call.self, true)
  is("released", swift.release(kept.error), true)
  is("released twice", swift.release(kept.error), false)
  fails("after release", over, function() return kept.error.type end)
  is("value released", swift.release(kept.price), true)
  fails("value after release", "this value was let go with swift.release", function() return kept.price.cents end)
  fails("lent is not released", "'swift.release' takes what 'swift.keep' or 'swift.weak' gave; this handle keeps nothing", swift.release, call.self.next)
  is("object released", swift.release(kept.item), true)
  is("list released", swift.release(kept.list), true)
end)

method("Shop.Item.deinit"):before(function(call)
  if call.self.id ~= -5 then return end
  is("weak is gone", kept.weak ~= nil, true)
  is("field in deinit", call.self.name, "still dying")
  is("object in deinit", call.self.next.name, "renamed")
  is("own weak in deinit", call.self.shelf.name, "renamed")
  fails("keep in deinit", "'swift.keep': this Shop.Special is in its deinit and cannot be kept", swift.keep, call.self)
  fails("weak in deinit", "'swift.weak': this Shop.Special is in its deinit; nothing may refer to it any more", swift.weak, call.self)
  escaped.dying = call.self
end)
on("closing(_:)", function(call, n, id)
  if id ~= -5 then return end
  fails("dead afterwards", "this object was only borrowed for the call it came with, which is over; copy what you need from it", function() return escaped.dying.name end)
  print("checks " .. checks)
end)

on("Price.doubled()", function(call, n) is("self of a struct", call.self.cents, 100) is("its text", call.self.currency, "EUR") end)
on("Price.add(_:)", function(call, n, by) is("mutating self", call.self.cents + by, 106) end)
on("Shape.area()", function(call, n) is("self of an enum", call.self.payload, 3.0) end)
