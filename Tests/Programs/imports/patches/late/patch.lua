-- Rules for what a library brings that is not there yet.
patch { id = "late", version = "1.0.0", api = 1 }

local function log(name) return function(call, ...) print(name, ...) end end
local formal = class("Plugin.Formal", { wait = true })
formal:before("greet(_:)", log "formal")
method("Plugin.Settings.louder(by:)", { wait = true }):after(function(call, step) print("louder", step) end)
method("Plugin.decorate(_:)", { wait = true }):around(function(call, text) return call:original(text:upper()) end)
method "Base.Greeter.greet(_:)":before(log "greeter", { wait = true })
method("Base.pick(_:_:first:)", { wait = true }):before(function(call) print("pick") end)
method("Plugin.*.*", { wait = true }):before(function(call) print("glob", call.selector) end)
track "louder" { on = "Plugin.Settings.louder(by:)", wait = true, fields = { step = "args.by" } }
-- No word of waiting: C functions are hooked in every image, also those that appear.
method "C.getenv":after(function(call, name) if name == "SUBJECT_HOME" then call.result = "/elsewhere" end end)
method("C.close in libPlugin.so", { wait = true }):before(function(call) print("close") end)
local gone = method("Plugin.gone()", { wait = true }):before(log "never")
print(tostring(gone))
print("removed", gone:remove(), gone:remove())
for _, hook in ipairs(hooks()) do
  if hook.waiting then print("waits for", hook.selector, hook.landed) end
end
