-- B1: values of every type are seen as they are, and replaced by others of their type.
local function around(name, change)
  method("static Kinds.Echo." .. name):around(function(call, value)
    local result = call:original()
    print(name, value, result == value)
    if change ~= nil then return change end
    return result
  end)
end
for name, change in pairs {
  ["int8(_:)"] = 7, ["int16(_:)"] = 700, ["int32(_:)"] = 70001, ["int64(_:)"] = math.mininteger, ["int(_:)"] = math.maxinteger, ["uint8(_:)"] = 255,
  ["uint16(_:)"] = 65535, ["uint32(_:)"] = 4294967295, ["float(_:)"] = 2.25, ["double(_:)"] = 0.75, ["bool(_:)"] = false, ["string(_:)"] = "changed",
  ["maybeInt(_:)"] = 5, ["maybeBool(_:)"] = true, ["maybeDouble(_:)"] = 1.5, ["maybeString(_:)"] = "there",
} do around(name, change) end
around("uint64(_:)", swift.u64 "9223372036854775809")
method "static Kinds.Echo.character(_:)":around(function(call, value)
  print("character", tostring(value))
  return call:original()
end)
method "static Kinds.Echo.pair(_:)":around(function(call, pair)
  print("pair", pair[1], pair[2])
  return { 2, "q" }
end)
method "static Kinds.Echo.one(_:)":around(function(call, one) return swift.with(one, { a = one.a + 41 }) end)
method "static Kinds.Echo.two(_:)":around(function(call, two) return { a = 5, b = two.b * 2 } end)
-- One field of three texts: the others stay.
method "static Kinds.Echo.three(_:)":around(function(call, three)
  print("three", three.first, three.second, #three.third)
  return swift.with(three, { second = "the second of them, which is long now" })
end)
method "static Kinds.Echo.four(_:)":around(function(call, four) return swift.with(four, { a = four.d, d = four.a }) end)
method "static Kinds.Echo.mixed(_:)":around(function(call, mixed)
  print("mixed", mixed.flag, mixed.one.a, mixed.name, #mixed.list, mixed["end"])
  return swift.with(mixed, { flag = false, name = "changed", ["end"] = 3 })
end)
method "static Kinds.Echo.wide(_:)":around(function(call, wide)
  print("wide", wide.v[1], wide.v[8], wide.v[16])
  return call:original()
end)
method "static Kinds.Echo.huge(_:)":around(function(call, huge)
  print("huge", huge.c.v[16])
  return swift.with(huge, { a = huge.c })
end)
method "static Kinds.Echo.fruit(_:)":around(function(call, fruit)
  print("fruit", tostring(fruit))
  return swift.case "plum"
end)
method "static Kinds.Echo.payload(_:)":around(function(call, payload)
  print("payload", tostring(payload))
  return swift.case("number", 12)
end)
method "static Kinds.Echo.list(_:)":around(function(call, list)
  print("list", #list, list[3])
  return { 4, 5 }
end)
method "static Kinds.Echo.table(_:)":around(function(call, map)
  print("table", map.k)
  return { a = 8 }
end)
method "static Kinds.Echo.set(_:)":around(function(call, set)
  print("set", #set)
  return call:original()
end)
method "static Kinds.Echo.item(_:)":around(function(call, item)
  print("item", item.name, call:original() == item)
  return swift.new("Kinds.Item", "init(_:)", "made")
end)
method "static Kinds.Echo.named(_:)":around(function(call, named)
  print("named", named.name)
  return swift.new("Kinds.Item", "init(_:)", "another type")
end)
method "static Kinds.Echo.metatype(_:)":around(function(call, type)
  print("metatype", tostring(type))
  return call:original()
end)
method "static Kinds.Echo.void(_:)":around(function(call)
  print("void", call:original())
end)
-- prints: int8(_:)	-5	true
-- prints: int64(_:)	9223372036854775807	true
-- prints: int(_:)	-9223372036854775808	true
-- prints: uint32(_:)	4000000000	true
-- prints: uint64(_:)	18446744073709551615	true
-- prints: float(_:)	1.5	true
-- prints: bool(_:)	true	true
-- prints: string(_:)	text	true
-- prints: maybeInt(_:)	nil	true
-- prints: maybeBool(_:)	false	true
-- prints: maybeString(_:)		true
-- prints: character	é
-- prints: pair	1	p
-- prints: three	the first of them, which is long	b	32
-- prints: mixed	true	7	m	2	nil
-- prints: wide	5	5	5
-- prints: huge	3
-- prints: list	3	3
-- prints: table	1
-- prints: set	1
-- prints: item	i	true
-- prints: named	n
-- program: int8: 7
-- program: int16: 700
-- program: int32: 70001
-- program: int64: -9223372036854775808
-- program: int: 9223372036854775807
-- program: uint8: 255
-- program: uint16: 65535
-- program: uint32: 4294967295
-- program: uint64: 9223372036854775809
-- program: float: 2.25
-- program: double: 0.75
-- program: bool: false
-- program: string: changed
-- program: maybeInt: Optional(5)
-- program: maybeBool: Optional(true)
-- program: maybeDouble: Optional(1.5)
-- program: maybeString: Optional("there")
-- program: pair: (2, "q")
-- program: one: One(a: 42)
-- program: two: Two(a: 5, b: 4.0)
-- program: three: Three(first: "the first of them, which is long", second: "the second of them, which is long now", third: "the third of them, which is long")
-- program: four: Four(a: 4, b: 2, c: 3, d: 1)
-- program: mixed: Mixed(flag: false, one: Kinds.One(a: 7), name: "changed", list: [1, 2], end: Optional(3))
-- program: wide: 15
-- program: huge: 24
-- program: fruit: plum
-- program: payload: number(12)
-- program: list: [4, 5]
-- program: table: ["a": 8]
-- program: item: made
-- program: named: another type
-- program: metatype: Item
