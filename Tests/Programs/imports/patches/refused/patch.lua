-- What is refused, and in which words.
patch { id = "refused", version = "1.0.0", api = 1 }

local function refused(what, f) print(what .. ": " .. tostring(select(2, pcall(f)))) end
local function nothing() end
refused("malloc", function() method "C.malloc":before(nothing) end)
refused("free", function() method "C.free":around(nothing) end)
refused("dlopen around", function() method "C.dlopen":around(nothing) end)
refused("exit after", function() method "C.exit":after(nothing) end)
refused("retain", function() method "C.swift_retain":before(nothing) end)
refused("a typing error", function() method "C.subject_greetings":before(nothing) end)
refused("an unknown function", function() method "C.nothing_like_it":before(nothing) end)
refused("an unknown image", function() method "C.open in libnowhere*":before(nothing) end)
refused("a bad prototype", function() method "C.subject_fails(Strin) -> int32":before(nothing) end)
refused("a struct", function() method "C.subject_fails(struct stat) -> int32":before(nothing) end)
method "C.subject_fails() -> int32":before(nothing)
refused("another prototype", function() method "C.subject_fails(int32) -> int32":before(nothing) end)
refused("track malloc", function() track "memory" { on = "C.malloc", fields = { size = "args.size" } } end)
method "C.close":before(nothing)
print((explain "C.subject_greeting":gsub("\n", " | ")))
method "C.subject_greeting(name: cstring) -> cstring":before(function(call, name)
  if name == "Ada" then refused("a text with a NUL", function() call.args.name = "a\0b" end) end
end)
refused("a call", function() swift.call("C.getpid") end)
