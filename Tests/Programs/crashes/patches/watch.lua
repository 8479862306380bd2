patch { id = "shop.watch" }
log.info("watching")
method "planted.Shop.work(_:)":before(function(call) end)
method "planted.Shop.end(_:)":around(function(call, how)
  log.info("ends: " .. how)
  return call:original()
end)
