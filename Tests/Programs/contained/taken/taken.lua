patch { id = "taken" }
method "traps.Till.keep(_:)":contain(function(call)
  print("taken", tostring(call.args[1]))
  return -5
end)
