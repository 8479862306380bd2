-- Hooks on Foundation's objects and subclasses, and observers, in a program that uses them.
patch { id = "client", api = 1 }

local counts = {}
local function count(key) counts[key] = (counts[key] or 0) + 1 end

--- Hooks the second object that a function of the program is given, by itself, and by a hook on the type that compares.
local function second(what, giver, selector)
  local given, kept = 0, nil
  method(giver):before(function(call, object)
    given = given + 1
    if given ~= 2 then return end
    kept = swift.keep(object)
    method(selector):before(function(call)
      assert(call.self == kept)
      count(what .. ": object")
    end, { object = kept })
  end)
  method(selector):before(function(call) count(what .. (kept and call.self == kept and ": same" or ": others")) end)
end
second("steps", "Client.steps(_:_:)", "Foundation.Progress.completedUnitCount.set")
second("fills", "Client.fill(_:_:)", "Foundation.NSMutableDictionary.setObject(_:forKey:)")
second("locks", "Client.guarded(_:_:)", "Foundation.NSLock.lock()")

-- Inherited members: of one subclass of several.
for subclass, selector in pairs { ["FoundationXML.XMLElement"] = "name.set", ["Foundation.NumberFormatter"] = "editingString(for:)", ["Foundation.DateFormatter"] = "editingString(for:)" } do
  class(subclass):before(selector, function(call) count(selector .. " of " .. subclass) end)
end
method "FoundationXML.XMLNode.name.set":before(function() count("name.set of all nodes") end)
method "Foundation.Formatter.editingString(for:)":before(function() count("editingString(for:) of all formatters") end)

local function told(change) print(string.format("TOLD %s %s>%s", change.path, tostring(change.old), tostring(change.new))) end
local progresses = 0
method "Client.steps(_:_:)":before(function(call, progress)
  progresses = progresses + 1
  if progresses == 3 then observe(progress, "completedUnitCount", told) end
end)
method "Client.name(_:_:)":before(function(call, node) observe(node, "name", told) end)
method "Foundation.DateFormatter.init()":after(function(call)
  local dates = call.result or call.self
  observe(dates, "dateFormat", told)
end)
observe(class "Foundation.OperationQueue", "maxConcurrentOperationCount", told)
observe(class "Foundation.OperationQueue", "name", told)

-- The program's last word. Foundation has locks of its own.
method "Client.finish()":before(function()
  counts["locks: others"] = nil
  for key, number in pairs(counts) do print(key .. " " .. number) end
end)
