-- B8: texts keep their bytes and their length, NUL among them; what is no UTF-8 is refused, never repaired.
method "static Kinds.Echo.string(_:)":around(function(call, text)
  if text == "text" then
    local ok, why = pcall(function() return call:original("bad \xff") end)
    print("invalid", ok, tostring(why):find("UTF-8", 1, true) ~= nil)
    return call:original()
  end
  print("bytes", #text, text:byte(1, -1))
  return text .. "\0é"
end)
-- prints: bytes	6	97	0	98	127	195	164
-- prints: invalid	false	true
-- program: bytes: [97, 0, 98, 127, 195, 164, 0, 195, 169]
-- program: string: text
