// A checked script under a policy: what it may touch and do, and how many hooks it may have.
internal import HookRuntime
internal import LuaSyntax
internal import ScriptHost
internal import SwiftMangling

extension PatchCheck {
  /// What the patch may touch and do, by its id and what it asks for.
  mutating func noteRights(of permissions: [Capability]) {
    rights = policy.map { PatchRights($0, id: unit.id, asked: permissions) }
  }

  mutating func checkPermissions() {
    guard let why = rights?.refusalToLoad else { return }
    let place = Lexer.tokens(source).first { source[$0.range] == "permissions" }?.range
    error(place ?? 0..<0, why)
  }

  /// A function that the patch uses needs what the policy does not grant, or the patch did not ask for.
  mutating func checkCapability(_ function: String, _ range: Range<Int>) {
    guard let rights, let capability = Capability(function: function), let why = rights.refusal(capability) else { return }
    error(range, "'\(function)' is refused: \(why)")
  }

  /// The policy denies what a selector means; of a glob, everything.
  /// - Returns: whether it does.
  @discardableResult
  mutating func checkPolicy(_ bound: BoundSelector?, _ range: Range<Int>) -> Bool {
    guard let rights, let bound else { return false }
    var first: String?
    for (_, family) in bound.found {
      guard let why = rights.refusal(selector: family.selector, of: family.declaration.context?.description) else { return false }
      first = first ?? why
    }
    if let first { error(range, first) }
    return first != nil
  }

  // MARK: The number of hooks

  /// Counts a hook that the script certainly makes; the first one over the budget is told.
  /// - Parameter range: of what makes it, as `noteCertain` has it.
  mutating func countHook(_ bound: BoundSelector?, _ range: Range<Int>) {
    guard let rights, bound?.only != nil, certain.contains(range.lowerBound) else { return }
    hookCount += 1
    if let why = rights.refusalOfHook(beside: hookCount - 1), rights.refusalOfHook(beside: hookCount - 2) == nil { error(range, why) }
  }

  /// Notes what runs whenever the script does: what is in no function, branch or loop, and behind no early end. Of a script that takes
  /// hooks out again, nobody knows how many it has at a time.
  mutating func noteCertain(_ block: Block) {
    guard rights != nil else { return }
    var removes = false
    block.forEachExpression { value in
      if case .method(_, let name, _) = value.kind, name.text == "remove" { removes = true }
      return !removes
    }
    if !removes { _ = noteStatements(block) }
  }

  /// - Returns: whether what is behind the block runs, too.
  private mutating func noteStatements(_ block: Block) -> Bool {
    for statement in block.statements {
      switch statement.kind {
      case .local, .assignment, .call: for value in statement.expressions { note(value) }
      case .block(let inner): if !noteStatements(inner) { return false }
      case .leave, .goto, .breakLoop: return false
      case .whileLoop, .repeatLoop, .branches, .numericFor, .genericFor: if statement.blocks.contains(where: Self.mayLeave) { return false }
      case .localFunction, .function, .label: break
      }
    }
    return true
  }

  private mutating func note(_ value: Expression) {
    var found: [Int] = []
    value.forEach { value in
      switch value.kind {
      case .function, .binary("and", _, _), .binary("or", _, _): return false
      case .method(_, let name, _): found.append(name.range.lowerBound)
      default: break
      }
      found.append(value.range.lowerBound)
      return true
    }
    certain.formUnion(found)
  }

  /// A `return` or `goto` that is in no function of its own.
  private static func mayLeave(_ block: Block) -> Bool {
    block.statements.contains { statement in
      switch statement.kind {
      case .leave, .goto: true
      case .localFunction, .function: false
      default: statement.blocks.contains(where: mayLeave)
      }
    }
  }
}
