patch { id = "edges", api = 1 }
track "edge" { on = "Shop.tap(_:at:)", same = "args.1" }
track "edge" { on = "Shop.press(_:)", same = "args.1" }
track "slowly" { on = "Shop.tap(_:at:)", rate = "2/500ms" }
