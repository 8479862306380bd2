-- Connections that the program, or a library of it, makes.
patch { id = "preset.c.connect", api = 1 }
span { on = "C.connect", optional = true, name = "connect", kind = "client", attributes = { descriptor = "args.1", result = "result", errno = "errno" } }
