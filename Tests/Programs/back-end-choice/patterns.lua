patch { id = "patterns", version = "1.0.0", api = 1 }
local function tell(call) print("call of " .. call.selector) end

print(method("Kit.Plain.*()"):before(tell):describe())
-- Two selectors of one function: the second one is told by what leads to it.
print(method("Twins.**.turn(_:)"):before(tell):describe())
track "quiet" { on = "Kit.**.quiet()" }
track "turned" { on = "Twins.Left.turn(_:)" }
