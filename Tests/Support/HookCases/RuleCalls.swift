// RuleCalls — the rules of handlers (docs/hooks.md), one call for each, and what its caller is to get. Whoever runs it has put the handlers
// in: RuleCases.swift those of Swift, Tests/Programs/failures/rules.lua those of Lua. What comes is the same.
import HookSubjects

/// Runs the calls of all rules but those in `without`; answers a line for each that is broken.
func brokenRules(without: Set<String> = []) -> [String] {
  var broken: [String] = []
  for (rule, n, expected) in callRules where !without.contains(rule) {
    let found = called(rule, n)
    if found != expected { broken.append("\(rule): found \(found), expected \(expected)") }
  }
  for (rule, expected) in keepRules where !without.contains(rule) {
    let found = kept(rule)
    if found != expected { broken.append("\(rule): found \(found), expected \(expected)") }
  }
  let nested = Rules.nested(1, "a text of more than fifteen bytes")
  if nested != "original 2 another text of more than fifteen bytes, outside 1 a text of more than fifteen bytes" {
    broken.append("handlers further out go on with what they passed: found \(nested)")
  }
  let label = Basket(name: "a name of more than fifteen bytes", lines: [1, 2]).label("in ")
  if label != "a name of more than fifteen bytes 2" { broken.append("a struct's self after the original: found \(label)") }
  // What an outcome replaced may be kept until a call begins further up the stack, as that one did.
  if Token.alive != 0 { broken.append("objects that were given away: \(Token.alive) are left") }
  return broken
}

private let callRules: [(rule: String, n: Int, expected: String)] = [
  ("fails before the original", 3, "6, sum 11, original (3)"),
  ("fails after the original", 3, "6, sum 11, original (3)"),
  ("gives nothing", 3, "6, sum 11, original (3)"),
  ("returns after the original", 3, "5, sum 99, original (3)"),
  ("never runs the original", 3, "5, sum 99, original "),
  ("throws after the original", 3, "threw ruled, sum 99, original (3)"),
  ("throws before the original", 3, "threw ruled, sum 99, original "),
  ("passes the original's error on", -3, "threw refused, sum 99, original (-3)"),
  ("replaces the original's error", -3, "5, sum 11, original (-3)"),
  ("runs the original again", 4, "10, sum 12, original (4)(5)"),
  ("sets a result before the original runs", 3, "6, sum 11, original (3)"),
  ("sets another argument after the original", 3, "6, sum 11, original (3)"),
  ("reads the result it set before the original runs", 4, "6, sum 10, original "),
  ("sees no error once a result took its place", -3, "5, sum 11, original (-3)"),
]

private func called(_ rule: String, _ n: Int) -> String {
  var sum = 10
  Rules.seen = ""
  let outcome: String
  do { outcome = "\(try Rules.call(rule, n, &sum))" } catch { outcome = "threw \(error)" }
  return "\(outcome), sum \(sum), original \(Rules.seen)"
}

private let keepRules: [(rule: String, expected: String)] = [
  ("kept: fails before the original", "1, original (1)"),
  ("kept: never runs the original", "5, original "),
  ("kept: throws before the original", "threw ruled, original "),
  ("kept: runs the original again", "2, original (1)(1)"),
  ("kept: replaces the object", "2, original (2)"),
]

@inline(never)
private func kept(_ rule: String) -> String {
  Rules.seen = ""
  let outcome: String
  do { outcome = "\(try Rules.keep(rule, Token(1)))" } catch { outcome = "threw \(error)" }
  return "\(outcome), original \(Rules.seen)"
}
