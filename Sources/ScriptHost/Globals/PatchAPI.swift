// PatchAPI — the globals of a patch: patch, method, class, track, log, print, explain, swift. Hooks are in HookAPI.
internal import CLuaShim
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
internal import LuaBridge
internal import SwiftMangling

enum PatchAPI {
  static func register(_ patch: Environment) throws(PatchError) {
    let context = Unmanaged.passUnretained(patch).toOpaque()
    let state = patch.state
    HostTime.tell(shl_exempt_begin, shl_exempt_end)
    shl_report_waits(hkt_note_waited)
    LimitedWork.limit(by: .init(begin: shl_work_begin, isOver: shl_work_is_over, end: shl_work_end))
    var problem = SHL_OK
    func check(_ status: SHLStatus) { if problem == SHL_OK { problem = status } }

    let classMaker = addClasses(patch, context, check)
    CallAPI.register(state, context, arguments: patch.classes.arguments, check)
    ClassAPI.register(patch, context, classMaker, check)
    let classes = patch.classes
    for (handleClass, members) in [
      (UInt32(SHL_CLASS_CALL), CallAPI.members), (classes.method, methodMembers), (classes.method, HookAPI.positions),
      (classes.type, HookAPI.positions), (classes.hook, HookAPI.members), (classes.rule, RuleAPI.members), (classes.timer, TimerAPI.members),
      (classes.subscription, NotificationAPI.members), (classes.preset, UseAPI.members), (classes.observation, ObserveAPI.members),
      (classes.delegates, DelegateAPI.members),
    ] {
      check(shl_members(state, handleClass, members.list.baseAddress, Int32(members.list.count), context))
    }
    // Before the functions, which are made when a text names them: this does.
    check(shl_constant(state, 1, "swift.null", "swift.null"))
    check(shl_register_all(state, functions.list.baseAddress, Int32(functions.list.count), context))
    // What `swift.case("name", nil)` holds: no script writes it.
    check(shl_constant(state, 2, nil, "nil"))
    patch.lua.setPrint { [unowned patch] text, source, line in
      patch.log.log(level: "print", patch: patch.id, message: text, source: source.isEmpty ? patch.fileName : source, line: line)
    }
    guard problem == SHL_OK else { throw .noLua(String(cString: shl_status_text(problem))) }
  }

  /// The kinds of handles that scripts get.
  /// - Returns: that of the global `class`.
  private static func addClasses(_ patch: Environment, _ context: UnsafeMutableRawPointer, _ check: (SHLStatus) -> Void) -> UInt32 {
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
        description.words = Uncaught.words
        description.release = release
        check(shl_class(patch.state, &description, &id))
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
    patch.classes.keptError = errorClass(standsInFor: patch.classes.error, release: KeptHandles.releaseError)
    patch.classes.arguments = handleClass(
      "arguments", index: CallAPI.argumentsIndex, newindex: CallAPI.argumentsNewindex, length: CallAPI.argumentsLength)
    patch.classes.method = handleClass("method", tostring: methodToString)
    patch.classes.type = handleClass(
      "class", index: TypeAPI.index, newindex: TypeAPI.newindex, invoke: TypeAPI.invoke, tostring: typeToString)
    patch.classes.hook = handleClass("hook", index: HookAPI.index, tostring: HookAPI.toString)
    patch.classes.rule = handleClass("rule", tostring: RuleAPI.toString)
    patch.classes.observation = handleClass("observation", tostring: ObserveAPI.toString)
    patch.classes.delegates = handleClass("delegates", tostring: DelegateAPI.toString)
    patch.classes.timer = handleClass("timer", tostring: TimerAPI.toString, release: TimerAPI.release)
    patch.classes.subscription = handleClass("subscription", tostring: NotificationAPI.toString, release: NotificationAPI.release)
    patch.classes.preset = handleClass("preset", tostring: UseAPI.toString)
    // The global `class` is called, and has the field `define`.
    let classMaker = handleClass("class maker", index: ClassAPI.index, call: classFunction)
    patch.classes.patch = Unmanaged.passUnretained(patch)
    patch.classes.closure = handleClass(
      "closure", tostring: ClosureAPI.tostring, call: ClosureAPI.call, equal: ClosureAPI.equal,
      release: { _, word, _, _ in ClosureAPI.release(word) })
    patch.classes.function = handleClass("Lua function", release: { _, word, _, _ in ClosureAPI.release(word) })
    return classMaker
  }

  private static let methodMembers = NamedFunctions([("explain", explainMethod)])

  /// All global functions.
  private static let functions = NamedFunctions(
    [
      globals, HookAPI.functions, UnitAPI.functions, UseAPI.functions, StoreAPI.functions, TestAPI.functions, SwiftAPI.functions, CallInAPI.functions,
      LeftCopies.functions, MessageAPI.functions, RuleAPI.functions, ScreenAPI.functions, StallAPI.functions, SlowAPI.functions, ExposureAPI.functions,
      ProfileAPI.functions, NetworkAPI.functions, JSONAPI.functions, GuardAPI.functions, TimerAPI.functions, ExtendAPI.functions,
      NotificationAPI.functions, ObserveAPI.functions, DelegateAPI.functions,
    ].flatMap { $0 })

  private static let globals: [(String, SHLFunction)] = [
    ("patch", patchFunction), ("method", methodFunction), ("implement", ImplementAPI.implement),
    ("explain", explainFunction),
    ("log.debug", { logLine("debug", $0, $1) }), ("log.info", { logLine("info", $0, $1) }),
    ("log.warn", { logLine("warn", $0, $1) }), ("log.error", { logLine("error", $0, $1) }),
    ("swift.closure", ClosureAPI.closure),
    ("scripthost.up", up),
    ("boot.task", StartTaskAPI.task),
    ("boot.cache", { registerPath($0, $1, isData: false) }), ("boot.data", { registerPath($0, $1, isData: true) }),
  ]

  /// `scripthost.up()`: the program says that its start is over.
  private static let up: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("the word that the program is up") { return callback.fail(refusal) }
      BootGuard.up()
      StartupStages.reachStable()
      return callback.done()
    }
  }

  /// `boot.cache(path)`, `boot.data(path)`: what safe mode may clear.
  private static func registerPath(_ context: UnsafeMutableRawPointer?, _ callback: UnsafeMutablePointer<SHLCallback>?, isData: Bool) -> Int32 {
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a path for safe mode") { return callback.fail(refusal) }
      let name = isData ? "boot.data" : "boot.cache"
      guard let path = callback.text(0) else { return callback.fail("'\(name)' takes the path of a file or directory, got \(ValueBridge.describe(callback[0]))") }
      if let refusal = BootGuard.refusal(of: path) { return callback.fail("'\(name)' cannot take '\(path)': \(refusal)") }
      guard BootGuard.register(path, isData: isData) else {
        // No reason for the patch to fail: without the registration safe mode leaves the path alone.
        let text = "\(patch.fileName):\(callback.caller.line): '\(path)' was not registered: the state directory cannot be written; safe mode will not clear it"
        patch.log.say(text)
        patch.log.append(.failure, "path not registered") { fields in
          fields.add("patch", patch.id)
          fields.add("path", path)
        }
        return callback.done(shl_bool(false))
      }
      return callback.done(shl_bool(true))
    }
  }

  // MARK: patch, method, class, explain

  /// The header was read before the file ran; running it only checks that it is used as a statement with a table.
  private static let patchFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback[0].tag == SHL_TABLE else { return callback.fail("'patch' takes a table of literals") }
      guard patch.hasHeader, !patch.didRunHeader else {
        return callback.fail("'patch' is the first statement of a file, once: it is read without running the file")
      }
      patch.didRunHeader = true
      return callback.done()
    }
  }

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

  private static let typeToString: SHLFunction = { context, callback in
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

  // MARK: log

  /// Records a line of the script's, with the fields that it gave.
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
          if let name = key.text { add(value, patch.recordsSecrets ? FieldName(name, masked: false) : FieldName(given: name), &writer, callback) }
          return true
        }
      }
      return callback.done()
    }
  }

  /// Bytes of what is shown of a value of the program.
  private static let longestField = 256

  private static func add(_ value: SHLValue, _ name: FieldName, _ writer: inout FieldWriter, _ callback: LuaCallback) {
    switch value.tag {
    case SHL_NIL: writer.addNull(name)
    case SHL_BOOL: writer.add(name, value.b)
    case SHL_INT: writer.add(name, value.i)
    case SHL_NUMBER: writer.add(name, value.n)
    case SHL_STRING: writer.add(name, utf8: UnsafeRawBufferPointer(start: value.s.p, count: value.s.n))
    case SHL_HANDLE: addShown(value, name, &writer, callback)
    default: writer.add(name, ValueBridge.describe(value))
    }
  }

  /// What `print` shows of a value of the program.
  private static func addShown(_ value: SHLValue, _ name: FieldName, _ writer: inout FieldWriter, _ callback: LuaCallback) {
    guard var text = callback.shown(value) else { return writer.add(name, ValueBridge.describe(value)) }
    text.withUTF8 { bytes in
      var kept = min(bytes.count, longestField)
      // Whole characters.
      while kept > 0, kept < bytes.count, bytes[kept] & 0xC0 == 0x80 { kept -= 1 }
      writer.add(name, utf8: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<kept]), fullLength: bytes.count)
    }
  }
}
