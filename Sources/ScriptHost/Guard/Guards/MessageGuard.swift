// MessageGuard — messages by name that nothing answers, and those to NSNull: what they come back with.
//
// A message is asked of members, answers, targets and forwardings first (HookRuntime's Message says in which order). What is left of it
// comes here, from scripts and from Swift code alike; nothing is hooked for it.
internal import HookRuntime
private import SwiftMangling
private import Synchronization

enum MessageGuard {
  /// `unknown_selector` and `null` alike.
  static func begin(_ run: GuardRun) throws(GuardProblem) {
    if run.guarded == .null, NeutralReceiver.nullType == nil {
      run.note("the program has no NSNull so far")
    }
    _ = connection
  }

  private static let connection: Void = {
    Messages.setGuard { message, error in answer(message, error) }
    MessageAPI.guards.withLock { $0 = MessageGuards(areOn: { isOn }, contain: { contains($0) }) }
  }()

  /// Whether calls of members that are not there may come back with something.
  private static func contains(_ receiver: Any) -> Bool {
    GuardRegistry.shared.active(.unknownSelector)?.settings.mode == .contain
      || GuardRegistry.shared.active(.null)?.settings.mode == .contain && NeutralReceiver.isNull(receiver)
  }

  /// Whether one looks at messages at all.
  private static var isOn: Bool { GuardRegistry.shared.active(.unknownSelector) != nil || GuardRegistry.shared.active(.null) != nil }

  private static func answer(_ message: Message, _ error: CallError) -> UnknownMessage {
    let site = GuardSite.of(message.site)
    if NeutralReceiver.isNull(message.receiver), let run = GuardRegistry.shared.active(.null, at: site) {
      if let answer = answer(forNull: message, run, site) { return answer }
    }
    guard let run = GuardRegistry.shared.active(.unknownSelector, at: site) else { return .error }
    let type = message.receiver as? Any.Type ?? Swift.type(of: message.receiver)
    let name = Metadata(type).name
    let selector = message.receiver is Any.Type ? "static \(name).\(message.selector)" : "\(name).\(message.selector)"
    let isContained = run.settings.mode == .contain
    run.hit(
      selector, "nothing of \(name) answers it\(forms(message.selector, type, isStatic: message.receiver is Any.Type))",
      outcome: isContained ? "answered the neutral value of what is wanted" : "the error was thrown", at: site)
    return isContained ? .neutral : .error
  }

  /// Members of that base name, in words.
  private static func forms(_ selector: String, _ type: Any.Type, isStatic: Bool) -> String {
    let base = String(selector.prefix { $0 != "(" && $0 != "." })
    guard case .methods(let selectors)? = CallableLookup.shared.member(base, of: Metadata(type), isStatic: isStatic) else { return "" }
    return "; it has \(selectors.prefix(3).map { "'\($0)'" }.joined(separator: ", "))"
  }

  // MARK: Null

  /// Nil where none of the neutral values can answer.
  private static func answer(forNull message: Message, _ run: GuardRun, _ site: GuardSite.Sender) -> UnknownMessage? {
    for neutral in NeutralReceiver.all {
      guard let value = neutral.make(), let answer = message.answer(ofMemberOf: value, mayCall: { mayCall($0, neutral) }) else { continue }
      let isContained = run.settings.mode == .contain
      run.hit(
        "Foundation.NSNull.\(message.selector)", "a message to NSNull, which does not answer it",
        outcome: isContained ? "answered by \(neutral.words)" : "the error was thrown", at: site)
      return isContained ? answer : .error
    }
    return nil
  }

  /// What is asked of something empty must not trap: nothing is looked up by an index, and nothing is taken out.
  private static func mayCall(_ callable: Callable, _ neutral: NeutralReceiver) -> Bool {
    let declaration = callable.declaration
    if callable.isAsync || callable.hasInout || declaration.isSubscript { return false }
    if callable.argumentCount == 0 { return !["remove", "pop"].contains { declaration.name.hasPrefix($0) } }
    guard neutral.isReference else { return false }
    return !callable.plan.arguments.contains { argument in
      switch argument.info?.name {
      case "Swift.Int"?, "Foundation._NSRange"?: true
      case let name?: name.hasSuffix("IndexSet") || name.contains("Pointer")
      case nil: true
      }
    }
  }
}

/// What answers for NSNull: an empty text, zero, an empty array, an empty dictionary.
private struct NeutralReceiver: Sendable {
  /// What a sentence says behind "answered by".
  let words: String
  /// An object of Foundation's.
  let isReference: Bool
  let make: @Sendable () -> Any?

  /// In the order in which they are asked; Swift's own first, then Foundation's, which code that expects an object there means.
  static let all = [
    NeutralReceiver(words: "\"\"", isReference: false) { "" },
    NeutralReceiver(words: "an empty NSString", isReference: true) { object("Foundation.NSString", "init(string:)", "") },
    NeutralReceiver(words: "0", isReference: false) { 0 },
    NeutralReceiver(words: "an NSNumber of 0", isReference: true) { object("Foundation.NSNumber", "init(integerLiteral:)", 0) },
    NeutralReceiver(words: "[]", isReference: false) { [Any]() },
    NeutralReceiver(words: "an empty NSArray", isReference: true) { object("Foundation.NSArray", "init()") },
    NeutralReceiver(words: "{}", isReference: false) { [AnyHashable: Any]() },
    NeutralReceiver(words: "an empty NSDictionary", isReference: true) { object("Foundation.NSDictionary", "init()") },
  ]

  private static func object(_ type: String, _ initialiser: String, _ arguments: Any?...) -> Any? {
    guard let type = TypeCatalog.shared.descriptor(type)?.metadata() else { return nil }
    return (try? Message(initialiser, arguments, to: type.type).send(to: type.type)) ?? nil
  }

  static var nullType: Metadata? { TypeCatalog.shared.descriptor("Foundation.NSNull")?.metadata() }

  static func isNull(_ receiver: Any) -> Bool { Metadata(type(of: receiver)).name == "Foundation.NSNull" }
}
