patch { id = "notes", version = "1.0.0", api = 1 }
local function replaced(n) return { a = n, b = 1, c = 2, d = 3, e = 4, f = 5 } end
method "Main.near(_:)":around(function(call) call:original() return replaced(901) end)
method "Main.nearLater(_:)":around(function(call) call:original() return replaced(902) end)
method "Far.far(_:)":around(function(call) call:original() return replaced(903) end)
method "Far.farLater(_:)":around(function(call) call:original() return replaced(904) end)
method "C.deep(n: int64) -> int64":around(function(call) call:original() return 905 end)
method "Main.take(_:_:)":before(function(call, s, n) call.args[2] = n + 800 end)
method "Main.bump(_:)":before(function(call, n) call.args[1] = n + 800 end)
