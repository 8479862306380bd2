-- V2: call:stack(): the called function, then who called it; of async functions who waits for it.
method "Kinds.typed(_:)":before(function(call) print("typed", call:stack(1)[1], #call:stack() > 1) end)
method "Kinds.later(_:)":before(function(call) print("later", call:stack()[1], #call:stack() > 1) end)
print(type(timer.after(3600, print)), tostring(timer.after(3600, print)):match "^timer of")
-- prints: typed	Kinds.typed(_:)	true
-- prints: typed	Kinds.typed(_:)	true
-- prints: later	Kinds.later(_:)	true
-- prints: userdata	timer of
-- program: later: 2
