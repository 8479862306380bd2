patch { id = "wrong", version = "1.0.0", api = 1 }
local function try(rule) print(select(2, pcall(span, rule))) end
try { on = "Bus.Line.take(_:)", key = "self" , cancels = { on = "Bus.Line.close()" } }
try { on = "Bus.Line.take(_:)", ends = { on = "Bus.Line.giv(_:)" } }
try { on = "Bus.Line.take(_:)", ends = { on = "Bus.Line.give(_:)", error = "duration > 1" } }
try { on = "Bus.Line.take(_:)", ends = { on = "Bus.Line.give(_:)", name = "x" } }
try { on = "Bus.Line.take(_:)", parent = "args.2", ends = { on = "Bus.Line.give(_:)" } }
