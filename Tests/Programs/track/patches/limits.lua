patch { id = "limits", api = 1 }

track "all" { on = "Shop.tap(_:at:)", fields = { name = "args.1", at = "args.at" } }
track "some" { on = "Shop.tap(_:at:)", where = "args.at >= 1 and not (args.1 == \"button 2\")", fields = { at = "args.at" } }
track "among" { on = "Shop.tap(_:at:)", where = "args.1 == 'button 0' or args.1 == 'button 2' or args.1 == 'none'" }
track "apart" { on = "Shop.tap(_:at:)", where = "args.1 == 'button 0' or args.at == 1 or args.1 == 'none'" }
track "words" { on = "Shop.tap(_:at:)", where = "ends_with(args.1, '2') or contains(args.1, 'on 7')", fields = { name = "args.1" } }
track "sampled" { on = "Shop.tap(_:at:)", sample = "10%" }
track "never" { on = "Shop.tap(_:at:)", sample = 0 }
track "rated" { on = "Shop.tap(_:at:)", rate = "50/h" }
track "once" { on = "Shop.tap(_:at:)", once_per = "process" }
track "each" { on = "Shop.tap(_:at:)", once_per = "args.1", fields = { name = "args.1" } }
-- Two functions tell of one action: one event.
track "touched" { on = "Shop.tap(_:at:)", dedupe = "10min", fields = { name = "args.1" } }
track "touched" { on = "Shop.press(_:)", dedupe = "10min", fields = { name = "args.1" } }
