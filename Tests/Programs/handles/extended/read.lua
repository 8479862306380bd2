patch { id = "extended", version = "1.0.0", api = 1 }
local count = 0
local function is(name, found, expected)
  count = count + 1
  if found ~= expected then print(("FAIL %s: %s, expected %s"):format(name, tostring(found), tostring(expected))) end
end
local seen = {}
local function after(name, check) method("Extended." .. name):after(function(call) if not seen[name] then seen[name] = true check(call.result, call) end end) end
after("one(_:)", function(r)
  is("a Float80 that Double lacks", tostring(r), "0.33333333333333333334")
  is("it equals itself", r == r, true)
  is("it is less than a number", r < 0.5, true)
  is("it is more than a number", 0.25 < r, true)
  is("it is not less than itself", r < r, false)
  is("it goes back whole", tostring(swift.call("Extended.takes(_:_:)", r, 1)), "0.33333333333333333334")
end)
after("exact(_:)", function(r) is("one that Double has", r, 0.25) end)
after("pair(_:)", function(r) is("two on the stack", r[1] * 10 + r[2], 30.5) end)
after("mixed(_:)", function(r) is("beside registers", ("%d %s %s"):format(r[1], r[2], r[3]), "4 2.5 1.5") end)
after("two(_:)", function(r) is("in a struct", tostring(r), "Two(x: 5.0, n: 4)") end)
method "Extended.fails(_:)":after(function(call) if call.error then is("thrown", call.error.case, "a") else is("not thrown", call.result, 1.0) end end)
method "Extended.typed(_:)":after(function(call) if call.error then is("thrown", call.error.case, "a") else is("not thrown", call.result, 1.0) end end)
method "Extended.united(_:_:)":before(function(call, s, n)
  is("a union is not decoded", tostring(s), "<not decoded>")
  local why = tostring(method("Extended.united(_:_:)"):explain())
  is("and explain says why", why:find("parts that Swift has no names for, such as a union or bit-fields", 1, true) ~= nil, true)
  local ok, err = pcall(swift.call, "Extended.united(_:_:)", s, n)
  is("it cannot be called", tostring(err):find("parts that Swift has no names for", 1, true) ~= nil, true)
  print(": checks " .. count)
end)
