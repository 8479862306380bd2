import Subject
func show(_ name: String, _ value: Any) { print("\(name): \(value)") }
none { print("in none") }
show("one", one { $0 + 1 })
show("text", text { $0 + "!" })
show("mixed", mixed { "\($0) \($1) \($2) \($3) \($4) \($5) \($6) \($7)" })
show("many", many { $0 + $1 + $2 + $3 + $4 + $5 + $6 + $7.count })
show("pairs", pairs { Pair($0.count + 1, $0.name + "x") })
show("wide", wide { $0 })
show("optional", optional { $0 * 2 })
show("optional nil", optional(nil))
show("optionalResult", optionalResult { $0 }.map(String.init) ?? "nil")
show("maker", maker { n in { $0 + n } })
show("taker", taker { $0(2) })
show("throwing", throwing { "\($0)" })
show("throwing error", throwing { throw Failure($0) })
show("tupled", tupled { ($0.0, $0.1.0 + "\($0.1.1)") })
show("changing", changing { $0 += 1; $1 += "s" })
show("consuming", consuming { $0.name.count + $1.count })
show("array", array([{ "\($0)\($1)" }, { $1 + "\($0)" }]))
keep { print("kept \($0)") }
callKept(1); dropKept()
let button = Button()
button.setHandler { $0.count }
show("tap", button.tap("four"))
show("compose", compose({ $0 + 1 }, { $0 * 2 })(5))
show("c", cFunction { $0 * Int32($1) })
show("tokens", Token.alive)
