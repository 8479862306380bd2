=== near field
> track 'x': field 'a': 'self.titel': Shop.Cart has no stored field 'titel'; did you mean 'title'?
track "x" { on = "Shop.Cart.checkout(_:)", fields = { a = "self.titel" } }
=== near field deep in a path
> track 'x': field 'a': 'self.buyer.emial': Shop.User has no stored field 'emial'; did you mean 'email'?
track "x" { on = "Shop.Cart.checkout(_:)", fields = { a = "self.buyer.emial" } }
=== computed without parentheses
> 'total' is computed: write 'total()', which runs code of the program
track "x" { on = "Shop.Cart.checkout(_:)", fields = { a = "self.total" } }
=== no such case
> track 'x': field 'a': 'args.1.crad': Shop.Payment has no case 'crad'; did you mean 'card'?
track "x" { on = "Shop.Cart.pay(_:)", fields = { a = "args.1.crad" } }
=== no such argument
> track 'x': field 'a': 'Shop.tap(_:at:)' has no argument 'to'
track "x" { on = "Shop.tap(_:at:)", fields = { a = "args.to" } }
=== behind a number
> track 'x': field 'a': 'duration.ms': 'duration' is a number, which has no 'ms'
track "x" { on = "Shop.tap(_:at:)", fields = { a = "duration.ms" } }
=== a number compared with text
> track 'x': 'where': 'args.at' is Swift.Int, and is compared with text
track "x" { on = "Shop.tap(_:at:)", where = "args.at == 'one'" }
=== no such path in a condition
> track 'x': 'where': 'self.lines.cuont': a path goes into
track "x" { on = "Shop.Cart.checkout(_:)", where = "self.lines.cuont > 1" }
=== one sign of equality
> track 'x': 'where': '=' in 'args.at = 1' is no part of a condition; what is equal is compared with '=='
track "x" { on = "Shop.tap(_:at:)", where = "args.at = 1" }
=== a condition without an end
> track 'x': 'where': 'args.at >' ends where a value is expected
track "x" { on = "Shop.tap(_:at:)", where = "args.at >" }
=== two conditions without a word between
> is more than a condition
track "x" { on = "Shop.tap(_:at:)", where = "args.at > 1 args.at < 3" }
=== an unknown function
> track 'x': 'where': no function 'matches'; known are contains, starts_with, ends_with
track "x" { on = "Shop.tap(_:at:)", where = "matches(args.1, 'x')" }
=== not a share
> track 'x': 'sample' is a share, such as "10%" or 0.1, found the text '150%'
track "x" { on = "Shop.tap(_:at:)", sample = "150%" }
=== not a rate
> track 'x': 'rate' is a number in a time, such as "50/s" or "3/min", found the text 'often'
track "x" { on = "Shop.tap(_:at:)", rate = "often" }
=== pii of no field
> track 'x': 'pii' names 'nmae', which is no field; did you mean 'name'?
track "x" { on = "Shop.tap(_:at:)", fields = { name = "args.1" }, pii = { nmae = "hash" } }
=== an unknown word
> track 'x': unknown field 'wehre'; did you mean 'where'?
track "x" { on = "Shop.tap(_:at:)", wehre = "args.at == 1" }
