patch { id = "observe", api = 1 }

local function said(change)
  log.info(string.format("TOLD %s %s>%s%s", change.path, tostring(change.old), tostring(change.new), change.in_place and "*" or ""))
end

method "Shop.Cart.init(title:)":after(function(call)
  local cart = call.result
  if cart.title ~= "first" then return end
  cart = swift.keep(cart)
  for _, path in ipairs { "title", "total", "customer.name", "address.city" } do observe(cart, path, said) end
  observe(cart, "lines", function(change)
    log.info("TOLD lines " .. (change.old and #change.old or "?") .. ">" .. #change.new .. (change.in_place and "*" or ""))
    assert(change.object == cart)
  end)
  local seen = observe(cart, "title", function() error("oops") end)
  log.info("EXPLAIN " .. seen:explain():gsub("\n", " | "))
  log.info("SHOWN " .. tostring(seen))
  for what, try in pairs {
    unknown = function() observe(cart, "titel", said) end,
    type = function() observe(7, "title", said) end,
    none = function() observe(cart, "title") end,
    static = function() observe(cart, "static limit", said) end,
  } do
    local ok, why = pcall(try)
    log.info("REFUSED " .. what .. ": " .. tostring(why))
  end
end)

observe(class "Shop.Cart", "static limit", said)
observe(class "Foundation.Progress", "completedUnitCount", said)
