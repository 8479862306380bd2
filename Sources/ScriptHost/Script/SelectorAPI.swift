// SelectorAPI — names of the program that scripts write: `method "…"`, `class "…"` and `explain "…"`.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum SelectorAPI {
  static let functions: [(String, SHLFunction)] = [("method", methodFunction), ("explain", explainFunction)]
  /// Of the handles that `method` answers.
  static let members = NamedFunctions([("explain", explainMethod)])
  static let methodHandles = HandleClass("method", tostring: methodToString)
  /// The global `class`, which is called, and has the field `define`.
  static let classMaker = HandleClass("class maker", index: ClassAPI.index, call: classFunction)

  private static let methodFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let text = callback.text(0) else { return callback.fail("'method' takes a selector, such as \"Shop.Cart.total(tax:)\"") }
      do throws(StatementProblem) {
        let waits = try readWait(callback)
        let index = try patch.asHost { resolve(text, patch, waits: waits) }.get()
        callback.spent()
        return callback.done(shl_handle(patch.classes.method, UInt64(index), 0, 0))
      } catch { return callback.fail(error.text) }
    }
  }

  /// `class "Shop.Cart"`
  private static let classFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      // Argument 0 is `class` itself.
      guard let text = callback.text(1) else { return callback.fail("'class' takes a type name, such as \"Shop.Cart\"") }
      do throws(StatementProblem) {
        let waits = try readWait(callback, at: 2)
        if !waits, let problem = SelectorLookup.typeProblem(text) { return callback.fail(problem) }
        callback.spent()
        return callback.done(shl_handle(patch.classes.type, UInt64(patch.number(ofClass: text)), waits ? 1 : 0, 0))
      } catch { return callback.fail(error.text) }
    }
  }

  /// The option of `method` and `class`: `{ wait = true }`.
  private static func readWait(_ callback: LuaCallback, at index: Int = 1) throws(StatementProblem) -> Bool {
    guard callback[index].tag != SHL_NIL else { return false }
    var waits = false
    var isWrong = callback[index].tag != SHL_TABLE
    if !isWrong {
      callback.forEach(in: callback[index]) { key, value in
        if key.text == "wait", value.tag == SHL_BOOL { waits = value.b } else { isWrong = true }
        return !isWrong
      }
    }
    if isWrong { throw StatementProblem(text: "the only option here is { wait = true }") }
    return waits
  }

  /// - Parameter waits: what is not there now may come with an image.
  private static func resolve(_ text: String, _ patch: Environment, waits: Bool = false) -> Result<Int, StatementProblem> {
    switch SelectorLookup.resolve(text, suggesting: !waits) {
    case .failure(let problem):
      guard waits, problem.mayAppear else { return .failure(StatementProblem(text: problem.description)) }
      return .success(patch.number(of: ResolvedSelector([], text, waits: true)))
    case .success(let found):
      // A protocol's requirement means types that conform later, too.
      let isRequirement = found.contains { $0.1.requirement != nil }
      return .success(patch.number(of: ResolvedSelector(found, text, waits: waits || isRequirement)))
    }
  }

  private static let methodToString: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      callback.done("method \"\(patch.selectors[Int(callback[0].h.a)].text)\"")
    }
  }

  static let typeToString: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in callback.done("class \"\(patch.classNames[Int(callback[0].h.a)])\"") }
  }

  private static let explainMethod: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let selector = patch.selectors[Int(callback[0].h.a)]
      return callback.done(explanation(of: zip(selector.images, selector.families).map { ($0, $1) }, selector.text))
    }
  }

  private static let explainFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let text = callback.text(0) else { return callback.fail("'explain' takes a selector") }
      switch SelectorLookup.resolve(text) {
      case .success(let found):
        defer { callback.spent() }
        return callback.done(explanation(of: found, text))
      case .failure(let problem): return callback.fail(problem.description)
      }
    }
  }

  private static func explanation(of found: [(ImageCatalog, Family)], _ text: String) -> String {
    LimitedWork.doing(.lookup, "explaining '\(text)'") { Explanation.text(found) }
  }
}
