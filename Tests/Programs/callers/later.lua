patch { id = "later", version = "1.0.0", api = 1 }
local function replace(name, value) method(name):around(function(call) call:original() return value end) end
replace("Main.used(_:)", 900)
replace("Main.usedText(_:)", "a text of lua that is long enough for the heap")
replace("Main.usedPart(_:)", 1.5)
replace("Main.usedFlag(_:)", false)
replace("Main.dropped(_:)", 901)
