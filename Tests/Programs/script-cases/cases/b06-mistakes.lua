-- B6: what does not fit is an error that names the argument, what was expected and what was found; the program goes on.
local function told(name, body, ...)
  local ok, why = pcall(body, ...)
  print(name, ok, tostring(why):gsub("^[^:]*:%d+: ", ""), nil)
end
told("count", swift.call, "static Kinds.Echo.int(_:)")
told("type", swift.call, "static Kinds.Echo.int(_:)", "text")
told("range", swift.call, "static Kinds.Echo.int8(_:)", 300)
told("fraction", swift.call, "static Kinds.Echo.int(_:)", 1.5)
told("nil", swift.call, "static Kinds.Echo.string(_:)", nil)
told("shape", swift.call, "static Kinds.Echo.two(_:)", { a = 1, c = 2 })
told("element", swift.call, "static Kinds.Echo.list(_:)", { 1, "x" })
told("case", swift.call, "static Kinds.Echo.fruit(_:)", swift.case "cherry")
method "Kinds.apply(_:_:)":around(function(call, n)
  told("argument", function() call.args.nothing = 1 end)
  told("label", function() call.args[1] = "x" end)
  told("all", function() call:original(1) end)
  return call:original()
end)
-- prints: count	false	'static Kinds.Echo.int(_:)' takes 1 argument, got 0	nil
-- prints: type	false	argument 1 of 'static Kinds.Echo.int(_:)': expected Int, got a string	nil
-- prints: range	false	argument 1 of 'static Kinds.Echo.int8(_:)': 300 does not fit in Int8	nil
-- prints: fraction	false	argument 1 of 'static Kinds.Echo.int(_:)': 1.5 does not fit in Int	nil
-- prints: nil	false	argument 1 of 'static Kinds.Echo.string(_:)': expected String, got nil	nil
-- prints: shape	false	argument 1 of 'static Kinds.Echo.two(_:)': Kinds.Two has no stored field 'c'; it has a, b	nil
-- prints: element	false	argument 1 of 'static Kinds.Echo.list(_:)': [2]: expected Int, got a string	nil
-- prints: case	false	argument 1 of 'static Kinds.Echo.fruit(_:)': Kinds.Fruit has no case 'cherry'; it has apple, pear, plum	nil
-- prints: argument	false	'Kinds.apply(_:_:)' has no argument 'nothing'; it has 1, 2	nil
-- prints: label	false	argument '1' of 'Kinds.apply(_:_:)': expected Int, got a string	nil
-- prints: all	false	'Kinds.apply(_:_:)' takes 2 arguments, call:original got 1; pass all or none	nil
-- program: apply: 6
