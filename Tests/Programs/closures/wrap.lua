-- Every closure goes through a Lua function, which passes on what it is given: the program prints the same.
local function wrap(selector, position)
  method(selector):before(function(call, ...)
    local f = select(position or 1, ...)
    if f == nil then return end
    call.args[position or 1] = function(...)
      print(selector, ...)
      return f(...)
    end
  end)
end
for _, name in ipairs {
  "none", "one", "text", "mixed", "many", "pairs", "wide", "optional", "optionalResult", "maker", "taker", "throwing", "tupled",
  "changing", "consuming", "keep", "Button.setHandler", "twice",
} do wrap("Subject." .. name .. "(_:)") end
wrap("Subject.compose(_:_:)", 1)
wrap("Subject.compose(_:_:)", 2)

-- In generic places closures have another form: they are called and made there as well.
method "Subject.array(_:)":before(function(call, fs)
  local f, g = fs[1], fs[2]
  call.args[1] = {
    swift.closure(function(n, s) print("array 1", n, s) return f(n, s) end, { original = f }),
    g,
  }
end)
method "Subject.dictionary(_:)":before(function(call, fs)
  local a = fs.a
  call.args[1] = { a = swift.closure(function(n) print("dictionary", n) return a(n) end, { default = 0 }), b = fs.b }
end)
method "Subject.handled(_:)":before(function(call, h) print("handled", tostring(h)) end)
method "Subject.acted(_:)":before(function(call, a)
  local run = a.run
  call.args[1] = swift.with(a, { run = swift.closure(function(n) print("acted", n) return run(n) end, { original = run }) })
end)
