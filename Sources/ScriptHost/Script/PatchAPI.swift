// PatchAPI — the globals of a patch: patch, method, class, track, log, print, explain, swift.
internal import CLuaShim
internal import CHookTrampoline
internal import HookRuntime
internal import LuaBridge
internal import SwiftMangling

enum PatchAPI {
  static func register(_ patch: Patch) throws(PatchError) {
    let context = Unmanaged.passUnretained(patch).toOpaque()
    let state = patch.state
    var problem = SHL_OK
    func check(_ status: SHLStatus) { if problem == SHL_OK { problem = status } }

    func handleClass(
      _ name: String, flags: Int = 0, standsInFor: UInt32 = 0, index: SHLFunction? = nil, newindex: SHLFunction? = nil,
      invoke: SHLFunction? = nil, tostring: SHLFunction? = nil, call: SHLFunction? = nil, equal: SHLFunction? = nil,
      less: SHLFunction? = nil, lessEqual: SHLFunction? = nil, length: SHLFunction? = nil, pairs: SHLFunction? = nil,
      release: KeptHandles.Release? = nil
    ) -> UInt32 {
      var id: UInt32 = 0
      name.withCString { text in
        var description = SHLClass()
        description.name = text
        description.flags = UInt32(flags)
        description.stands_in_for = standsInFor
        description.ctx = context
        description.index = index
        description.newindex = newindex
        description.invoke = invoke
        description.tostring = tostring
        description.call = call
        description.equal = equal
        description.less = less
        description.less_equal = lessEqual
        description.length = length
        description.pairs = pairs
        description.release = release
        check(shl_class(state, &description, &id))
      }
      return id
    }
    func objectClass(standsInFor: UInt32 = 0, release: KeptHandles.Release? = nil) -> UInt32 {
      handleClass(
        "object", flags: SHL_UNIQUE, standsInFor: standsInFor, index: ObjectAPI.index, newindex: ObjectAPI.newindex,
        invoke: ObjectAPI.invoke, tostring: ObjectAPI.tostring, equal: ObjectAPI.equal, release: release)
    }
    func valueClass(release: KeptHandles.Release? = nil) -> UInt32 {
      handleClass(
        "value", index: ValueAPI.index, newindex: ValueAPI.newindex, invoke: ValueAPI.invoke, tostring: ValueAPI.tostring,
        equal: ValueAPI.equal, less: ValueAPI.less, lessEqual: ValueAPI.lessEqual, length: ValueAPI.length, pairs: ValueAPI.pairs,
        release: release)
    }
    func errorClass(standsInFor: UInt32 = 0, release: KeptHandles.Release? = nil) -> UInt32 {
      handleClass(
        "error", flags: SHL_UNIQUE, standsInFor: standsInFor, index: ErrorAPI.index, tostring: ErrorAPI.tostring, equal: ErrorAPI.equal,
        release: release)
    }
    patch.classes.object = objectClass()
    patch.classes.keptObject = objectClass(standsInFor: patch.classes.object, release: KeptHandles.releaseObject)
    patch.classes.weakObject = handleClass(
      "weak handle", tostring: KeptHandles.weakToString, call: KeptHandles.callWeak, release: KeptHandles.releaseWeak)
    patch.classes.value = valueClass()
    patch.classes.ownedValue = valueClass(release: KeptHandles.releaseValue)
    patch.classes.error = errorClass()
    patch.classes.keptError = errorClass(standsInFor: patch.classes.error, release: KeptHandles.releaseObject)
    patch.classes.arguments = handleClass(
      "arguments", index: CallAPI.argumentsIndex, newindex: CallAPI.argumentsNewindex, length: CallAPI.argumentsLength)
    patch.classes.method = handleClass("method", tostring: methodToString)
    patch.classes.type = handleClass("class", index: TypeAPI.index, newindex: TypeAPI.newindex, invoke: TypeAPI.invoke)
    patch.classes.hook = handleClass("hook", tostring: hookToString)
    patch.classes.observation = handleClass("observation", tostring: ObserveAPI.toString)
    patch.classes.delegates = handleClass("delegates", tostring: DelegateAPI.toString)
    // The global `class` is called, and has the field `define`.
    let classMaker = handleClass("class maker", index: ClassAPI.index, call: classFunction)
    patch.classes.patch = Unmanaged.passUnretained(patch)
    patch.classes.closure = handleClass(
      "closure", tostring: ClosureAPI.tostring, call: ClosureAPI.call, equal: ClosureAPI.equal,
      release: { _, word, _, _ in ClosureAPI.release(word) })
    patch.classes.function = handleClass("Lua function", release: { _, word, _, _ in ClosureAPI.release(word) })

    for (position, function) in [("before", before), ("around", around), ("after", after)] as [(String, SHLFunction)] {
      check(shl_method(state, patch.classes.method, position, function, context))
      check(shl_method(state, patch.classes.type, position, function, context))
    }
    check(shl_method(state, patch.classes.method, "explain", explainMethod, context))
    check(shl_method(state, patch.classes.hook, "remove", removeHook, context))

    CallAPI.register(state, context, check)
    ObserveAPI.register(patch, context, check)
    DelegateAPI.register(patch, context, check)
    ClassAPI.register(patch, context, classMaker, check)
    for (name, function) in globals + SwiftAPI.functions + CallInAPI.functions { check(shl_register(state, name, function, context)) }
    check(shl_constant(state, 1, "swift.null", "swift.null"))
    patch.lua.setPrint { [unowned patch] text, source, line in
      patch.log.log(level: "print", patch: patch.id, message: text, source: source.isEmpty ? patch.fileName : source, line: line)
    }
    guard problem == SHL_OK else { throw .noLua(String(cString: shl_status_text(problem))) }
  }

  private static let globals: [(String, SHLFunction)] = [
    ("patch", patchFunction), ("method", methodFunction), ("implement", ImplementAPI.implement), ("track", trackFunction),
    ("explain", explainFunction),
    ("log.debug", { logLine("debug", $0, $1) }), ("log.info", { logLine("info", $0, $1) }),
    ("log.warn", { logLine("warn", $0, $1) }), ("log.error", { logLine("error", $0, $1) }),
    ("swift.closure", ClosureAPI.closure),
  ]

  // MARK: patch, method, class, explain

  /// The header was read before the file ran; running it only checks that it is used as a statement with a table.
  private static let patchFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback[0].tag == SHL_TABLE else { return callback.fail("'patch' takes a table of literals") }
      guard patch.header.isWritten, !patch.didRunHeader else {
        return callback.fail("'patch' is the first statement of a file, once: it is read without running the file")
      }
      patch.didRunHeader = true
      return callback.done()
    }
  }

  private static let methodFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let text = callback.text(0) else { return callback.fail("'method' takes a selector, such as \"Shop.Cart.total(tax:)\"") }
      switch resolve(text, patch) {
      case .success(let index): return callback.done(shl_handle(patch.classes.method, UInt64(index), 0, 0))
      case .failure(let problem): return callback.fail(problem.text)
      }
    }
  }

  private static let classFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      // Argument 0 is `class` itself.
      guard let text = callback.text(1) else { return callback.fail("'class' takes a type name, such as \"Shop.Cart\"") }
      if let problem = SelectorLookup.typeProblem(text) { return callback.fail(problem) }
      patch.classNames.append(text)
      return callback.done(shl_handle(patch.classes.type, UInt64(patch.classNames.count - 1), 0, 0))
    }
  }

  struct Problem: Error { var text: String }

  private static func resolve(_ text: String, _ patch: Patch) -> Result<Int, Problem> {
    switch SelectorLookup.resolve(text) {
    case .failure(let problem): return .failure(Problem(text: problem.description))
    case .success(let found):
      patch.selectors.append(
        ResolvedSelector(
          image: found[0].0, families: found.map(\.1), images: found.map(\.0), text: text, isGlob: SelectorPattern(text).isGlob))
      return .success(patch.selectors.count - 1)
    }
  }

  private static let methodToString: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      callback.done("method \"\(patch.selectors[Int(callback[0].h.a)].text)\"")
    }
  }

  private static let explainMethod: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let selector = patch.selectors[Int(callback[0].h.a)]
      return callback.done(Explanation.text(zip(selector.images, selector.families).map { ($0, $1) }))
    }
  }

  private static let explainFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let text = callback.text(0) else { return callback.fail("'explain' takes a selector") }
      switch SelectorLookup.resolve(text) {
      case .success(let found): return callback.done(Explanation.text(found))
      case .failure(let problem): return callback.fail(problem.description)
      }
    }
  }

  // MARK: before, around, after

  private static let before: SHLFunction = { context, callback in withPatch(context, callback) { install(.before, $0, $1) } }
  private static let around: SHLFunction = { context, callback in withPatch(context, callback) { install(.around, $0, $1) } }
  private static let after: SHLFunction = { context, callback in withPatch(context, callback) { install(.after, $0, $1) } }

  /// `m:before(handler, options)` and `c:before("name(_:)", handler, options)`.
  private static func install(_ position: LuaHook.Position, _ patch: Patch, _ callback: LuaCallback) -> Int32 {
    let receiver = callback[0]
    var index = Int(receiver.h.a)
    var handlerAt = 1
    if receiver.cls == patch.classes.type {
      guard let member = callback.text(1) else {
        return callback.fail("'\(position.rawValue)' of a class takes a member, such as \"add(_:price:)\", and a handler")
      }
      let isStatic = member.hasPrefix("static ")
      let full = (isStatic ? "static " : "") + patch.classNames[index] + "." + (isStatic ? String(member.dropFirst(7)) : member)
      switch resolve(full, patch) {
      case .success(let found): index = found
      case .failure(let problem): return callback.fail(problem.text)
      }
      handlerAt = 2
    }
    guard callback[handlerAt].tag == SHL_FUNCTION else {
      return callback.fail("'\(position.rawValue)' takes a handler function, got \(ValueBridge.describe(callback[handlerAt]))")
    }
    var wishes = HookOptions(priority: patch.header.priority, waitsWhenBusy: position == .around)
    let options = callback[handlerAt + 1]
    if options.tag == SHL_TABLE {
      var problem: String?
      callback.forEach(in: options) { key, value in
        problem = key.text.map { wishes.set($0, value) } ?? "options are named, such as { priority = 10 }"
        return problem == nil
      }
      if let problem { return callback.fail(problem) }
    } else if options.tag != SHL_NIL {
      return callback.fail("options are a table, got \(ValueBridge.describe(options))")
    }
    let selector = patch.selectors[index]
    if let most = wishes.most, selector.families.count > most {
      return callback.fail("'\(selector.text)' matches \(selector.families.count) selectors, max allows \(most)")
    }
    return install(position, selector, handlerAt, wishes, patch, callback)
  }

  private static func install(
    _ position: LuaHook.Position, _ selector: ResolvedSelector, _ handlerAt: Int, _ wishes: HookOptions, _ patch: Patch,
    _ callback: LuaCallback
  ) -> Int32 {
    var hooks: [String: LuaHook] = [:]
    var noMemory = false
    let report = HookEngine.shared.install(zip(selector.images, selector.families).map { HookRequest(image: $0, family: $1) }) { family in
      var info = SHLFunctionInfo()
      let function = shl_arg_function_ref(callback.raw, Int32(handlerAt), &info)
      if function == 0 { noMemory = true }
      let hook = LuaHook(patch: patch, position: position, function: function, info: info, family: family, options: wishes)
      hooks[family.key] = hook
      return LayerSpec(
        function: hook.mayWait ? asyncLuaLayer : luaLayer, context: Unmanaged.passRetained(hook).toOpaque(), phases: hook.phases,
        priority: wishes.priority, canWait: hook.mayWait, readsValues: hook.readsValues, owner: patch.id
      ) { Unmanaged<LuaHook>.fromOpaque($0!).release() }
    }
    patch.hooks += report.tokens.map(\.token)
    if !selector.isGlob { patch.exactHooks += report.tokens.map(\.token) }
    for (token, key) in report.tokens { hooks[key]?.token = token }
    if noMemory { return callback.fail("out of memory") }
    // Bodies in another image may be refused: then it is hooked in part.
    if !selector.isGlob, report.tokens.isEmpty, let (name, reason) = report.refused.first {
      return callback.fail("cannot hook '\(name)': \(reason)")
    }
    if selector.isGlob || !report.refused.isEmpty {
      let partial = report.partial.isEmpty ? "" : ", \(report.partial.count) in part"
      patch.log.note(
        "hooked",
        "\(patch.fileName): '\(selector.text)': \(report.matched) matched, \(report.tokens.count) hooked, \(report.refused.count) refused\(partial)"
      )
    }
    if !selector.isGlob {
      for part in report.partial {
        patch.log.note(
          "hooked in part", "\(patch.fileName): \(part.hooked) of \(part.of) bodies of '\(part.selector)' are hooked; see explain")
      }
      noteMissedCopies(selector, patch)
    }
    return callback.done(
      shl_handle(patch.classes.hook, report.tokens.first?.token.id ?? 0, UInt64(report.tokens.count), UInt64(report.refused.count)))
  }

  /// A hook cannot reach copies that were inlined: said when it is known, so that nobody waits for calls that never come.
  private static func noteMissedCopies(_ selector: ResolvedSelector, _ patch: Patch) {
    for (image, family) in zip(selector.images, selector.families) {
      guard let count = image.inlinedCopies(of: family), count > 0 else { continue }
      patch.log.note(
        "inlined copies",
        "\(patch.fileName): \(count) inlined cop\(count == 1 ? "y" : "ies") of '\(family.selector)' \(count == 1 ? "is" : "are") not reached by its hooks"
      )
    }
  }

  private static let hookToString: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let handle = callback[0]
      return callback.done("hook (\(handle.h.b) installed, \(handle.h.c) refused)")
    }
  }

  /// `h:remove()`: true when it was installed.
  private static let removeHook: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let handle = callback[0]
      let ids = handle.h.a..<(handle.h.a + handle.h.b)
      var removed = false
      for token in patch.hooks where ids.contains(token.id) { removed = HookEngine.shared.remove(token) || removed }
      return callback.done(shl_bool(removed))
    }
  }

  // MARK: log, track

  private static func logLine(_ level: String, _ context: UnsafeMutableRawPointer?, _ callback: UnsafeMutablePointer<SHLCallback>?) -> Int32
  {
    withPatch(context, callback) { patch, callback in
      guard callback.count > 0 else { return callback.fail("'log.\(level)' takes a message") }
      let (source, line) = callback.caller
      let fields = callback[1]
      guard fields.tag == SHL_NIL || fields.tag == SHL_TABLE else {
        return callback.fail("'log.\(level)' takes a message and a table of fields")
      }
      let message = callback.shown(0)
      patch.log.log(level: level, patch: patch.id, message: message, source: source, line: line) { writer in
        guard fields.tag == SHL_TABLE else { return }
        callback.forEach(in: fields) { key, value in
          if let name = key.text { add(value, FieldName(name), &writer) }
          return true
        }
      }
      return callback.done()
    }
  }

  static func add(_ value: SHLValue, _ name: FieldName, _ writer: inout FieldWriter) {
    switch value.tag {
    case SHL_NIL: writer.addNull(name)
    case SHL_BOOL: writer.add(name, value.b)
    case SHL_INT: writer.add(name, value.i)
    case SHL_NUMBER: writer.add(name, value.n)
    case SHL_STRING: writer.add(name, utf8: UnsafeRawBufferPointer(start: value.s.p, count: value.s.n))
    default: writer.add(name, ValueBridge.describe(value))
    }
  }

  /// `track "name" { … }`: the first call answers a function that takes the rule.
  private static let trackFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let name = callback.text(0), !name.isEmpty else {
        return callback.fail("'track' takes the event's name and a rule: track \"name\" { on = \"…\" }")
      }
      let pending = PendingRule(patch: patch, name: name)
      return callback.done(shl_function(callback.scope, completeTrack, Unmanaged.passRetained(pending).toOpaque()))
    }
  }

  /// The name given to `track`, until its table arrives. Kept for the life of the patch: a script may complete it twice.
  final class PendingRule {
    unowned let patch: Patch
    let name: String
    init(patch: Patch, name: String) {
      self.patch = patch
      self.name = name
    }
  }

  private static let completeTrack: SHLFunction = { context, callback in
    // The context is the PendingRule that trackFunction retained for good.
    Unmanaged<PendingRule>.fromOpaque(context!)._withUnsafeGuaranteedRef { pending in
      TrackRule.install(name: pending.name, patch: pending.patch, LuaCallback(callback!))
    }
  }
}

/// The options of a hook: `{ priority = 10, on_busy = "wait", max = 100 }`.
struct HookOptions {
  var priority: Int
  /// When another call holds the patch's state: wait for it, or let the original run without the handler.
  var waitsWhenBusy: Bool
  /// More matches of a glob than this are an error.
  var most: Int?

  /// Sets one option; answers what is wrong with it.
  mutating func set(_ name: String, _ value: SHLValue) -> String? {
    let text = value.text
    switch (name, value.tag) {
    case ("priority", SHL_INT): priority = Int(value.i)
    case ("max", SHL_INT) where value.i >= 0: most = Int(value.i)
    case ("on_busy", _) where text == "wait" || text == "original": waitsWhenBusy = text == "wait"
    case ("on_failure", _) where text == "original": break  // what always happens
    case ("on_busy", _): return "option 'on_busy' is \"wait\" or \"original\""
    case ("on_failure", _): return "option 'on_failure' is \"original\"; other ways are not supported yet"
    case ("priority", _), ("max", _): return "option '\(name)' is an integer, got \(ValueBridge.describe(value))"
    default: return "unknown option '\(name)'; known are priority, max, on_busy, on_failure"
    }
    return nil
  }
}
