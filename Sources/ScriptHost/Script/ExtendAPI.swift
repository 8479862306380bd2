// ExtendAPI — `extend "Shop.Cart" { ["total(tax:)"] = function(call, tax) … end }`: around handlers for several members of a type, which land
// as one or not at all.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum ExtendAPI {
  static let functions: [(String, SHLFunction)] = [("extend", extend)]

  /// Answers a function that takes the table.
  private static let extend: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback.count == 1, let name = callback.text(0) else {
        return callback.fail("'extend' takes a type's name, and a table: extend \"Shop.Cart\" { [\"total(tax:)\"] = function(call, tax) … end }")
      }
      if let problem = SelectorLookup.typeProblem(name) { return callback.fail(problem) }
      callback.spent()
      return TwoPartStatement.answer("extend \"\(name)\"", patch, callback) { make(name, $0, $1) }
    }
  }

  /// One member, and what runs around it.
  private struct Member {
    let name: String
    let target: HookAPI.Target
    let batch: HookBatch
  }

  private static func make(_ type: String, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let verb = "extend '\(type)'"
    guard callback[0].tag == SHL_TABLE else {
      return callback.fail("\(verb): a table of functions is expected, found \(ValueBridge.spelled(callback[0]))")
    }
    guard let functions = SynthesizedMethodHook.functions(of: callback[0], in: verb, patch, callback) else { return -1 }
    // Given back with the handlers, which own the references from here on.
    let handlers = functions.sorted { $0.name < $1.name }.map { ($0.name, HandlerFunction($0.function, $0.info, of: patch)) }
    if let refusal = patch.refusal("a hook", "around \(type): \(handlers.map(\.0).joined(separator: ", "))") { return callback.fail(refusal) }
    if handlers.isEmpty { return callback.fail("\(verb): the table has no functions") }
    do throws(StatementProblem) {
      let members = try members(handlers, of: type, patch, callback)
      let report = try install(members, verb, patch)
      for selector in named(members) { HookAPI.tell(report.part(of: selector), selector, HookOptions.usual(patch), patch) }
      return callback.done(shl_handle(patch.classes.hook, report.tokens.first?.token.id ?? 0, UInt64(report.tokens.count), 0))
    } catch { return callback.fail(error.text) }
  }

  /// Overloads have one name, and what is said of it is said of all of them together.
  private static func named(_ members: [Member]) -> [ResolvedSelector] {
    var found: [ResolvedSelector] = []
    for selector in members.map(\.target.selector) {
      if let known = found.firstIndex(where: { $0.families.first?.selector == selector.families.first?.selector }) {
        found[known].families += selector.families
        found[known].images += selector.images
      } else {
        found.append(selector)
      }
    }
    return found
  }

  /// Resolves all before anything is installed.
  private static func members(
    _ handlers: [(String, HandlerFunction)], of type: String, _ patch: Environment, _ callback: LuaCallback
  ) throws(StatementProblem) -> [Member] {
    var members: [Member] = []
    for (name, handler) in handlers {
      let target = try HookAPI.member(name, of: type, waits: false, patch, callback)
      guard !target.selector.isGlob else {
        throw StatementProblem(
          text: "extend '\(type)': '\(name)' is a pattern; members are spelled out, hook patterns with method \"\(type).\(name)\"")
      }
      let keys = Set(target.selector.families.map(\.key))
      if let other = members.first(where: { $0.target.selector.families.contains { keys.contains($0.key) } }) {
        throw StatementProblem(text: "extend '\(type)': '\(other.name)' and '\(name)' are the same function; give it one handler")
      }
      let batch = HookBatch(.around, handler, .usual(patch), selector: target.selector, scope: target.scope)
      members.append(Member(name: name, target: target, batch: batch))
    }
    return members
  }

  private static func install(_ members: [Member], _ verb: String, _ patch: Environment) throws(StatementProblem) -> HookEngine.Report {
    var batches: [String: HookBatch] = [:]
    var requests: [HookRequest] = []
    for member in members {
      for (image, family) in zip(member.target.selector.images, member.target.selector.families) {
        batches[family.key] = member.batch
        requests.append(HookRequest(image: image, family: family, scope: member.target.scope, mayChoose: true))
      }
    }
    let (made, wanted) = (batches, requests)
    let report = patch.asHost {
      HookEngine.shared.install(wanted, atomically: true) { made[$0.key]!.layer($0) }
    }
    if let (name, reason) = report.refused.first {
      throw StatementProblem(text: "\(verb): cannot hook '\(name)': \(reason); none of its members is hooked")
    }
    for member in members { member.batch.add(report.part(of: member.target.selector)) }
    return report
  }
}

extension HookOptions {
  /// Of a handler that says nothing else.
  static func usual(_ patch: Environment) -> HookOptions { HookOptions(priority: patch.priority, waitsWhenBusy: true) }
}

extension HookEngine.Report {
  /// What of it is of one selector's functions.
  fileprivate func part(of selector: ResolvedSelector) -> HookEngine.Report {
    let keys = Set(selector.families.map(\.key))
    let names = Set(selector.families.map(\.selector))
    var part = self
    part.tokens = tokens.filter { keys.contains($0.key) }
    part.partial = partial.filter { names.contains($0.selector) }
    part.chosen = chosen.filter { names.contains($0.selector) }
    part.mayMiss = mayMiss.filter { names.contains($0.selector) }
    part.doubts = doubts.filter { names.contains($0.selector) }
    return part
  }
}
