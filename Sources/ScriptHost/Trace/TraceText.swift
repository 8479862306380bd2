// TraceText — a call as lines for people: its time on the left, what it was given and what it gave.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
private import SwiftMangling

struct TraceText {
  let settings: TraceSettings
  let printer: ValuePrinter

  // MARK: Values

  /// `Cart.add("tea", price: 2.5)`
  func call(_ target: TraceTarget, _ view: CallView) -> String {
    var text = target.title
    let plan = view.plan
    let owner = settings.showsSelf && target.family.imported == nil ? self.owner(plan, view) : nil
    if hasList(target, plan) || owner != nil {
      text += "("
      if let owner { text += "self: " + owner + (plan.arguments.isEmpty ? "" : ", ") }
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

  private func hasList(_ target: TraceTarget, _ plan: CallPlan) -> Bool {
    switch target.family.declaration.kind {
    case .getter, .modify, .read, .modify2, .read2: !plan.arguments.isEmpty
    default: true
    }
  }

  /// Whose method it is; nil for functions of no type.
  func owner(_ plan: CallPlan, _ view: CallView) -> String? {
    switch plan.selfPlan {
    case .none: return nil
    case .unknown: return "?"
    case .object(let place), .metatype(let place):
      let word = view.reader.argumentWord(place)
      guard let object = UnsafeRawPointer(bitPattern: UInt(word)) else { return "nil" }
      var type = object
      // An object begins with its class; a class is the word itself.
      if case .object = plan.selfPlan { type = object.load(as: UnsafeRawPointer.self) }
      let name = (try? TypeResolver.shared.type(of: Metadata(type)).get().name).map(ValuePrinter.short) ?? "?"
      if case .metatype = plan.selfPlan { return name }
      return "<\(name) 0x\(String(word, radix: 16))>"
    case .value(let value):
      var text = ""
      append(value.readable, value.info, view, isResult: false, value.access == .inPlace, &text)
      return text
    }
  }

  func append(_ location: Location, _ info: TypeInfo?, _ view: CallView, isResult: Bool, _ isInout: Bool, _ text: inout String) {
    switch location {
    case .optimizedOut: text += "<optimized out>"
    case .unknown: text += "?"
    default:
      guard let info else { text += "?"; return }
      if isInout { text += "&" }
      if view.reader.withMemory(location, info, isResult: isResult, { printer.print($0, info, into: &text) }) == nil { text += "?" }
    }
  }

  func error(_ view: CallView) -> String {
    var text = ""
    guard let thrown = view.plan.thrownValue else {
      if view.thrownError == 0 { return "<not decoded>" }
      printer.thrown(view.thrownError, into: &text)
      return text
    }
    guard let info = thrown.info else { return "?" }
    let isRead: Void? = view.reader.withMemory(thrown.location, info, isResult: true) { printer.error($0, info, into: &text) }
    return isRead == nil ? "?" : text
  }

  /// ` -> 7`; nothing where there is no result.
  func result(_ target: TraceTarget, _ view: CallView) -> String {
    let result = view.plan.result
    if result.type.isVoid { return "" }
    var text = " -> "
    append(result.location, result.info, view, isResult: true, false, &text)
    if target.family.imported != nil, view.saysFailure { text += " errno \(view.errno)" }
    return text
  }

  func outcome(_ target: TraceTarget, _ view: CallView) -> String {
    if view.didThrow { return painted("  !! " + error(view), 31) }
    return result(target, view)
  }

  // MARK: Lines

  /// Columns: when, how long it took (nothing at its beginning), thread, task, and the text by its depth.
  func line(_ thread: TraceThread, _ depth: Int, _ text: String, took elapsed: UInt64? = nil) -> String {
    var line = ""
    // What is left of the RFC 3339 time is the time of the day.
    if settings.showsTime { line += painted(String(EventText.rfc3339(traceWallTime()).dropFirst(11)), 2) + " " }
    line += painted(elapsed.map(Self.duration) ?? "       ", 2) + "  "
    if settings.showsThread {
      line += thread.name.padded(to: 7) + " "
    } else if !thread.isMain {
      // Lines of several threads come between each other.
      line += painted("[\(thread.name)]", 2) + " "
    }
    if settings.showsTask {
      let task = hkt_async_task_number()
      line += (task == 0 ? "-" : "task \(task)").padded(to: 9) + " "
    }
    return line + String(repeating: "  ", count: min(depth, 64)) + text + "\n"
  }

  private func painted(_ text: String, _ code: Int) -> String { settings.colour ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text }

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
    return text.aligned(to: 7)
  }
}

/// Nanoseconds since 1970.
func traceWallTime() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

extension String {
  func trimmingSpaces() -> String { String(drop { $0 == " " }) }
}
