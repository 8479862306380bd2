patch { id = "callers", version = "1.0.0", api = 1 }

local function node(v) return swift.new("Main.Node", "init(_:)", v) end

method "Main.ignored(_:)":around(function(call) call:original() call.result = 9 end)
method "Main.number(_:)":around(function(call) call:original() call.result = nil end)
method "Main.shape(_:)":around(function(call) call:original() call.result = { number = 3 } end)
method "Main.always(_:)":around(function(call) call:try() call.result = node(900) end)
method "Main.never(_:)":around(function(call) call:original() call:throw({ bad = 900 }) end)
method "Main.make(_:)":around(function(call) call:original() return swift.closure(function() return "lua" end, { default = "d" }) end)
method "Main.look(_:)":before(function(call) call.args[1] = node(900) end)
method "Main.lookPair(_:)":before(function(call) call.args[1] = { a = node(900), b = "of lua, long enough for the heap", n = 77 } end)
method "Main.change(_:)":after(function(call) call.args[1] = node(900) end)
method "Main.Bag.poke()":before(function(call) call.self.o = node(900) call.self.a = { 1, 2 } end)
method "Main.Holder.init(_:_:)":before(function(call) call.args[1] = node(900) end)
method "Main.maybe(_:)":around(function(call) call:original() call.result = nil end)
method "Main.either(_:)":around(function(call) call:original() call.result = { number = 900 } end)
method "Main.sometimes(_:)":around(function(call) call:original() call:throw("refused by lua") end)
method "Main.text(_:)":around(function(call) call:original() return "a text of lua that is long enough for the heap" end)
method "Main.entry(_:)":around(function(call)
  return swift.with(call:original(), { n = 900, text = "a longer text of lua that is long enough for the heap" })
end)
