// Tracer — `scripthost trace`: every call of the matched selectors, as lines or as a table. Needs no script.
//
// Owns the calls that are open on each thread, and the traced selectors. How lines look is TraceText's and TraceJSON's, what is said
// before the first TraceHead's, the table TraceTable's.
private import CHookTrampoline
internal import HookRuntime
internal import Journal
private import SwiftMangling
internal import Synchronization

package final class Tracer: @unchecked Sendable {
  // `targets` and `tokens` change only before the program runs; threads keep their own state.
  package let settings: TraceSettings
  private let output: TraceOutput
  private let text: TraceText
  private let json: TraceJSON
  private var targets: [TraceTarget] = []
  private var tokens: [HookToken] = []
  private let threads = TraceThreads()
  private let lastCall = Atomic<UInt64>(0)
  private let isOver = Atomic<Bool>(false)
  /// What calls of async functions began with, by call, until their line is written. For the JSON format only.
  private let asyncCalls = Mutex<[UInt: TraceThread.Open]>([:])

  package init(settings: TraceSettings, isSecret: @escaping @Sendable (String) -> Bool) {
    self.settings = settings
    output = TraceOutput(path: settings.output)
    var limits = PrintLimits.inFull(width: settings.width)
    limits.string = settings.stringLimit
    text = TraceText(settings: settings, printer: ValuePrinter(limits: limits, isSecret: isSecret))
    json = TraceJSON(text)
  }

  // MARK: Beginning and end

  /// Hooks what the patterns match, and writes the first line of the trace.
  package func start() throws(TraceError) {
    let found = try matches()
    let images = Dictionary(found.map { ($0.1.imagePath, $0.0) }) { first, _ in first }
    // Of a few, how they are called is found out before the program begins; of many, most are never called.
    let readsValues = found.count <= Self.plannedAtOnce
    let report = HookEngine.shared.install(found.map { HookRequest(image: $0, family: $1) }) { family in
      let target = TraceTarget(tracer: self, family: family, in: images[family.imagePath])
      targets.append(target)
      // A call of an async function ends on another thread than it began: it notes its own time.
      let phases = family.isBeforeOnly ? HKT_ON_ENTER : HKT_ON_ENTER | HKT_ON_EXIT | (target.hasAsyncCalls ? HKT_TIMED : 0)
      return LayerSpec(traceLayer, keeping: target, phases: UInt32(phases), readsValues: readsValues, owner: "trace")
    }
    tokens = report.tokens.map(\.token)
    let head = TraceHead(report: report, settings: settings)
    output.write(settings.format == .text ? head.text : head.json(JSONValue(json.pid)))
  }

  private static let plannedAtOnce = 512

  /// What the patterns match, each selector of an image once.
  private func matches() throws(TraceError) -> [(ImageCatalog, Family)] {
    var found: [(ImageCatalog, Family)] = []
    var known: Set<MatchKey> = []
    let excluded = settings.exclude.map { SelectorPattern($0) }
    for text in settings.match {
      let matched = ProcessCatalog.shared.families(matching: SelectorPattern(text))
      if matched.isEmpty {
        throw .nothingMatched(
          pattern: text, reason: Absence.reason(text, in: ProcessCatalog.shared.current()), nearest: NearestNames.selectors(to: text))
      }
      found += settings.match.count == 1 ? matched : matched.filter { known.insert(MatchKey($0, $1)).inserted }
    }
    found.removeAll { pair in
      let declaration = pair.1.declaration
      return excluded.contains { $0.matches(pair.1.selector, isStatic: declaration.isStatic, typed: { [pair.1.typedSelector] }) }
    }
    if found.isEmpty { throw .allExcluded }
    return found
  }

  private struct MatchKey: Hashable {
    let image: ObjectIdentifier
    let key: String
    init(_ image: ImageCatalog, _ family: Family) { (self.image, key) = (ObjectIdentifier(image), family.key) }
  }

  /// Ends the trace, the program goes on. Any thread.
  func stop() {
    HookEngine.shared.remove(tokens)
    finish()
  }

  /// Writes the table of `-c`, once: when the trace ends, or the program. Any thread.
  package func finish() {
    guard settings.summaryOnly, !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let table = TraceTable(targets)
    output.write(settings.format == .text ? table.text : table.json(JSONValue(json.pid)))
  }

  // MARK: A call

  /// The call is noted where its end will be seen. True where its clock is to be started.
  fileprivate func enter(_ target: TraceTarget, _ view: CallView, observable: Bool) {
    let isNoted = TraceThread.hostWork { _ in
      if target.receiver?.passesBy(view) == true { return false }
      target.calls.wrappingAdd(1, ordering: .relaxed)
      if view.isAsync {
        beginAsync(target, view)
        return false
      }
      return threads.withCurrent { begin(target, view, &$0, observable) }
    }
    if isNoted { threads.withCurrent { $0.open[$0.open.count - 1].start() } }
  }

  private func noted(_ view: CallView, _ text: String = "", isPrinted: Bool = true) -> TraceThread.Open {
    var open = TraceThread.Open(UInt(bitPattern: view.call), id: lastCall.wrappingAdd(1, ordering: .relaxed).newValue)
    (open.text, open.isPrinted) = (text, isPrinted)
    if settings.format == .json { open.time = traceWallTime() }
    return open
  }

  private func begin(_ target: TraceTarget, _ view: CallView, _ thread: inout TraceThread, _ observable: Bool) -> Bool {
    let isShown = !settings.summaryOnly && thread.open.count < settings.depth
    var call: TraceThread.Open
    switch settings.format {
    case _ where !isShown: call = noted(view)
    case .bytes:
      output.write(TraceBytes(view, text.printer).entry(of: target.family.selector))
      call = noted(view)
    case .json:
      call = noted(view, json.beginning(target, view))
      if !observable { output.write(json.line(target, view, thread, call, elapsed: nil)) }
    case .text:
      call = noted(view, text.call(target, view), isPrinted: false)
      if settings.slowerThanNanoseconds == 0 { announceParents(&thread) }
      if !observable { output.write(text.line(thread, thread.open.count, call.text)) }
    }
    if observable { thread.open.append(call) }
    return observable
  }

  /// A line of its own: what the thread does next is not within this call.
  private func beginAsync(_ target: TraceTarget, _ view: CallView) {
    if settings.summaryOnly { return }
    threads.withCurrent { thread in
      guard thread.open.count < settings.depth else { return }
      switch settings.format {
      case .bytes: output.write(TraceBytes(view, text.printer).entry(of: target.family.selector))
      case .json:
        let call = noted(view, json.beginning(target, view))
        asyncCalls.withLock { $0[UInt(bitPattern: view.call)] = call }
      case .text:
        guard settings.slowerThanNanoseconds == 0 else { return }
        let line = text.call(target, view)
        announceParents(&thread)
        output.write(text.line(thread, thread.open.count, line + "  (async)"))
      }
    }
  }

  fileprivate func exit(_ target: TraceTarget, _ view: CallView) {
    TraceThread.hostWork { now in
      if view.isAsync { return endAsync(target, view) }
      threads.withCurrent { end(target, view, &$0, at: now) }
    }
  }

  private func end(_ target: TraceTarget, _ view: CallView, _ thread: inout TraceThread, at now: UInt64) {
    guard let call = thread.close(UInt(bitPattern: view.call)) else { return }
    let elapsed = call.elapsed(at: now)
    if let parent = thread.open.indices.last { thread.open[parent].children += elapsed }
    target.note(elapsed, own: elapsed > call.children ? elapsed - call.children : 0, didThrow: view.didThrow)
    if settings.summaryOnly || thread.open.count >= settings.depth || elapsed < settings.slowerThanNanoseconds { return }
    switch settings.format {
    case .bytes: output.write(TraceBytes(view, text.printer).exit(of: target.family.selector))
    case .json: output.write(json.line(target, view, thread, call, elapsed: elapsed))
    case .text:
      let head = call.isPrinted ? "} " + target.title + target.suffix : call.text
      output.write(text.line(thread, thread.open.count, head + text.outcome(target, view), took: elapsed))
    }
  }

  private func endAsync(_ target: TraceTarget, _ view: CallView) {
    let elapsed = hkt_call_duration_ns(view.call)
    // Most of it may have been waiting: no time of its own is reported.
    target.note(elapsed, own: nil, didThrow: view.didThrow)
    // Where its results are is no place that a debugger sees.
    if settings.summaryOnly || settings.format == .bytes { return }
    let call = settings.format == .json ? asyncCalls.withLock { $0.removeValue(forKey: UInt(bitPattern: view.call)) } : nil
    if elapsed < settings.slowerThanNanoseconds { return }
    threads.withCurrent { thread in
      if settings.format == .json {
        guard let call else { return }
        return output.write(json.line(target, view, thread, call, elapsed: elapsed))
      }
      guard thread.open.count < settings.depth else { return }
      announceParents(&thread)
      let line = "} " + target.title + target.suffix + text.outcome(target, view) + "  (async)"
      output.write(text.line(thread, thread.open.count, line, took: elapsed))
    }
  }

  /// Calls whose first inner call begins now get their opening line.
  private func announceParents(_ thread: inout TraceThread) {
    for index in thread.open.indices where !thread.open[index].isPrinted {
      output.write(text.line(thread, index, thread.open[index].text + " {"))
      thread.open[index].isPrinted = true
    }
  }
}

package enum TraceError: Error {
  case nothingMatched(pattern: String, reason: Absence?, nearest: [String])
  /// All that matched is left out.
  case allExcluded
}

extension TraceError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .nothingMatched(let pattern, let reason, let nearest):
      "no selector matches '\(pattern)'" + (reason.map { ": \($0)" } ?? "")
        + (nearest.isEmpty ? "" : "; did you mean \(nearest.map { "'\($0)'" }.joined(separator: ", "))?")
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
