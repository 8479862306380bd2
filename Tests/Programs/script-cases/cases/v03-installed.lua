-- V3: what a hook says of itself, and what is counted when a patch is loaded.
local echo = class "Kinds.Echo"
local one = method "static Kinds.Echo.int8(_:)":before(function() end)
local two = echo:before("static int16(_:)", function() end)
local three = extend "Kinds.Echo" { ["static int32(_:)"] = function(call, n) return call:original(n) end }
print(table.concat(one.installed, ","), table.concat(two.installed, ","), table.concat(three.installed, ","))
two:remove()
print(#one.installed, #two.installed)
method "static Kinds.Echo.int64(_:)":before(function(call) print("task", call.task < 100000) end)
-- prints: static Kinds.Echo.int8(_:)	static Kinds.Echo.int16(_:)	static Kinds.Echo.int32(_:)
-- prints: 1	0
-- prints: task	true
