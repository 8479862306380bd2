patch { id = "fields", api = 1 }

track "checkout" { on = "Shop.Cart.checkout(_:)", at = "exit",
  fields = { title = "self.title", items = "self.lines.count", first = "self.lines.1.name", buyer = "self.buyer.email", age = "self.buyer.age",
    gift = "self.present.label", tags = "self.tags.count", none = "self.prices.isEmpty", note = "args.1", result = "result", total = "self.total()",
    text = "self.describe()", letters = "self.title.count" } }
track "pay" { on = "Shop.Cart.pay(_:)", at = "exit",
  fields = { how = "args.1", number = "args.1.card.number", months = "args.1.card.months", error = "error", spent = "error.voucher.number", why = "error.voucher.why", result = "result" } }
track "weigh" { on = "Shop.weigh(_:)", fields = { spent = "error.voucher.number", type = "error.@type" } }
track "heavy" { on = "Shop.weigh(_:)", where = "error.voucher.number > 2", fields = { why = "error.voucher.why" } }
track "read" { on = "Shop.Meter.read(_:)", fields = { count = "self.count", name = "self.name", factor = "args.1" } }
track "step" { on = "Shop.Meter.step(by:)", at = "exit", fields = { count = "self.count", by = "args.by" } }
track "show" { on = "Shop.Signal.show()", fields = { signal = "self", after = "self.stop.after", stop = "self.stop" } }
track "stops" { on = "Shop.Signal.show()", where = "self.stop > 8", fields = { stop = "self.stop" } }
track "cut" { on = "Shop.cut(_:at:)", at = "exit", where = "args.at == 'é'",
  fields = { at = "args.at", head = "result.head", tail = "result.1", length = "result.1.count", held = "result.2" } }
