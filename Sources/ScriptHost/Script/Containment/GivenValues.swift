// GivenValues — the arguments that a script gave a call, as a message shows them: short, without secrets.
internal import CLuaShim
internal import HookRuntime
private import Journal
internal import LuaBridge
private import SwiftMangling

/// The values of a callback from position `first` on. Read while the callback runs.
struct GivenValues {
  let callback: LuaCallback
  let first: Int
  let bridge: ValueBridge

  init(_ callback: LuaCallback, first: Int, of patch: Environment) {
    self.callback = callback
    self.first = first
    bridge = ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope)
  }

  private static let longest = 60

  /// Each with its label, its type and its value.
  func shown(_ plan: CallPlan) -> String {
    plan.arguments.enumerated().map { index, argument in
      let label = argument.label.map { "\($0): " } ?? ""
      let isThere = first + index < callback.count
      return label + argument.type.description(qualified: true) + (isThere ? " " + shown(callback[first + index], argument.label ?? "") : "")
    }.joined(separator: ", ")
  }

  private func shown(_ value: SHLValue, _ label: String) -> String {
    if Masking.isSecret(label) { return "<masked>" }
    return switch value.tag {
    case SHL_BOOL: value.b ? "true" : "false"
    case SHL_INT: "\(value.i)"
    case SHL_NUMBER: "\(value.n)"
    case SHL_STRING: Self.quoted(value.bytes)
    default: bridge.describe(value)
    }
  }

  /// The bytes as a text in quotes, cut to the longest that is shown.
  private static func quoted(_ bytes: UnsafeRawBufferPointer) -> String {
    let text = String(decoding: bytes.prefix(4 * longest), as: UTF8.self)
    let isCut = text.count > longest || bytes.count > 4 * longest
    return "\"" + EventText.printable(String(text.prefix(longest))) + (isCut ? "…\"" : "\"")
  }
}
