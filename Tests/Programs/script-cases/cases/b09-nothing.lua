-- B9: 0, 1, false, true, nil, a none inside a some, and null stay apart in both directions, also inside Any, lists and tables.
local function kind(value)
  if value == swift.null then return "null" end
  return math.type(value) or type(value)
end
method "static Kinds.Echo.any(_:)":around(function(call, value)
  print("any", kind(value), tostring(value))
  if value == 5 then return 0 end
  if value == true then return false end
  return call:original()
end)
method "static Kinds.Echo.nested(_:)":around(function(call, value)
  print("nested", kind(value))
  if value == nil then return swift.null end
  return nil
end)
method "static Kinds.Echo.maybes(_:)":around(function(call, list)
  print("maybes", #list, list[1], list[2] == swift.null, list[3])
  return { swift.null, 1, swift.null, 0 }
end)
method "static Kinds.Echo.maybeBool(_:)":around(function(call, value)
  print("maybeBool", value == false)
  return nil
end)
method "static Kinds.Echo.maybeDouble(_:)":around(function(call, value)
  print("maybeDouble", value)
  return call:original()
end)
method "static Kinds.Echo.maybeString(_:)":around(function(call, value)
  print("maybeString", value == "")
  return call:original()
end)
-- prints: any	integer	5
-- prints: any	boolean	true
-- prints: any	null	swift.null
-- prints: nested	null
-- prints: nested	nil
-- prints: maybes	3	1	true	0
-- prints: maybeBool	true
-- prints: maybeDouble	0.0
-- prints: maybeString	true
-- program: any: 0
-- program: any bool: false
-- program: any none: nil
-- program: nested none: nil
-- program: nested nil: Optional(nil)
-- program: maybes: [nil, Optional(1), nil, Optional(0)]
-- program: maybeBool: nil
-- program: maybeDouble: Optional(0.0)
-- program: maybeString: Optional("")
