-- What handlers give C functions, and give for them.
patch { id = "change", version = "1.0.0", api = 1 }

method "C.subject_many(a: int32, b: double, c: cstring, d: float, e: int64, f: uint8, g: pointer, h: int16, i: int64, j: double, k: double, l: double, m: double, n: double, o: double, p: double, q: double, r: bool) -> double":before(function(call)
  call.args.a = 101            -- 100 more
  call.args.b = 3.5            -- 2
  call.args.c = "sixteen letters!"  -- 36
  call.args.d = 2.5            -- 4
  call.args.g = nil            -- 7 less
  call.args.h = -9             -- 8 less
  call.args.i = 10             -- 9, on the stack
  call.args.q = 18.25          -- 17, on the stack
  call.args.r = false          -- 18 less, on the stack
end)
method "C.subject_sum(count: int32, ...) -> double":around(function(call, count) return call:original(count - 1) + 0.25 end)
method "C.subject_narrow(int8, int16, uint8, uint16) -> int8":before(function(call) call.args[1] = -6 end)
method "C.subject_greeting(name: cstring) -> cstring":around(function(call, name)
  if name == "nobody" then return "a text of the script" end
  return call:original(name .. " and a name that is too long to be kept in registers")
end)
method "C.subject_fails() -> int32":around(function(call)
  call.errno = 11
  return -7
end)
method "C.subject_apply(function: pointer, value: int32) -> int32":around(function(call) return call:original(nil ~= call.args["function"] and call.args[1], 20) + 1 end)
method "C.open":around(function(call, path, flags)
  if path == "/no/such/file" then
    call.errno = 13
    return -1
  end
  return call:original()
end)
method "C.getenv":after(function(call, name) if name == "SUBJECT_HOME" then call.result = "/from/the/script" end end)
