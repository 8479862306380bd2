patch { id = "join", version = "1", api = 1 }
-- What the program itself never does with an object of its frame: nothing can undo it, so it is said.
local done = false
method "Frames.one(_:_:)":before(function(call, n)
  if done then return end
  done = true
  n:shout()
  n:join()
  swift.call("Frames.length(_:)", swift.lend(n))
  swift.call("Frames.store(_:)", swift.lend(n))
end)
