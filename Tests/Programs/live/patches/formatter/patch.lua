-- Hooks on swift-format's own objects and subclasses, counted by themselves and by hooks on the types.
patch { id = "formatter", api = 1 }

local counts = {}
local function count(...)
  local key = table.concat({ ... }, "\t")
  counts[key] = (counts[key] or 0) + 1
end

local function class_of(object) return tostring(object):match("([%w_]+)>$") end

-- Each file has a printer of its own, which lies in the frame of its maker, and rules of its own, which lie on the heap.
local file = 1
local printer = method "SwiftFormat.PrettyPrinter.printToken(idx:)"
method "SwiftFormat.PrettyPrinter.prettyPrint()":around(function(call)
  if file == 2 then
    printer:before(function() count("object", "printToken", file, "PrettyPrinter") end, { object = call.self })
    for _, path in ipairs { "outputBuffer", "context", "outputBufer" } do
      local ok, why = pcall(observe, call.self, path, print)
      print("REFUSED " .. (ok and path or why))
    end
  end
  local text = call:original()
  file = file + 1
  return text
end)
printer:before(function() count("type", "printToken", file, "PrettyPrinter") end)

-- An object hook on each rule of the second file. Half of them are kept, and compared; the others end with their file, and
-- the third file's rules may lie where they lay.
local kept, rules = {}, 0
local visited = method "SwiftFormat.SyntaxFormatRule.visitAny(_:)"
visited:before(function(call)
  local class = class_of(call.self)
  count("type", "visitAny", file, class)
  if kept[class] and call.self == kept[class] then count("same", class) end
  if file ~= 2 or kept[class] ~= nil then return end
  rules = rules + 1
  kept[class] = rules % 2 == 0 and swift.keep(call.self)
  visited:before(function(call)
    assert(not kept[class] or call.self == kept[class])
    count("object", "visitAny", file, class)
  end, { object = call.self })
end)

-- Subclasses that inherit the method, a subclass with subclasses, and one that overrides it.
for _, subclass in ipairs { "OrderedImports", "DoNotUseSemicolons", "NoAssignmentInExpressions", "UseEarlyExits" } do
  class("SwiftFormat." .. subclass):before("visitAny(_:)", function(call) count("subclass", "visitAny", file, subclass) end)
end
class "SwiftFormat.SyntaxFormatRule":before("visitPre(_:)", function(call) count("subclass", "visitPre", file, class_of(call.self)) end)
method "SwiftSyntax.SyntaxRewriter.visitPre(_:)":before(function(call) count("type", "visitPre", file, class_of(call.self)) end)

-- A property of an object of Foundation's that swift-format sets.
method "FoundationEssentials.JSONEncoder.init()":after(function(call)
  observe(call.result, "outputFormatting", function(change) print("TOLD " .. change.path) end)
end)

method "SwiftFormat.Context.deinit":before(function()
  if file ~= 4 then return end
  for key, number in pairs(counts) do print("COUNT " .. key .. "\t" .. number) end
end)
