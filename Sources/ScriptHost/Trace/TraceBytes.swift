// TraceBytes — the lines of `trace --format bytes`: where each value of a call is, and which bytes are there.
//
// For comparing with a debugger: the address of the body and the stack pointer tell which entry a line speaks of.
private import CHookTrampoline
internal import HookRuntime
internal import Journal
private import SwiftMangling

/// One call, seen by the layer function it was made in.
struct TraceBytes {
  private let view: CallView
  private let plan: CallPlan
  private let printer: ValuePrinter

  init(_ view: CallView, _ printer: ValuePrinter) {
    self.view = view
    self.printer = printer
    plan = view.plan
  }

  /// `{"at":"entry","selector":…,"body":address,"stack":rsp at entry,"self":{…},"args":[{…}]}` and a line end.
  func entry(of selector: String) -> String {
    var line = head("entry", selector)
    line += ",\"self\":" + (ownerText ?? "null") + ",\"args\":["
    line += plan.arguments.map { argument in
      value(argument.location, argument.info, argument.type, isResult: false, name: argument.label ?? "", isInout: argument.isInout)
    }.joined(separator: ",")
    return line + "]}\n"
  }

  /// `{"at":"return",…,"result":{…}}`, or `"threw":true` instead of the result.
  func exit(of selector: String) -> String {
    var line = head("return", selector)
    if view.didThrow {
      line += ",\"threw\":true"
    } else if !plan.result.type.isVoid {
      line += ",\"result\":" + value(plan.result.location, plan.result.info, plan.result.type, isResult: true, name: "", isInout: false)
    }
    return line + "}\n"
  }

  private func head(_ moment: String, _ selector: String) -> String {
    var line = "{\"at\":\"\(moment)\",\"selector\":"
    EventText.append(json: selector, to: &line)
    // The return address lies below the first stack argument.
    return line + ",\"body\":\(view.call.pointee.site.pointee.body),\"stack\":\(UInt(bitPattern: view.frame.pointee.stack) - 8)"
  }

  private var ownerText: String? {
    switch plan.selfPlan {
    case .none: return nil
    case .object(let place), .metatype(let place):
      return "{\"place\":\"\(place.notation):8@0\",\"bytes\":\"\(Self.hexadecimal(view.reader.argumentWord(place)))\"}"
    case .value(let value): return self.value(value.location, value.info, value.type, isResult: false, name: "", isInout: false)
    case .unknown(let reason):
      var text = "{\"place\":"
      EventText.append(json: "?" + reason, to: &text)
      return text + "}"
    }
  }

  /// `{"type":…,"place":…,"inout":…,"bytes":hexadecimal, "??" where a part is gone,"value":text}`.
  private func value(_ location: Location, _ info: TypeInfo?, _ type: TypeSyntax, isResult: Bool, name: String, isInout: Bool) -> String {
    var text = "{\"type\":"
    EventText.append(json: type.description(qualified: true), to: &text)
    text += ",\"place\":"
    EventText.append(json: location.notation, to: &text)
    if isInout { text += ",\"inout\":true" }
    guard let info, !printer.isSecret(name) else { return text + "}" }
    _ = view.reader.withParts(location, info, isResult: isResult) { memory in
      text += ",\"bytes\":\""
      for offset in 0..<info.size {
        text += location.has(offset: offset, size: 1) ? Self.hexadecimal((memory + offset).load(as: UInt8.self)) : "??"
      }
      text += "\""
      guard location.isWhole else { return }
      var shown = ""
      printer.print(memory, info, into: &shown)
      text += ",\"value\":"
      EventText.append(json: shown, to: &text)
    }
    return text + "}"
  }

  /// Two digits per byte, in the order of memory.
  private static func hexadecimal(_ bits: some FixedWidthInteger) -> String {
    withUnsafeBytes(of: bits.littleEndian) { bytes in
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }
}
