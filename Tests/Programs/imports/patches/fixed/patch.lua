-- Each call once, whichever way it goes.
patch { id = "fixed", version = "1.0.0", api = 1 }

method "C.counted(int32) -> int32":around(function(call, number)
  print("around " .. number)
  return call:original() * 10
end)
method "C.counted(int32) -> int32 in libother*":before(function(call, number) print("of other " .. number) end)
