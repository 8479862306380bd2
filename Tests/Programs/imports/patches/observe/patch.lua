-- What handlers see of C functions: arguments, results, errno, texts.
patch { id = "observe", version = "1.0.0", api = 1 }

method "C.subject_many(a: int32, b: double, c: cstring, d: float, e: int64, f: uint8, g: pointer, h: int16, i: int64, j: double, k: double, l: double, m: double, n: double, o: double, p: double, q: double, r: bool) -> double":after(function(call, ...)
  local values = {}
  for index = 1, select("#", ...) do
    local value = select(index, ...)
    values[index] = type(value) == "userdata" and "pointer" or tostring(value)
  end
  print(table.concat(values, " "), "->", call.result)
end)
method "C.subject_sum(count: int32, ...) -> double":around(function(call, count)
  local sum = call:original()
  print("sum of", count, sum)
  return sum
end)
method "C.subject_narrow(int8, int16, uint8, uint16) -> int8":after(function(call, a, b, c, d) print("narrow", a, b, c, d, call.result) end)
method "C.subject_greeting(name: cstring) -> cstring":after(function(call, name) print("greeting", name, call.args.name, call.result) end)
method "C.subject_fails() -> int32":around(function(call)
  print("before", call.errno)
  local answer = call:original()
  print("after", answer, call.errno)
  -- Whatever the handler does to errno on its way is not the program's.
  tostring(method "C.open":explain())
  return answer
end)
local open = method "C.open"
open:after(function(call, path, flags) print("open", path, flags, call.result, call.errno) end)
method "C.close":before(function(call, descriptor) print("close", descriptor > 2) end)
method "C.getenv in calls":after(function(call, name) if name == "SUBJECT_HOME" then print("getenv", call.result) end end)
track "file" { on = "C.open", at = "exit", fields = { path = "args.path", answer = "result", code = "errno", ns = "duration" } }
