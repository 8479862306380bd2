-- B10: numbers at their ends are exact, or an error: UInt64 above Int64's, NaN, infinities, integers too large for their type.
method "static Kinds.Echo.uint64(_:)":around(function(call, value)
  print("uint64", tostring(value), value > swift.u64(1), value == swift.u64 "18446744073709551615")
  return call:original()
end)
method "static Kinds.Echo.double(_:)":around(function(call, value)
  if value ~= value then
    print("nan", value)
    return math.huge
  end
  print("double", value)
  if value == -math.huge then return 0 / 0 end
  return call:original()
end)
for _, case in ipairs { { "int8", 128 }, { "int8", -129 }, { "uint8", -1 }, { "uint16", 65536 }, { "int32", 2 ^ 31 }, { "uint64", -1 }, { "float", 1e300 } } do
  local ok, why = pcall(swift.call, "static Kinds.Echo." .. case[1] .. "(_:)", case[2])
  print(case[1], case[2], ok)
end
print("exact", swift.call("static Kinds.Echo.int64(_:)", math.mininteger) == math.mininteger, swift.call("static Kinds.Echo.int8(_:)", 127.0))
-- prints: uint64	18446744073709551615	true	true
-- prints: double	-0.1
-- prints: double	-inf
-- prints: int8	128	false
-- prints: int8	-129	false
-- prints: uint8	-1	false
-- prints: uint16	65536	false
-- prints: int32	2147483648.0	false
-- prints: uint64	-1	false
-- prints: float	1e+300	false
-- prints: exact	true	127
-- program: uint64: 18446744073709551615
-- program: double: -0.1
-- program: nan: inf
