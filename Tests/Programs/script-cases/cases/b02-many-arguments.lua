-- B2: sixteen arguments of mixed types, and eleven integers with eleven doubles, in registers and on the stack.
method "Kinds.sixteen(**)":around(function(call, ...)
  local given = table.pack(...)
  local shown = {}
  for i = 1, given.n do shown[i] = tostring(given[i]) end
  print("sixteen", given.n, table.concat(shown, " "))
  call.args[1], call.args[8], call.args[16], call.args[10] = 101, 108, 116, "J"
  return call:original()
end)
method "Kinds.many(**)":around(function(call, ...)
  local given = table.pack(...)
  print("many", given.n, table.unpack(given, 1, given.n))
  local other = {}
  for i = 1, 11 do other[i], other[11 + i] = 12 - i, 12.0 - i end
  return call:original(table.unpack(other))
end)
-- prints: sixteen	16	1 2.0 true d 5 6.0 7 8 9.0 j 11 12.0 false 14 15.0 16
-- prints: many	22	1	2	3	4	5	6	7	8	9	10	11	1.0	2.0	3.0	4.0	5.0	6.0	7.0	8.0	9.0	10.0	11.0
-- program: sixteen: 101 2.0 true d 5 6.0 7 108 9.0 J 11 12.0 false 14 15.0 116
-- program: many: 288.86
