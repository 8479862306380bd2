// TraceJSON — a call as one JSON object on one line, written when it ends.
//
// Written piece by piece, not as a JSONValue: it is made in the midst of each call. Numbers, Bools, texts and nil are JSON's own; every
// other value is the text that a trace for people shows.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
private import SwiftMangling

struct TraceJSON {
  let text: TraceText
  let pid: Int32 = getpid()

  init(_ text: TraceText) { self.text = text }

  /// What is known when a call begins: `"args":[…]`, and `"self":…` where it is wanted.
  func beginning(_ target: TraceTarget, _ view: CallView) -> String {
    let plan = view.plan
    var line = ""
    if text.settings.showsSelf, let owner = text.owner(plan, view) {
      line += ",\"self\":"
      EventText.append(json: owner, to: &line)
    }
    line += ",\"args\":["
    for (index, argument) in plan.arguments.enumerated() {
      if index > 0 { line += "," }
      line += "{\"label\":"
      EventText.append(json: argument.label ?? "_", to: &line)
      line += ",\"type\":"
      EventText.append(json: argument.type.description(qualified: true), to: &line)
      if text.printer.isSecret(argument.label ?? "") {
        line += ",\"value\":\"<masked>\""
      } else {
        append("value", argument.location, argument.info, view, isResult: false, &line)
      }
      line += "}"
    }
    return line + "]"
  }

  /// - Parameters:
  ///   - call: as it was noted when it began.
  ///   - elapsed: nil where its end is not seen.
  func line(_ target: TraceTarget, _ view: CallView, _ thread: TraceThread, _ call: TraceThread.Open, elapsed: UInt64?) -> String {
    var line = "{\"kind\":\"call\",\"pid\":\(pid),\"thread\":\(thread.number),\"thread_name\":"
    EventText.append(json: thread.name, to: &line)
    let task = hkt_async_task_number()
    if task != 0 { line += ",\"task\":\(task)" }
    line += ",\"id\":\(call.id)"
    if let parent = thread.open.last { line += ",\"parent\":\(parent.id)" }
    line += ",\"selector\":"
    EventText.append(json: target.family.selector, to: &line)
    line += ",\"depth\":\(thread.open.count),\"time_ns\":\(call.time)" + call.text
    guard let elapsed else { return line + "}\n" }
    line += ",\"mono_ns\":\(hkt_now_ns() - elapsed),\"duration_ns\":\(elapsed)"
    if view.didThrow {
      line += ",\"error\":"
      EventText.append(json: text.error(view), to: &line)
    } else if !view.plan.result.type.isVoid {
      let result = view.plan.result
      append("result", result.location, result.info, view, isResult: true, &line)
      if target.family.imported != nil, view.saysFailure { line += ",\"errno\":\(view.errno)" }
    }
    return line + "}\n"
  }

  /// `,"name":value`; what is not known is null, and `"name_unknown":true` is beside it.
  private func append(
    _ name: String, _ location: Location, _ info: TypeInfo?, _ view: CallView, isResult: Bool, _ line: inout String
  ) {
    var value = ""
    var isKnown = false
    switch location {
    case .optimizedOut, .unknown: break
    default:
      if let info { isKnown = view.reader.withMemory(location, info, isResult: isResult) { append($0, info, &value) } != nil }
    }
    line += ",\"\(name)\":" + (isKnown ? value : "null,\"\(name)_unknown\":true")
  }

  /// Appends the value at `memory` as JSON; as a text where it is no number, Bool or nothing.
  private func append(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ line: inout String) {
    var shown = ""
    switch info.kind {
    case .optional(let payload):
      switch info.metadata.enumTag(memory) {
      case 0: return append(memory, payload, &line)
      case .some: line += "null"; return
      case nil: break
      }
    case .void: line += "null"; return
    case .bool, .integer:
      text.printer.print(memory, info, into: &line)
      return
    case .float(let bits):
      // JSON has no infinity.
      let isFinite = bits == 32 ? memory.loadUnaligned(as: Float.self).isFinite : memory.loadUnaligned(as: Double.self).isFinite
      if isFinite { text.printer.print(memory, info, into: &line); return }
    case .string:
      StringBits.withUTF8(memory.loadUnaligned(as: UInt64.self), memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) { append($0, &line) }
      return
    default: if info.withPieceOfText(memory, { append($0, &line) }) != nil { return }
    }
    text.printer.print(memory, info, into: &shown)
    EventText.append(json: shown, to: &line)
  }

  /// Appends a text, cut at the limit.
  private func append(_ bytes: UnsafeRawBufferPointer, _ line: inout String) {
    var shown = min(bytes.count, text.printer.limits.string)
    while shown > 0, shown < bytes.count, bytes[shown] & 0xC0 == 0x80 { shown -= 1 }
    let cut = shown < bytes.count ? "… (\(bytes.count) B)" : ""
    EventText.append(json: String(decoding: bytes[..<shown], as: UTF8.self) + cut, to: &line)
  }
}
