patch { id = "messages", version = "1.0.0", api = 1 }

-- checks

method "Shop.check(_:_:_:)":before(function(call, cart, special, warehouse)
  fails("unknown", function() swift.send(cart, "stock(of:)", "x") end, "no selector 'stock(of:)' in Shop.Cart")
  fails("unknown, caught", function() swift.try(cart, "stock(of:)", "x") end, "no selector 'stock(of:)' in Shop.Cart")
  -- To another object.
  swift.forward(cart, warehouse)
  same("a target answers", swift.send(cart, "stock(of:)", "pear"), 4)
  same("what the target throws", select("#", swift.try(cart, "ship(_:)", 10)), 2)
  same("what the target answers, caught", select(2, swift.try(cart, "ship(_:)", 3)), "shipped 3")
  fails("its arguments are checked", function() swift.send(cart, "stock(of:)", 3) end, "argument 1 'of' of 'Shop.Warehouse.stock(of:)': expected Swift.String, got Swift.Int")
  fails("unknown to both", function() swift.send(cart, "fly()") end, "no selector 'fly()' in Shop.Warehouse")
  fails("another object has none", function() swift.send(special, "stock(of:)", "x") end, "no selector 'stock(of:)' in Shop.Special")
  same("members come first", swift.send(cart, "total()"), 2.0)
  swift.forward(cart, nil)
  fails("taken back", function() swift.send(cart, "stock(of:)", "x") end, "no selector 'stock(of:)' in Shop.Cart")
  -- To a function, for a class and its subclasses.
  swift.forward(class "Shop.Cart", function(self, selector, args)
    if selector == "discount(for:by:)" then return self.title .. " " .. args[1] .. " " .. tostring(args[2] == swift.null and "none" or args[2]) end
    if selector == "first()" then return self.lines[1] end
    if selector == "nothing()" then return swift.null end
    if selector == "fail()" then error("the script's own") end
  end)
  same("a function answers", swift.send(cart, "discount(for:by:)", 3, "me"), "box 3 me")
  same("for a subclass", swift.send(special, "discount(for:by:)", 2.5, nil), "gem 2.5 none")
  same("with a value", swift.send(cart, "first()").name, "apple")
  fails("with an error", function() swift.send(cart, "fail()") end, "the script's own")
  fails("what it passes on", function() swift.send(cart, "fly()") end, "no selector 'fly()' in Shop.Cart")
  fails("the class side is another", function() swift.send(class "Shop.Cart", "discount(for:by:)", 1, 2) end, "no selector 'discount(for:by:)'")
  fails("what it takes", function() swift.forward(1, cart) end, "'swift.forward' takes an object or class")
  fails("to what", function() swift.forward(cart, 1) end, "'swift.forward' takes an object or class")
end)

method "Shop.after(_:_:)":before(function(call, cart, warehouse)
  same("later, too", swift.send(cart, "discount(for:by:)", 1, 2), "box 1 2")
end)
