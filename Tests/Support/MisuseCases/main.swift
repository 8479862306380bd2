// misuse-cases — each case breaks a rule of the API that cannot be answered by an error, and must end with its message.
//
//   misuse-cases             the names of the cases
//   misuse-cases NAME        breaks one; never comes to an end
//
// Run in child processes by Tests/Programs/misuse, which has the messages.
import ClosureHooks
import Glibc
import HookRuntime
import HookSubjects

/// Something kept that should not be.
final class Kept<Value>: @unchecked Sendable {
  var value: Value?
}

func keptCall() throws {
  let kept = Kept<Hooks<Any>.BeforeCall<Int>>()
  try Hooks.before("HookSubjects.add(_:_:)") { (call: Hooks<Any>.BeforeCall<Int>, a: Int) in kept.value = call }
  _ = add(1, 2)
  print(kept.value!.selector)
}

func callOnOtherThread() throws {
  try Hooks.before("HookSubjects.add(_:_:)") { (call: Hooks<Any>.BeforeCall<Int>, a: Int) in
    let kept = Kept<Hooks<Any>.BeforeCall<Int>>()
    kept.value = call
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { box in
        print(Unmanaged<Kept<Hooks<Any>.BeforeCall<Int>>>.fromOpaque(box!).takeRetainedValue().value!.argumentCount)
        return nil
      }, Unmanaged.passRetained(kept).toOpaque())
    pthread_join(thread, nil)
  }
  _ = add(1, 2)
}

func proceedInBefore() throws {
  _ = try HookEngine.shared.before("HookSubjects.add(_:_:)") { $0.proceed() }
  _ = add(1, 2)
}

func proceedInAfter() throws {
  _ = try HookEngine.shared.after("HookSubjects.add(_:_:)") { $0.proceed() }
  _ = add(1, 2)
}

func keptClosure() throws {
  let kept = Kept<(Line) -> Bool>()
  try Hooks(Cart.self).before("first(where:or:)") { (call, matches: @escaping (Line) -> Bool) in kept.value = matches }
  let line = Line(name: "x", price: 1, quantity: 1)
  _ = Cart.make(1).first(where: { $0.name == "x" }, or: line)
  print(kept.value!(line))
}

func targetGone() throws {
  var office: FirstOffice? = FirstOffice()
  let implementation = try ProtocolImplementation(of: "HookSubjects.TicketOffice") {
    $0.target = office
    $0.holdsTargetWeakly = true
  }
  guard let stand = implementation.as((any TicketOffice).self) else { return print("does not conform") }
  print("with a target:", buy(3, at: stand))
  office = nil
  print(buy(4, at: stand))
}

let cases: [(name: String, body: () throws -> Void)] = [
  ("kept-call", keptCall), ("call-on-other-thread", callOnOtherThread), ("proceed-in-before", proceedInBefore),
  ("proceed-in-after", proceedInAfter), ("kept-closure", keptClosure), ("target-gone", targetGone),
]

guard CommandLine.arguments.count == 2 else {
  for each in cases { print(each.name) }
  exit(0)
}
guard let chosen = cases.first(where: { $0.name == CommandLine.arguments[1] }) else {
  print("no case '\(CommandLine.arguments[1])'")
  exit(2)
}
// No dump of memory, and no report of the runtime's.
var none = rlimit()
setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
do { try chosen.body() } catch { print("error: \(error)") }
print("came to its end")
