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
    let arguments = plan.arguments.map { argument in
      value(argument.location, argument.info, argument.type, isResult: false, name: argument.label ?? "", isInout: argument.isInout)
    }
    return line("entry", selector, [JSONValue.Member("self", owner), JSONValue.Member("args", .array(arguments))])
  }

  /// `{"at":"return",…,"result":{…}}`, or `"threw":true` instead of the result.
  func exit(of selector: String) -> String {
    if view.didThrow { return line("return", selector, [JSONValue.Member("threw", true)]) }
    if plan.result.type.isVoid { return line("return", selector, []) }
    let result = value(plan.result.location, plan.result.info, plan.result.type, isResult: true, name: "", isInout: false)
    return line("return", selector, [JSONValue.Member("result", result)])
  }

  private func line(_ moment: String, _ selector: String, _ members: [JSONValue.Member]) -> String {
    // The return address lies below the first stack argument.
    let stack = UInt(bitPattern: view.frame.pointee.stack) - 8
    let head = [
      JSONValue.Member("at", .string(moment)), JSONValue.Member("selector", .string(selector)),
      JSONValue.Member("body", JSONValue(view.call.pointee.site.pointee.body)), JSONValue.Member("stack", JSONValue(stack)),
    ]
    return JSONValue.object(head + members).line + "\n"
  }

  private var owner: JSONValue {
    switch plan.selfPlan {
    case .none: .null
    case .object(let place), .metatype(let place):
      ["place": .string("\(place.notation):8@0"), "bytes": .string(Self.hexadecimal(view.reader.argumentWord(place)))]
    case .value(let value): self.value(value.readable, value.info, value.type, isResult: false, name: "", isInout: false)
    case .unknown(let reason): ["place": .string("?" + reason)]
    }
  }

  /// `{"type":…,"place":…,"inout":…,"bytes":hexadecimal, "??" where a part is gone,"value":text}`.
  private func value(_ location: Location, _ info: TypeInfo?, _ type: TypeSyntax, isResult: Bool, name: String, isInout: Bool) -> JSONValue {
    var bytes: JSONValue?
    var shown: JSONValue?
    if let info, !printer.isSecret(name) {
      _ = view.reader.withParts(location, info, isResult: isResult) { memory in
        bytes = .string((0..<info.size).map { offset in
          location.has(offset: offset, size: 1) ? Self.hexadecimal((memory + offset).load(as: UInt8.self)) : "??"
        }.joined())
        guard location.isWhole else { return }
        var text = ""
        printer.print(memory, info, into: &text)
        shown = .string(text)
      }
    }
    return JSONValue(members:
      ("type", .string(type.description(qualified: true))), ("place", .string(location.notation)), ("inout", isInout ? true : nil),
      ("bytes", bytes), ("value", shown))
  }

  /// Two digits per byte, in the order of memory.
  private static func hexadecimal(_ bits: some FixedWidthInteger) -> String {
    withUnsafeBytes(of: bits.littleEndian) { bytes in
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }
}
