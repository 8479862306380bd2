patch { id = "generic", version = "1.0.0", api = 1 }
-- Closures whose types spell generic parameters: called by scripts, and made of Lua functions.
local function passing(name, position, default)
  method("Generics." .. name):around(function(call, ...)
    local list = { ... }
    local f = list[position]
    list[position] = swift.closure(function(...)
      print(name, ...)
      return f(...)
    end, { original = f })
    return call:original(table.unpack(list, 1, select("#", ...)))
  end)
end
passing("test(_:_:)", 2)
passing("both(_:_:)", 2)
passing("mixed(_:_:)", 2)
passing("bound(_:_:)", 2)
passing("throwing(_:_:)", 2)
method "Generics.kinds(_:_:_:)":around(function(call, x, c, f)
  print("kinds", #f({ x }, c, x))
  return call:original(x, c, swift.closure(function(list, c, y)
    local made = list:table()
    made[#made + 1] = y
    return made
  end, { original = f }))
end)
local whole = method "Generics.whole(_:)"
whole:before(function(call, f) print("whole before", f(2, "b")) end)
whole:after(function(call) print("whole after", call.result(3, "c")) end)
for _, name in ipairs { "steps(_:)", "known(_:)" } do
  method("Generics." .. name):before(function(call, s) print(name, s.map(9), s.test(3, 3), s.test(4, 3), s.plain(4), s.value, s["end"]("q")) end)
end
method "Generics.metas(_:_:)":before(function(call, x, f) print("metas", pcall(f, x)) end)
method "Generics.nested(_:_:)":before(function(call, x, f) print("nested", pcall(f, x)) end)
