-- Connections that the program, or a library of it, takes.
patch { id = "preset.c.accept", api = 1 }
local attributes = { listener = "args.1", descriptor = "result", errno = "errno" }
span { on = "C.accept", optional = true, name = "accept", kind = "server", attributes = attributes }
span { on = "C.accept4", optional = true, name = "accept", kind = "server", attributes = attributes }
