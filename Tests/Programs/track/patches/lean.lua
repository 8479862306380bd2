-- Rules of all kinds that promise to fire without memory of their own and without a lock.
patch { id = "lean", api = 1 }
track "all" { on = "Shop.tap(_:at:)", fields = { name = "args.1", at = "args.at", kind = "'tap'" } }
track "some" { on = "Shop.tap(_:at:)", where = "args.at >= 1 and not (args.1 == \"button 2\")", fields = { at = "args.at" } }
track "sampled" { on = "Shop.tap(_:at:)", sample = "10%" }
track "rated" { on = "Shop.tap(_:at:)", rate = "50/h" }
track "each" { on = "Shop.tap(_:at:)", once_per = "args.1", fields = { name = "args.1" } }
track "touched" { on = "Shop.tap(_:at:)", dedupe = "10min", fields = { name = "args.1" } }
track "hashed" { on = "Shop.tap(_:at:)", fields = { name = "args.1" }, pii = { name = "hash" } }
metric "taps" { on = "Shop.tap(_:at:)", counter = true, by = { "args.1" } }
metric "places" { on = "Shop.tap(_:at:)", histogram = "args.at" }
