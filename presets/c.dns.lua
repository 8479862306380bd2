-- Names that the program, or a library of it, looks up.
patch { id = "preset.c.dns", api = 1 }
span { on = "C.getaddrinfo", optional = true, name = "dns {args.1}", kind = "client",
  attributes = { ["dns.question.name"] = "args.1", service = "args.2", result = "result" } }
