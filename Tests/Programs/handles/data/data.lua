patch { id = "data", version = "1", api = 1 }
local checks = 0
local function is(name, got, want)
  checks = checks + 1
  if got ~= want then print("FAIL " .. name .. ": got " .. tostring(got) .. ", want " .. tostring(want)) end
end
local n = 0
method "Files.take(_:_:_:)":around(function(call, bytes, id, when)
  n = n + 1
  is("Data", swift.type(bytes), "FoundationEssentials.Data")
  is("count", #bytes, n == 1 and 3 or 100000)
  is("byte", bytes[2], n == 1 and 2 or 65)
  is("text", #tostring(bytes), #bytes)
  is("no more", bytes[#bytes + 1], nil)
  is("UUID", swift.type(id), "FoundationEssentials.UUID")
  local ok, why = pcall(function() call.args[1] = "text" end)
  is("a string is no Data", why:match("expected.*"), "expected FoundationEssentials.Data, got a string; write swift.data(s)")
  is("no made-up UUID", pcall(function() call.args[2] = { uuid = {} } end), false)
  call:original(n == 1 and swift.data("\0\xFFabc") or { 7, 8 }, id, when)
  return n == 1 and bytes or swift.data(("long"):rep(1000))
end)
method "Files.object(_:)":before(function(call, tree)
  is("NSNumber", swift.type(tree.a), "Foundation.NSNumber")
  is("NSNull", swift.is(tree.b, "Foundation.NSNull"), true)
  print("checks " .. checks)
end)
