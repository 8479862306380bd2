-- A class whose handlers fail in every way: what the superclass does runs instead, and the program goes on.
patch { id = "errors", api = 1 }

local Bad = class.define("Shop.BadCart", {
  super = "Shop.Cart",
  methods = {
    ["opened()"] = function(call) call:super(1) end,
    ["total(tax:)"] = function(call, tax) error("no total today") end,
    ["add(_:times:)"] = function(call, item, times)
      call:super()
      error("after the original")
    end,
    ["title.get"] = function(call) return 7 end,
    ["large(_:_:_:_:)"] = function(call) while true do end end,
    ["static kind()"] = function(call) end,
    ["subscript(_:).get"] = function(call, index) return call:super(index + 100, 2) end,
  },
  deinit = function(call) error("not now") end,
})

method "static Main.Factory.make(_:)":around(function(call, title)
  if title ~= "bad" then return call:original() end
  return swift.new(Bad, "init(title:)", title)
end, { priority = 10 })
