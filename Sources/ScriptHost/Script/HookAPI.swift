// HookAPI — before, around, after of methods and classes; what hook handles do; hooks().
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge

enum HookAPI {
  static let handles = HandleClass("hook", index: index, tostring: toString)

  static let functions: [(String, SHLFunction)] = [("hooks", list)]
  /// What handles of methods and of classes have.
  static let positions = NamedFunctions([("before", before), ("around", around), ("after", after), ("contain", contain)])
  /// What handles of hooks have.
  static let members = NamedFunctions(
    [("remove", remove), ("enable", enable), ("disable", disable), ("describe", describe)],
    fields: [("installed", Field.installed.rawValue), ("refused", Field.refused.rawValue)])

  // MARK: before, around, after

  private static let before: SHLFunction = { context, callback in withPatch(context, callback) { install(.before, $0, $1) } }
  private static let around: SHLFunction = { context, callback in withPatch(context, callback) { install(.around, $0, $1) } }
  private static let after: SHLFunction = { context, callback in withPatch(context, callback) { install(.after, $0, $1) } }

  private static let contain: SHLFunction = { context, callback in withPatch(context, callback) { contain($0, $1) } }

  /// `m:contain { value = v }` and `c:contain("name(_:)", { value = v })`.
  private static func contain(_ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let receiver = callback[0]
    let isClass = receiver.cls == patch.classes.type
    let at = isClass ? 2 : 1
    if isClass, callback.text(1) == nil {
      return callback.fail("'contain' of a class takes a member, such as \"price(at:)\", and what to answer")
    }
    var wishes = ContainWishes(priority: ContainLayer.usualPriority)
    defer { ContainAPI.forget(wishes, patch) }
    if let problem = ContainAPI.read(at, &wishes, callback) { return callback.fail(problem) }
    do throws(StatementProblem) {
      let index = Int(receiver.h.a)
      var target =
        isClass
        ? try member(callback.text(1)!, of: patch.classNames[index], waits: wishes.options.waits, patch, callback)
        : Target(selector: patch.selectors[index])
      if let object = wishes.options.object { target.scope = .object(try live(object, patch)) }
      target.selector = try ContainAPI.containable(target.selector, wishes, isFunction: callback[at].tag == SHL_FUNCTION, patch, callback)
      let handler = try ContainAPI.handler(at, wishes, patch, callback).get()
      return install(.contain, target, handler, wishes.options, patch, callback, limit: wishes.limit)
    } catch { return callback.fail(error.text) }
  }

  /// What a hook is on, and for whose calls.
  struct Target {
    var selector: ResolvedSelector
    var scope = HookScope.type
  }

  /// `m:before(handler, options)` and `c:before("name(_:)", handler, options)`.
  private static func install(_ position: LuaHook.Position, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    let receiver = callback[0]
    let isClass = receiver.cls == patch.classes.type
    let handlerAt = isClass ? 2 : 1
    if isClass, callback.text(1) == nil {
      return callback.fail("'\(position.rawValue)' of a class takes a member, such as \"add(_:price:)\", and a handler")
    }
    guard callback[handlerAt].tag == SHL_FUNCTION else {
      return callback.fail("'\(position.rawValue)' takes a handler function, got \(ValueBridge.describe(callback[handlerAt]))")
    }
    var wishes = HookOptions(priority: patch.priority, waitsWhenBusy: position == .around)
    defer { wishes.end(patch) }
    if let problem = wishes.read(callback[handlerAt + 1], callback) ?? wishes.misuse(of: position) { return callback.fail(problem) }
    do throws(StatementProblem) {
      let index = Int(receiver.h.a)
      let waits = wishes.waits || isClass && receiver.h.b == 1
      var target =
        isClass
        ? try member(callback.text(1)!, of: patch.classNames[index], waits: waits, patch, callback)
        : Target(selector: patch.selectors[index])
      if let object = wishes.object { target.scope = .object(try live(object, patch)) }
      if let most = wishes.most, target.selector.families.count > most {
        let count = target.selector.families.count
        return callback.fail("'\(target.selector.text)' matches \(count) selector\(count == 1 ? "" : "s"), max allows \(most)")
      }
      guard let handler = HandlerFunction(callback, argument: handlerAt, of: patch) else { return callback.fail("out of memory") }
      return install(position, target, handler, wishes, patch, callback, answers: try answers(wishes, target.selector, patch, callback))
    } catch { return callback.fail(error.text) }
  }

  /// What calls answer when the handler fails, for each function.
  private static func answers(
    _ wishes: HookOptions, _ selector: ResolvedSelector, _ patch: Environment, _ callback: LuaCallback
  ) throws(StatementProblem) -> FailureAnswers {
    if wishes.onFailure.isOriginal, !wishes.throwsWhenBusy { return FailureAnswers() }
    var made: [String: FailureAnswer] = [:]
    do throws(StatementProblem) {
      for (image, family) in zip(selector.images, selector.families) {
        if wishes.throwsWhenBusy { try FailureAnswer.checkBusyThrow(family, image) }
        made[family.key] = try FailureAnswer(wishes.onFailure, family, image, patch, callback)
      }
    } catch {
      for answer in made.values { answer.end() }
      throw error
    }
    return FailureAnswers(made)
  }

  /// The object behind a handle.
  private static func live(_ handle: SHLValue, _ patch: Environment) throws(StatementProblem) -> AnyObject {
    guard patch.classes.isObject(handle) else {
      throw StatementProblem(text: "option 'object' is an object of the program, got \(ValueBridge.describe(handle))")
    }
    guard let object = patch.classes.object(handle) else { throw StatementProblem(text: ObjectAPI.expired) }
    // Alive as its handle is; the copy is retained.
    return Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
  }

  /// A member of the class, or the nearest one it inherits: that is hooked for its own instances and its subclasses'.
  static func member(
    _ member: String, of className: String, waits: Bool, _ patch: Environment, _ callback: LuaCallback
  ) throws(StatementProblem) -> Target {
    let (prefix, name) = member.hasPrefix("static ") ? ("static ", String(member.dropFirst(7))) : ("", member)
    func find(_ owner: String) -> Result<ResolvedSelector, LookupError> {
      let full = "\(prefix)\(owner).\(name)"
      return SelectorLookup.resolve(full, suggesting: !waits).map { ResolvedSelector($0, full, waits: waits) }
    }
    let own = find(className)
    switch own {
    case .success(let selector): return Target(selector: selector)
    case .failure(let problem) where waits && problem.mayAppear:
      return Target(selector: ResolvedSelector([], "\(prefix)\(className).\(name)", waits: true))
    case .failure(.noSelectorInType): break
    case .failure(let problem): throw StatementProblem(text: problem.description)
    }
    if let type = try? patch.callIns.type(className, callback), case .classType = type.kind {
      var each = type.superclass
      while let owner = each {
        each = owner.superclass
        guard let name = owner.descriptor.flatMap(TypeCatalog.shared.name), case .success(let selector) = find(name) else { continue }
        return Target(selector: selector, scope: .subclass(type.type))
      }
    }
    guard case .failure(let problem) = own else { fatalError("internal error: a selector that was found is missing; please report it") }
    throw StatementProblem(text: problem.description)
  }

  private static func install(
    _ position: LuaHook.Position, _ target: Target, _ handler: HandlerFunction, _ wishes: HookOptions, _ patch: Environment,
    _ callback: LuaCallback, limit: Int = 0, answers: FailureAnswers = FailureAnswers()
  ) -> Int32 {
    let selector = target.selector
    if let refusal = patch.refusal("a hook", "\(position.rawValue) \(selector.text)") { return callback.fail(refusal) }
    let batch = HookBatch(position, handler, wishes, selector: selector, scope: target.scope, limit: limit, answers: answers)
    let requests = zip(selector.images, selector.families).map {
      HookRequest(image: $0, family: $1, scope: target.scope, backEnd: wishes.backEnd, mayChoose: true)
    }
    let report = patch.asHost { HookEngine.shared.install(requests, layer: batch.layer) }
    // It takes longer than a handler may: nothing of it stays.
    if callback.isStopped {
      _ = HookEngine.shared.remove(report.tokens.map(\.token))
      return -1
    }
    batch.add(report)
    // Bodies in another image may be refused: then it is hooked in part.
    if !selector.isGlob, report.tokens.isEmpty, let (name, reason) = report.refused.first {
      return callback.fail("cannot hook '\(name)': \(reason)")
    }
    tell(report, selector, wishes, patch)
    // One object's class is there already.
    let waits = wishes.waits || selector.waits && wishes.object == nil
    guard waits || selector.isGlob || !report.refused.isEmpty else {
      return callback.done(shl_handle(patch.classes.hook, report.tokens.first?.token.id ?? 0, UInt64(report.tokens.count), 0))
    }
    if waits { batch.wait() }
    return callback.done(shl_handle(patch.classes.hook, patch.number(batch), batchMark, 0))
  }

  /// In the place of the number of hooks: the handle is that of a batch, which may grow, and knows what was refused.
  private static let batchMark = UInt64.max
  private static func batch(_ handle: SHLValue, _ patch: Environment) -> HookBatch? {
    handle.h.b == batchMark ? patch.handle(handle.h.a) : nil
  }

  static func tell(_ report: HookEngine.Report, _ selector: ResolvedSelector, _ wishes: HookOptions, _ patch: Environment) {
    if selector.isGlob || !report.refused.isEmpty {
      patch.log.note(
        "hooked", "\(patch.fileName): '\(selector.text)': \(report.matched) matched, \(report.tokens.count) hooked\(report.rest)")
    }
    SharedMethods.tell(report, of: selector, patch)
    // Once is enough for what is hooked for each of many objects.
    if wishes.object != nil && !patch.reportedObjects.insert(selector.text).inserted { return }
    if selector.isGlob { return report.tellUnproven(patch) }
    report.tellReach(patch)
    noteMissedCopies(selector, report, patch)
  }

  /// A hook cannot reach copies that were inlined: said when it is known, so that nobody waits for calls that never come. What the report told is
  /// not said again.
  private static func noteMissedCopies(_ selector: ResolvedSelector, _ report: HookEngine.Report, _ patch: Environment) {
    let reported = Set(report.doubts.lazy.filter { if case .inlined = $0.doubt { true } else { false } }.map(\.selector))
    var counts: [String: Int] = [:]
    for (image, family) in zip(selector.images, selector.families) where !reported.contains(family.selector) {
      counts[family.selector, default: 0] += image.inlinedCopies(of: family) ?? 0
    }
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
      patch.log.note(
        "inlined copies",
        "\(patch.fileName): \(count) inlined cop\(count == 1 ? "y" : "ies") of '\(name)' \(count == 1 ? "is" : "are") not reached by its hooks")
    }
  }

  // MARK: Handles

  /// Those a handle stands for: they were made together.
  private static func tokens(_ handle: SHLValue, _ patch: Environment) -> [HookToken] {
    if handle.h.b == batchMark { return batch(handle, patch)?.tokens ?? [] }
    return (handle.h.a..<(handle.h.a + handle.h.b)).map { HookToken(id: $0) }
  }

  static let toString: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let handle = callback[0]
      let batch = batch(handle, patch)
      let isWaiting = batch?.isWaiting ?? false
      return callback.done("hook (\(tokens(handle, patch).count) installed, \(batch?.refused.count ?? 0) refused\(isWaiting ? ", waiting" : ""))")
    }
  }

  private enum Field: Int32 { case installed, refused }

  /// `h.installed`: the functions that are hooked; `h.refused`: those that are not, each `{ selector = …, reason = … }`.
  static let index: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let handle = callback[0]
      switch Field(rawValue: callback.raw.pointee.field) {
      case .installed:
        let names = tokens(handle, patch).compactMap { HookEngine.shared.selector(of: $0) }
        return table(names, callback) { name, set in
          var name = name
          return name.withUTF8 { set(shl_string($0.baseAddress, $0.count)) }
        }
      case .refused:
        return table(batch(handle, patch)?.refused ?? [], callback) { each, set in
          let row = Row(callback.scope, fields: 2)
          row.text("selector", each.selector)
          row.text("reason", each.reason.description)
          return set(row.table)
        }
      case nil:
        let name = callback.name ?? ValueBridge.shown(callback[1])
        return callback.fail("'\(name)' is no member of a hook; it has installed, refused, remove(), enable(), disable(), describe()")
      }
    }
  }

  /// A table with what `add` gives to `set` for each element.
  private static func table<Element>(
    _ elements: [Element], _ callback: LuaCallback, _ add: (Element, _ set: (SHLValue) -> SHLStatus) -> SHLStatus
  ) -> Int32 {
    let table = shl_table_new(callback.scope, Int32(elements.count), 0)
    for (index, element) in elements.enumerated() {
      let mark = shl_mark(callback.scope)
      let status = add(element) { shl_table_set_at(callback.scope, table, Int64(index + 1), $0) }
      shl_drop(callback.scope, mark)
      if status != SHL_OK { return callback.fail("out of memory") }
    }
    return callback.done(table)
  }

  /// `h:remove()`: true when it was installed, or waited.
  private static let remove: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let wait = batch(callback[0], patch)?.stopWaiting() ?? false
      let tokens = tokens(callback[0], patch)
      for change in tokens.flatMap(HookEngine.shared.changesElsewhere) {
        patch.log.note("changed elsewhere", "\(patch.fileName): \(change)")
      }
      return callback.done(shl_bool(HookEngine.shared.remove(tokens) > 0 || wait))
    }
  }

  /// `h:enable()`, `h:disable()`: true when it is installed.
  private static let enable: SHLFunction = { context, callback in withPatch(context, callback) { set(true, $0, $1) } }
  private static let disable: SHLFunction = { context, callback in withPatch(context, callback) { set(false, $0, $1) } }
  private static func set(_ isEnabled: Bool, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    callback.done(shl_bool(patch.installation.setEnabled(isEnabled, tokens(callback[0], patch))))
  }

  /// `h:describe()`: a line for each installed hook.
  private static let describe: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let lines = tokens(callback[0], patch).compactMap(HookEngine.shared.info).map(\.description)
      return callback.done(lines.isEmpty ? "not installed" : lines.joined(separator: "\n"))
    }
  }

  /// One table of the list.
  private struct Row {
    let scope: UnsafeMutablePointer<SHLScope>
    let table: SHLValue

    init(_ scope: UnsafeMutablePointer<SHLScope>, fields: Int32) {
      self.scope = scope
      table = shl_table_new(scope, 0, fields)
    }

    func set(_ name: String, _ value: SHLValue) {
      _ = name.withCString { shl_table_set_field(scope, table, $0, name.utf8.count, value) }
    }
    func text(_ name: String, _ text: String) {
      var copy = text
      copy.withUTF8 { bytes in set(name, shl_string(bytes.baseAddress, bytes.count)) }
    }
  }

  /// What a table of the list may have.
  static let rowNames = [
    "selector", "position", "owner", "group", "scope", "back_end", "why_not_entry", "priority", "calls", "once", "enabled", "waiting", "landed",
  ]

  /// `hooks()`: all that are installed in the process, as tables; behind them what is waited for.
  private static let list: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let scope = callback.scope
      var infos = HookEngine.shared.list()
      var waits = HookEngine.shared.waits()
      if callback.count > 0 {
        guard let text = callback.text(0) else {
          return callback.fail("'hooks' takes a selector or a glob, got \(ValueBridge.describe(callback[0]))")
        }
        // What is not there may be waited for.
        var names: Set<String> = [text]
        if case .success(let found) = SelectorLookup.resolve(text, suggesting: false) {
          names.formUnion(found.map(\.1.selector))
          // Overloads share their name.
          let keys = Set(found.map(\.1.key))
          infos = infos.filter { keys.contains($0.key) }
        } else {
          infos = infos.filter { $0.selector == text }
        }
        callback.spent()
        waits = waits.filter { names.contains($0.selector) }
      }
      let table = shl_table_new(scope, Int32(infos.count + waits.count), 0)
      for (index, info) in infos.enumerated() {
        let entry = Row(scope, fields: 12)
        entry.text("selector", info.selector)
        entry.text("position", info.position)
        entry.text("owner", info.owner)
        if let group = info.group { entry.text("group", group) }
        entry.text("scope", info.scope.description)
        entry.text("back_end", info.backEnd.rawValue)
        if let reason = info.whyNotEntry { entry.text("why_not_entry", reason) }
        entry.set("priority", shl_int(Int64(info.priority)))
        entry.set("calls", shl_int(Int64(clamping: info.calls)))
        entry.set("once", shl_bool(info.isOnce))
        entry.set("enabled", shl_bool(info.isEnabled))
        if let limitation = info.limitation { entry.text("limited", limitation) }
        entry.set("waiting", shl_bool(false))
        if shl_table_set_at(scope, table, Int64(index + 1), entry.table) != SHL_OK { return callback.fail("out of memory") }
      }
      for (index, wait) in waits.enumerated() {
        let entry = Row(scope, fields: 5)
        entry.text("selector", wait.selector)
        entry.text("owner", wait.owner)
        if let group = wait.group { entry.text("group", group) }
        entry.set("waiting", shl_bool(!wait.hasLanded))
        entry.set("landed", shl_int(Int64(wait.hooks.count)))
        if shl_table_set_at(scope, table, Int64(infos.count + index + 1), entry.table) != SHL_OK { return callback.fail("out of memory") }
      }
      return callback.done(table)
    }
  }
}

extension HookEngine.Report {
  /// What is said behind the number of hooks.
  var rest: String {
    let byTables = chosen.isEmpty ? "" : ", \(chosen.count) not by entry"
    return ", \(refused.count) refused" + (partialCount == 0 ? "" : ", \(partialCount) in part") + byTables
  }

  /// Notes what the hooks do not see.
  func tellReach(_ patch: Environment) {
    let parts = Dictionary(partial.map { ($0.selector, (hooked: $0.hooked, of: $0.of)) }) { ($0.hooked + $1.hooked, $0.of + $1.of) }
    for (name, part) in parts.sorted(by: { $0.key < $1.key }) {
      patch.log.note("hooked in part", "\(patch.fileName): \(part.hooked) of \(part.of) bodies of '\(name)' are hooked; see explain")
    }
    Self.tell(
      "back end",
      chosen.map {
        "'\($0.selector)' is hooked by \($0.backEnd.rawValue), not by entry: "
          + "\($0.instead)\($0.isPartial ? "; see explain for calls that it misses" : "")"
      }, patch)
    Self.tell("hooked in part", doubts.filter(\.doubt.isProven).map { "hooks on '\($0.selector)' \($0.doubt.sentence)" }, patch)
    tellUnproven(patch)
    Self.tell("hooked in part", mayMiss.map { "hooks on '\($0)' may miss \($1)" }, patch)
  }

  /// Overloads share their name: what is the same for several of them is said once.
  private static func tell(_ kind: FieldName, _ sentences: [String], _ patch: Environment) {
    var counts: [String: Int] = [:]
    for sentence in sentences { counts[sentence, default: 0] += 1 }
    for sentence in sentences {
      guard let count = counts.removeValue(forKey: sentence) else { continue }
      patch.log.note(kind, "\(patch.fileName): \(sentence)\(count == 1 ? "" : " (\(count) functions of that name)")")
    }
  }

  /// Of an image, and so the same for all hooks on it: once.
  func tellUnproven(_ patch: Environment) {
    for case .inliningUnknown(let image, let why) in unproven where patch.tellsDoubt(of: image) {
      patch.log.note("hooks not proven", "\(patch.fileName): it is not known which calls were inlined, which hooks miss: \(image) \(why)")
    }
    for (selector, doubt) in doubts {
      guard case .mergingUnknown(let image) = doubt, patch.tellsDoubt(of: image + " merged") else { continue }
      patch.log.note("hooks not proven", "\(patch.fileName): hooks on '\(selector)', and on other generic functions, \(doubt.sentence)")
    }
  }
}
