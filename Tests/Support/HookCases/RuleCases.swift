// The rules of handlers through the doors of Swift: closures that name their types, and closures that get a HookedCall.
import Checks
import ClosureHooks
import HookRuntime
import HookSubjects

private let ruleCall = "static \(module).Rules.call(_:_:_:)"
private let ruleKeep = "static \(module).Rules.keep(_:_:)"
private let ruleLabel = "\(module).Basket.label(_:)"
private let ruleNested = "static \(module).Rules.nested(_:_:)"

@MainActor let ruleCases: [(String, () throws -> Void)] = [
  (
    "rules: closures that name their types",
    {
      let group = try HookGroup("rules") {
        try Hooks.around(ruleCall) { (call, rule: String, n: Int, sum: Int) -> Int in
          switch rule {
          case "fails before the original":
            try call.set(1, to: 9)
            try call.set(2, to: 99)
            try call.set("nowhere", to: 1)
            return 7
          case "fails after the original":
            try call.original()
            try call.set(2, to: 99)
            try call.setResult(to: 77)
            try call.set("nowhere", to: 1)
            return 7
          case "returns after the original":
            try call.original()
            try call.set(2, to: 99)
            return 5
          case "never runs the original":
            try call.set(2, to: 99)
            return 5
          case "throws after the original":
            try call.original()
            try call.set(2, to: 99)
            throw RuleError.ruled
          case "throws before the original":
            try call.set(2, to: 99)
            throw RuleError.ruled
          case "passes the original's error on":
            do { return try call.original() } catch {
              try call.set(2, to: 99)
              throw error
            }
          case "replaces the original's error": do { return try call.original() } catch { return 5 }
          case "runs the original again":
            try call.original()
            return try call.original(rule, 5, call.argument(2))
          case "sets a result before the original runs":
            try call.setResult(to: 77)
            return try call.original()
          case "sets another argument after the original":
            try call.original()
            try call.set(1, to: 9)
            return try call.argument(1)
          case "reads the result it set before the original runs":
            try call.setResult(to: 5)
            return try call.result(as: Int.self) + 1
          case "sees no error once a result took its place":
            _ = try? call.original()
            try call.setResult(to: 5)
            return call.error == nil ? 5 : 7
          default: return try call.original()
          }
        }
        try Hooks.around(ruleKeep) { (call, rule: String, token: Token) -> Int in
          switch rule {
          case "kept: fails before the original":
            try call.set(1, to: Token(9))
            try call.set("nowhere", to: 1)
            return 7
          case "kept: never runs the original": return 5
          case "kept: throws before the original": throw RuleError.ruled
          case "kept: runs the original again": return try call.original() + call.original()
          default: return try call.original(rule, Token(2))
          }
        }
        try Hooks(Basket.self).around("label(_:)") { (call) -> String in
          try call.original()
          guard let basket = call.instance else { return "no instance" }
          return "\(basket.name) \(basket.lines.count)"
        }
        try Hooks.before(ruleNested) { (call, n: Int, text: String) in
          try call.set(0, to: n + 1)
          try call.set(1, to: "another text of more than fifteen bytes")
        }
        try Hooks.around(ruleNested) { (call) -> String in
          let inside = try call.original()
          return "\(inside), outside \(try call.argument(0, as: Int.self)) \(try call.argument(1, as: String.self))"
        }
      }
      // A closure that returns a value cannot give nothing.
      check(brokenRules(without: ["gives nothing"]), [], "rules")
      group.remove()
      check(Token.alive, 0, "objects")
    }
  ),
  (
    "rules: closures that get a HookedCall",
    {
      let called = try engine.around(ruleCall) { call in
        switch call.argument(0, as: String.self) ?? "" {
        case "gives nothing": call.setArgument(2, to: 99)
        case "returns after the original":
          call.proceed()
          call.setArgument(2, to: 99)
          call.setResult(to: 5)
        case "never runs the original":
          call.setArgument(2, to: 99)
          call.setResult(to: 5)
        case "passes the original's error on":
          call.proceed()
          call.setArgument(2, to: 99)
        case "replaces the original's error":
          call.proceed()
          call.setResult(to: 5)
        case "runs the original again":
          call.proceed()
          call.setArgument(1, to: 5, forNextRun: true)
          call.proceed()
        case "sets a result before the original runs":
          call.setResult(to: 77)
          call.proceed()
        case "sets another argument after the original":
          call.proceed()
          if call.setArgument(1, to: 9) { call.setResult(to: 9) }
        case "reads the result it set before the original runs":
          call.setResult(to: 5)
          call.setResult(to: (call.result(as: Int.self) ?? 0) + 1)
        case "sees no error once a result took its place":
          call.proceed()
          call.setResult(to: 5)
          if call.error != nil { call.setResult(to: 7) }
        default: call.proceed()
        }
      }
      let kept = try engine.around(ruleKeep) { call in
        switch call.argument(0, as: String.self) ?? "" {
        case "kept: fails before the original": call.setArgument(1, to: Token(9))
        case "kept: never runs the original": call.setResult(to: 5)
        case "kept: runs the original again":
          call.proceed()
          let first = call.result(as: Int.self) ?? 0
          call.proceed()
          call.setResult(to: first + (call.result(as: Int.self) ?? 0))
        default:
          call.setArgument(1, to: Token(2))
          call.proceed()
        }
      }
      let inner = try engine.before(ruleNested) { call in
        call.setArgument(0, to: 2)
        call.setArgument(1, to: "another text of more than fifteen bytes")
      }
      let outer = try engine.around(ruleNested) { call in
        call.proceed()
        let inside = call.result(as: String.self) ?? "?"
        call.setResult(to: "\(inside), outside \(call.argument(0, as: Int.self)!) \(call.argument(1, as: String.self)!)")
      }
      // It has no member for the value that a method runs on.
      let label = try engine.around(ruleLabel) { call in call.setResult(to: "a name of more than fifteen bytes 2") }
      // Such a closure neither fails nor throws.
      let others: Set = [
        "fails before the original", "fails after the original", "throws after the original", "throws before the original",
        "kept: throws before the original",
      ]
      check(brokenRules(without: others), [], "rules")
      for hook in [called, kept, label, inner, outer] { hook.remove() }
      check(Token.alive, 0, "objects")
    }
  ),
]
