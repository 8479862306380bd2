// Tracer — `scripthost trace`: every call of the matched selectors, as lines or as a table. Needs no script.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
private import SwiftMangling
internal import Synchronization

/// One traced selector: what its lines say and what its calls added up to.
final class TraceTarget: @unchecked Sendable {
  // The counters are atomic; the rest never changes.
  let tracer: Tracer
  let family: Family
  /// `PrettyPrinter.printToken` — the name up to the labels.
  let title: String
  let suffix: String
  let calls = Atomic<UInt64>(0)
  let errors = Atomic<UInt64>(0)
  let total = Atomic<UInt64>(0)
  let selfTime = Atomic<UInt64>(0)
  let longest = Atomic<UInt64>(0)
  let timed = Atomic<Bool>(false)

  init(tracer: Tracer, family: Family) {
    self.tracer = tracer
    self.family = family
    let declaration = family.declaration
    var title = declaration.isStatic ? "static " : ""
    if family.imported != nil { title += "C." }
    if let context = declaration.context { title += context.steps.map(\.name).joined(separator: ".") + "." }
    title += declaration.name
    self.title = title
    switch declaration.kind {
    case .getter: suffix = ".get"
    case .setter: suffix = ".set"
    case .modify, .modify2: suffix = ".modify"
    case .read, .read2: suffix = ".read"
    case .willSet: suffix = ".willSet"
    case .didSet: suffix = ".didSet"
    default: suffix = ""
    }
  }
}

/// The trace state of one thread: the calls that have begun and not ended.
struct TraceThread {
  struct Open {
    var text: String
    var printed: Bool
    var began: UInt64
    var children: UInt64
    var call: UInt
  }
  var open: [Open] = []
  var name: String
}

package final class Tracer: @unchecked Sendable {
  // `targets` and `report` change only before the program runs; threads keep their own state.
  package let settings: TraceSettings
  private let output: TraceOutput
  private let printer: ValuePrinter
  private var targets: [TraceTarget] = []
  private var threadKey = pthread_key_t()
  /// What calls of async functions began with, by call, until their line is written. For the JSON format only.
  private let asyncArguments = Mutex<[UInt: String]>([:])

  package init(settings: TraceSettings, isSecret: @escaping @Sendable (String) -> Bool) {
    self.settings = settings
    output = TraceOutput(path: settings.output)
    var limits = PrintLimits()
    limits.string = settings.stringLimit
    printer = ValuePrinter(limits: limits, isSecret: isSecret)
    pthread_key_create(&threadKey) { Unmanaged<ThreadBox>.fromOpaque($0!).release() }
  }

  /// Thread-local storage through a class, so that the key's destructor can free it.
  private final class ThreadBox {
    var state: TraceThread
    init(_ state: TraceThread) { self.state = state }
  }

  private func withThread<R>(_ body: (inout TraceThread) -> R) -> R {
    if let known = pthread_getspecific(threadKey) {
      // Only this thread's records; set below.
      return body(&Unmanaged<ThreadBox>.fromOpaque(known).takeUnretainedValue().state)
    }
    let box = ThreadBox(TraceThread(name: Self.threadName()))
    pthread_setspecific(threadKey, Unmanaged.passRetained(box).toOpaque())
    return body(&box.state)
  }

  private static func threadName() -> String {
    let tid = hkt_thread().map { $0.pointee.tid } ?? 0
    return tid == getpid() ? "main" : "\(tid)"
  }

  // MARK: Installing

  /// Hooks what the patterns match; answers the first line of the trace.
  package func start() throws(TraceError) {
    var found: [(ImageCatalog, Family)] = []
    let excluded = settings.exclude.map { SelectorPattern($0) }
    for text in settings.match {
      let matched = ProcessCatalog.shared.families(matching: SelectorPattern(text))
      if matched.isEmpty { throw .nothingMatched(pattern: text, nearest: NearestNames.selectors(to: text)) }
      found += matched
    }
    found.removeAll { pair in
      let declaration = pair.1.declaration
      return excluded.contains { $0.matches(pair.1.selector, isStatic: declaration.isStatic, typed: { [pair.1.typedSelector] }) }
    }
    if found.isEmpty { throw .allExcluded }
    let report = HookEngine.shared.install(found.map { HookRequest(image: $0, family: $1) }) { family in
      let target = TraceTarget(tracer: self, family: family)
      targets.append(target)
      let declaration = family.declaration
      let isAsync = declaration.functionType.isAsync || declaration.isAsyncAccessor
      // A call of an async function ends on another thread than it began: it notes its own time.
      let phases = family.isBeforeOnly ? HKT_ON_ENTER : HKT_ON_ENTER | HKT_ON_EXIT | (isAsync ? HKT_TIMED : 0)
      return LayerSpec(
        function: traceLayer, context: Unmanaged.passRetained(target).toOpaque(),
        phases: UInt32(phases), readsValues: !settings.summaryOnly, owner: "trace"
      ) { Unmanaged<TraceTarget>.fromOpaque($0!).release() }
    }
    let partial = report.partial.isEmpty ? "" : ", \(report.partial.count) in part"
    output.write(
      "\(report.matched) matched, \(report.tokens.count) hooked, \(report.refused.count) refused\(partial)\(report.refused.isEmpty || settings.showRefusals ? "" : " (--why)")\n"
    )
    if settings.showRefusals {
      for (selector, reason) in report.refused { output.write("  refused \(selector): \(reason)\n") }
      for part in report.partial { output.write("  \(part.hooked) of \(part.of) bodies of \(part.selector)\n") }
    }
  }

  // MARK: A call

  fileprivate func enter(_ target: TraceTarget, _ view: CallView, observable: Bool) {
    target.calls.wrappingAdd(1, ordering: .relaxed)
    if view.plan.isAsync { return enterAsync(target, view) }
    withThread { thread in
      if settings.summaryOnly {
        if observable {
          thread.open.append(.init(text: "", printed: true, began: hkt_ticks(), children: 0, call: UInt(bitPattern: view.call)))
        }
        return
      }
      guard thread.open.count < settings.depth else {
        if observable {
          thread.open.append(.init(text: "", printed: true, began: hkt_ticks(), children: 0, call: UInt(bitPattern: view.call)))
        }
        return
      }
      if settings.format == .bytes {
        output.write(TraceBytes(view, printer).entry(of: target.family.selector))
        if observable {
          thread.open.append(.init(text: "", printed: true, began: hkt_ticks(), children: 0, call: UInt(bitPattern: view.call)))
        }
        return
      }
      if settings.format == .json {
        let arguments = jsonArguments(view)
        if observable {
          thread.open.append(.init(text: arguments, printed: true, began: hkt_ticks(), children: 0, call: UInt(bitPattern: view.call)))
        } else {
          output.write(json(target, view, thread, arguments: arguments, nil, nil))
        }
        return
      }
      let text = describe(target, view)
      if settings.slowerThanNanoseconds == 0 { announceParents(&thread) }
      if observable {
        thread.open.append(.init(text: text, printed: false, began: hkt_ticks(), children: 0, call: UInt(bitPattern: view.call)))
      } else {
        line(thread, thread.open.count, text)
      }
    }
  }

  /// A line of its own: what the thread does next is not within this call.
  private func enterAsync(_ target: TraceTarget, _ view: CallView) {
    if settings.summaryOnly { return }
    withThread { thread in
      guard thread.open.count < settings.depth else { return }
      if settings.format == .bytes { return output.write(TraceBytes(view, printer).entry(of: target.family.selector)) }
      if settings.format == .json { return asyncArguments.withLock { $0[UInt(bitPattern: view.call)] = jsonArguments(view) } }
      guard settings.slowerThanNanoseconds == 0 else { return }
      let text = describe(target, view)
      announceParents(&thread)
      line(thread, thread.open.count, text + "  (async)")
    }
  }

  private func exitAsync(_ target: TraceTarget, _ view: CallView) {
    let elapsed = hkt_call_duration_ns(view.call)
    let didThrow = view.didThrow
    if didThrow { target.errors.wrappingAdd(1, ordering: .relaxed) }
    // Most of it may have been waiting: no time of its own is told.
    target.total.wrappingAdd(elapsed, ordering: .relaxed)
    target.longest.raise(to: elapsed)
    target.timed.store(true, ordering: .relaxed)
    // Where its results are is no place that a debugger sees.
    if settings.summaryOnly || settings.format == .bytes { return }
    let arguments = settings.format == .json ? asyncArguments.withLock { $0.removeValue(forKey: UInt(bitPattern: view.call)) } : nil
    if elapsed < settings.slowerThanNanoseconds { return }
    withThread { thread in
      if settings.format == .json {
        guard let arguments else { return }
        return output.write(json(target, view, thread, arguments: arguments, elapsed, didThrow ? errorText(view) : nil))
      }
      guard thread.open.count < settings.depth else { return }
      announceParents(&thread)
      let head = pad("} " + target.title + target.suffix, to: 44 - 2 * min(thread.open.count, 12))
      line(
        thread, thread.open.count,
        head + "  " + Self.duration(elapsed) + (didThrow ? "  !! " + errorText(view) : result(target, view)) + "  (async)")
    }
  }

  fileprivate func exit(_ target: TraceTarget, _ view: CallView) {
    if view.plan.isAsync { return exitAsync(target, view) }
    withThread { thread in
      // Calls that ended by a jump over their frame left entries behind.
      while let last = thread.open.last, last.call != UInt(bitPattern: view.call) { thread.open.removeLast() }
      guard let call = thread.open.popLast() else { return }
      let elapsed = hkt_ticks_to_ns(hkt_ticks_since(call.began))
      if let parent = thread.open.indices.last { thread.open[parent].children += elapsed }
      let didThrow = view.didThrow
      if didThrow { target.errors.wrappingAdd(1, ordering: .relaxed) }
      target.total.wrappingAdd(elapsed, ordering: .relaxed)
      target.selfTime.wrappingAdd(elapsed > call.children ? elapsed - call.children : 0, ordering: .relaxed)
      target.longest.raise(to: elapsed)
      target.timed.store(true, ordering: .relaxed)
      if settings.summaryOnly || thread.open.count >= settings.depth || elapsed < settings.slowerThanNanoseconds { return }
      if settings.format == .bytes { return output.write(TraceBytes(view, printer).exit(of: target.family.selector)) }
      if settings.format == .json {
        return output.write(json(target, view, thread, arguments: call.text, elapsed, didThrow ? errorText(view) : nil))
      }
      var outcome = ""
      if didThrow { outcome = "  !! " + errorText(view) } else { outcome = result(target, view) }
      let head = call.printed ? "} " + target.title + target.suffix : call.text
      line(thread, thread.open.count, pad(head, to: 44 - 2 * min(thread.open.count, 12)) + "  " + Self.duration(elapsed) + outcome)
    }
  }

  /// Calls whose first inner call begins now get their opening line.
  private func announceParents(_ thread: inout TraceThread) {
    for index in thread.open.indices where !thread.open[index].printed {
      line(thread, index, thread.open[index].text + " {")
      thread.open[index].printed = true
    }
  }

  private func line(_ thread: TraceThread, _ depth: Int, _ text: String) {
    output.write(pad(thread.name, to: 6) + String(repeating: "  ", count: min(depth, 64)) + text + "\n")
  }

  private func pad(_ text: String, to width: Int) -> String {
    let missing = width - text.count
    return missing > 0 ? text + String(repeating: " ", count: missing) : text
  }

  static func duration(_ ns: UInt64) -> String {
    func fixed(_ value: Double, _ unit: String) -> String {
      let tenths = Int(value * 10 + 0.5)
      return tenths >= 100 ? "\((tenths + 5) / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
    let value = Double(ns)
    let text =
      switch ns {
      case ..<1000: "\(ns) ns"
      case ..<1_000_000: fixed(value / 1e3, "us")
      case ..<1_000_000_000: fixed(value / 1e6, "ms")
      default: fixed(value / 1e9, "s")
      }
    return text.count < 7 ? String(repeating: " ", count: 7 - text.count) + text : text
  }

  // MARK: Values

  private func describe(_ target: TraceTarget, _ view: CallView) -> String {
    var text = target.title
    let plan = view.plan
    let hasList: Bool =
      switch target.family.declaration.kind {
      case .getter, .modify, .read, .modify2, .read2: !plan.arguments.isEmpty
      default: true
      }
    if hasList {
      text += "("
      for (index, argument) in plan.arguments.enumerated() {
        if index > 0 { text += ", " }
        let label = argument.label ?? ""
        if !label.isEmpty { text += label + ": " }
        if printer.isSecret(label) { text += "<masked>"; continue }
        append(argument.location, argument.info, view, isResult: false, argument.isInout, &text)
      }
      text += ")"
    }
    return text + target.suffix
  }

  private func append(_ location: Location, _ info: TypeInfo?, _ view: CallView, isResult: Bool, _ isInout: Bool, _ text: inout String) {
    switch location {
    case .optimizedOut: text += "<optimized out>"
    case .unknown: text += "?"
    default:
      guard let info else { text += "?"; return }
      if isInout { text += "&" }
      if view.reader.withMemory(location, info, isResult: isResult, { printer.print($0, info, into: &text) }) == nil { text += "?" }
    }
  }

  private func errorText(_ view: CallView) -> String {
    guard let thrown = view.plan.thrownValue else { return ValuePrinter.error(view.thrownError) }
    var text = ""
    append(thrown.location, thrown.info, view, isResult: true, false, &text)
    return text
  }

  private func result(_ target: TraceTarget, _ view: CallView) -> String {
    let result = view.plan.result
    if result.type.isVoid { return "" }
    var text = " -> "
    append(result.location, result.info, view, isResult: true, false, &text)
    if target.family.imported != nil, view.saysFailure { text += " errno \(view.errno)" }
    return text
  }

  // MARK: JSON

  /// One call as one object on one line, written when the call ends.
  private func json(_ target: TraceTarget, _ view: CallView, _ thread: TraceThread, arguments: String, _ elapsed: UInt64?, _ error: String?)
    -> String
  {
    var line = "{\"selector\":"
    EventText.append(json: target.family.selector, to: &line)
    line += ",\"thread\":"
    EventText.append(json: thread.name, to: &line)
    line += ",\"depth\":\(thread.open.count),\"args\":[\(arguments)]"
    if let elapsed {
      line += ",\"mono_ns\":\(hkt_now_ns() - elapsed),\"duration_ns\":\(elapsed)"
      if let error {
        line += ",\"error\":"
        EventText.append(json: error, to: &line)
      } else if !view.plan.result.type.isVoid {
        line += ",\"result\":" + jsonValue(view.plan.result.location, view.plan.result.info, view, isResult: true)
      }
    }
    return line + "}\n"
  }

  private func jsonArguments(_ view: CallView) -> String {
    view.plan.arguments.map { argument in
      var text = "{\"label\":"
      EventText.append(json: argument.label ?? "_", to: &text)
      text += ",\"type\":"
      EventText.append(json: argument.type.description(qualified: true), to: &text)
      let value =
        printer.isSecret(argument.label ?? "") ? "\"<masked>\"" : jsonValue(argument.location, argument.info, view, isResult: false)
      return text + ",\"value\":\(value)}"
    }.joined(separator: ",")
  }

  /// null where the value is not known, otherwise its text as in a text trace.
  private func jsonValue(_ location: Location, _ info: TypeInfo?, _ view: CallView, isResult: Bool) -> String {
    if case .unknown = location { return "null" }
    var text = ""
    append(location, info, view, isResult: isResult, false, &text)
    var out = ""
    EventText.append(json: text, to: &out)
    return out
  }

  // MARK: Summary

  /// The table of `-c`; called when the program ends.
  package func finish() {
    guard settings.summaryOnly else { return }
    let called = targets.filter { $0.calls.load(ordering: .relaxed) > 0 }
      .sorted {
        ($0.selfTime.load(ordering: .relaxed), $0.calls.load(ordering: .relaxed)) > (
          $1.selfTime.load(ordering: .relaxed), $1.calls.load(ordering: .relaxed)
        )
      }
    let all = max(1, called.reduce(0) { $0 + $1.selfTime.load(ordering: .relaxed) })
    var text = "% self       self      total       mean        max      calls   errors  selector\n"
    func column(_ value: String, _ width: Int) -> String { String(repeating: " ", count: max(1, width - value.count)) + value }
    for target in called {
      let calls = target.calls.load(ordering: .relaxed)
      let own = target.selfTime.load(ordering: .relaxed)
      let total = target.total.load(ordering: .relaxed)
      let timed = target.timed.load(ordering: .relaxed)
      let share = Int(Double(own) * 1000 / Double(all) + 0.5)
      let errors = target.errors.load(ordering: .relaxed)
      text += column("\(share / 10).\(share % 10)", 6)
      for value in [own, total, total / max(1, calls), target.longest.load(ordering: .relaxed)] {
        text += column(timed ? Self.duration(value).trimmingSpaces() : "-", 11)
      }
      text += column("\(calls)", 11) + column(errors == 0 ? "" : "\(errors)", 9) + "  " + target.family.selector + "\n"
    }
    let calls = called.reduce(0) { $0 + $1.calls.load(ordering: .relaxed) }
    text += "\(calls) calls of \(called.count) selectors; \(targets.count - called.count) were not called\n"
    output.write(text)
  }
}

extension String {
  func trimmingSpaces() -> String { String(drop { $0 == " " }) }
}

extension Atomic<UInt64> {
  /// Keeps the larger of the two.
  func raise(to value: UInt64) {
    var known = load(ordering: .relaxed)
    while value > known {
      let (exchanged, original) = weakCompareExchange(expected: known, desired: value, ordering: .relaxed)
      if exchanged { return }
      known = original
    }
  }
}

package enum TraceError: Error {
  case nothingMatched(pattern: String, nearest: [String])
  /// All that matched is left out.
  case allExcluded
}

extension TraceError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .nothingMatched(let pattern, let nearest):
      "no selector matches '\(pattern)'" + (nearest.isEmpty ? "" : "; did you mean \(nearest.map { "'\($0)'" }.joined(separator: ", "))?")
    case .allExcluded: "-x leaves out all that -e matches; nothing is left to trace"
    }
  }
}

/// The layer of every traced selector.
private let traceLayer: HKTLayerFunction = { call, context, phase in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the target that `start` retained for this layer.
  let target = Unmanaged<TraceTarget>.fromOpaque(context).takeUnretainedValue()
  let view = CallView(call)
  if phase == HKT_EXIT {
    target.tracer.exit(target, view)
  } else {
    target.tracer.enter(target, view, observable: call.pointee.layers.pointee.phases & UInt32(HKT_ON_EXIT) != 0)
  }
  return HKT_HANDLED
}
