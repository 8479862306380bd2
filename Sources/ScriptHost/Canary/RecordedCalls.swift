// RecordedCalls — calls of the program's functions as they were made once, with what they were given: to be made again in a child.
private import Glibc
internal import HookRuntime
internal import Journal

/// One call. Its values are texts of PlainValue.
struct RecordedCall: Equatable, Sendable {
  let selector: String
  /// The class of the object it was made on, and its stored properties; nil: it is no method of an object.
  let receiver: (type: String, fields: JSONValue)?
  let arguments: [JSONValue]

  static func == (a: Self, b: Self) -> Bool { a.text == b.text }

  /// One line.
  var text: String {
    var members = [JSONValue.Member("call", .string(selector)), .init("arguments", .array(arguments))]
    if let receiver { members += [.init("type", .string(receiver.type)), .init("fields", receiver.fields)] }
    return JSONValue.object(members).line
  }

  init(_ selector: String, on receiver: (type: String, fields: JSONValue)?, _ arguments: [JSONValue]) {
    (self.selector, self.receiver, self.arguments) = (selector, receiver, arguments)
  }

  init?(_ text: some StringProtocol) {
    guard let value = try? JSONValue(parsing: text.utf8), let selector = value["call"]?.text, let arguments = value["arguments"]?.elements else {
      return nil
    }
    self.init(selector, on: value["type"]?.text.flatMap { type in value["fields"].map { (type, $0) } }, arguments)
  }
}

/// The calls of one build of a program that are kept.
struct RecordedCalls: Sendable {
  static let mostOfOne = 16, most = 256

  private(set) var calls: [RecordedCall] = []
  private var known: Set<String> = []
  private var counts: [String: Int] = [:]

  /// How many more of a function are wanted.
  func room(for selector: String) -> Int { calls.count >= Self.most ? 0 : Self.mostOfOne - (counts[selector] ?? 0) }

  /// False when it is known, or there are enough.
  mutating func add(_ call: RecordedCall) -> Bool {
    guard room(for: call.selector) > 0, known.insert(call.text).inserted else { return false }
    calls.append(call)
    counts[call.selector, default: 0] += 1
    return true
  }

  // MARK: The file

  /// - Parameter program: its absolute path.
  static func place(state: RawPath, program: RawPath) -> RawPath { SummedFile.place(state, "calls", program: program, ending: "calls") }

  private static func title(_ buildID: String) -> String { "calls 1 \(buildID)" }

  init() {}

  /// Those of this build; a file of another build, or a damaged one, has none.
  init(reading path: RawPath, buildID: String) {
    guard let bytes = SummedFile.bytes(of: path), let lines = SummedFile.lines(bytes, title: Self.title(buildID)) else { return }
    for line in lines { if let call = RecordedCall(line) { _ = add(call) } }
  }

  /// False with errno set.
  func write(to path: RawPath, buildID: String) -> Bool {
    let text = ([Self.title(buildID)] + calls.map(\.text)).joined(separator: "\n") + "\n"
    return SummedFile.replace(path, with: SummedFile.sealed(text))
  }
}
