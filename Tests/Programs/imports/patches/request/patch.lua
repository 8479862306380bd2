-- How long a request looks its server's name up, and how connecting begins: in whatever image does it.
patch { id = "request", version = "1.0.0", api = 1 }

method "C.getaddrinfo":around(function(call, node)
  local answer = call:original()
  print("getaddrinfo", node, answer, call.duration_ns)
  return answer
end)
method "C.connect in libcurl.so.*":after(function(call, socket, address, length)
  print("connect", call.result, call.errno, call.duration_ns)
end)
track "lookup" { on = "C.getaddrinfo", fields = { host = "args.node", answer = "result", ns = "duration" } }
