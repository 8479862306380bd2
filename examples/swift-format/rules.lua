-- A tracking rule: data, not code. No Lua runs when it fires.
patch { id = "rules", version = "1.0.0", api = 1, target = { program = "swift-format" } }

-- swift-format asks for each rule, at each place, whether it is switched on.
track "rule asked" {
  on = "SwiftFormat.RuleMask.ruleState(_:at:)",
  fields = { rule = "args.1", line = "args.at.line" },
}
