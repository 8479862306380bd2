// guard-cases — guards switched on by the program itself: messages by name from Swift code, observations. Exit status 0 when all hold.
import Checks
import HookRuntime
import HookSubjects
import ScriptHost
import Glibc
import Synchronization

final class Hits: Sendable {
  private let list = Mutex<[GuardHit]>([])
  func add(_ hit: GuardHit) { list.withLock { $0.append(hit) } }
  func take() -> [GuardHit] {
    list.withLock { list in
      defer { list = [] }
      return list
    }
  }
}
let hits = Hits()
CrashGuards.onHit { hits.add($0) }

func isUnknown(_ body: () throws -> Void) -> Bool {
  do { try body() } catch CallError.noMember { return true } catch { print("another error: \(error)") }
  return false
}

let account = Account(owner: "a")

// MARK: E1

check(isUnknown { try Message.send("nothing(_:)", to: account, 1) }, true, "E1 off: an error is thrown")
check(hits.take().count, 0, "E1 off: nothing is recorded")
let contain = try CrashGuards.enable(.unknownSelector)
let text: String = try Message.send("nothing(_:)", to: account, 1)
check(text, "", "E1 stub: the neutral value of a text")
let number: Int = try Dynamic(account).count()
check(number, 0, "E1 stub: of a number, through Dynamic")
let list: [String] = try Dynamic(account).pages()
check(list, [], "E1 stub: of an array")
let maybe: String? = try Dynamic(account).other()
check(maybe, nil, "E1 stub: of an Optional")
Dynamic(account).nothing = 3
check(try Message.send("nothing", to: Account.self) == nil, true, "E1 stub: the type's side")
let found = hits.take()
check(found.map(\.selector).prefix(2), ["HookSubjects.Account.nothing(_:)", "HookSubjects.Account.count()"], "E1: type and selector are recorded")
check(found.last?.selector, "static HookSubjects.Account.nothing", "E1: and the type's side")
check(found.allSatisfy { $0.site.hasPrefix("main + ") || $0.site.contains("guard_cases") }, true, "E1: with who sent it: \(found.map(\.site))")
let forward = Messages(Account.self).forward(to: account)
check(isUnknown { try Message.send("nothing(_:)", to: Account(owner: "b"), 1) }, false, "E1 forward: the target gets it, and has no such member either")
check(hits.take().count, 1, "E1 forward: one hit, not two")
forward.remove()
let whole = Messages(Account.self).forward { _, message in .answered(message.selector) }
check(try Message.send("nothing(_:)", to: account, 1), "nothing(_:)", "E1 full forwarding comes before the stub")
check(hits.take().count, 0, "E1 full forwarding is no hit")
whole.remove()
check(contain.remove(), true, "E1: it is switched off")
let report = try CrashGuards.enable(.unknownSelector, mode: .report)
check(isUnknown { try Message.send("nothing(_:)", to: account, 1) }, true, "E1 report: the error is thrown")
check(hits.take().first?.outcome, "the error was thrown", "E1 report: and recorded")
report.remove()
var settings = GuardSettings()
settings.modules = ["Elsewhere"]
let elsewhere = try CrashGuards.enable(.unknownSelector, settings)
check(isUnknown { try Message.send("nothing(_:)", to: account, 1) }, true, "E1 scope: code of other modules is left alone")
elsewhere.remove()

// MARK: E2

let observation = try CrashGuards.enable(.observation)
func count(_ change: PropertyChange<String>) { told.add(1, ordering: .relaxed) }
let told = Atomic<Int>(0)
var observer: Account? = Account(owner: "observer")
let first = try Hooks(account).observe("owner", owner: observer) { (change: PropertyChange<String>) in count(change) }
let second = try Hooks(account).observe("owner", owner: observer) { (change: PropertyChange<String>) in count(change) }
account.owner = "b"
check(told.load(ordering: .relaxed), 1, "E2 double add: told once")
check(hits.take().map(\.problem), ["the same observer observes the same property of it already"], "E2 double add: recorded")
let another = Account(owner: "another")
let third = try Hooks(account).observe("owner", owner: another) { (change: PropertyChange<String>) in count(change) }
account.owner = "c"
check(told.load(ordering: .relaxed), 3, "E2: another observer is none")
check(second.end(), true, "E2 removal: by either of the two")
check(first.end(), false, "E2 removal without record: has no effect")
check(hits.take().map(\.problem), ["it was ended before"], "E2 removal without record: recorded")
let late = try Hooks(account).observe("owner", owner: observer) { (change: PropertyChange<String>) in count(change) }
observer = nil
account.owner = "d"
check(told.load(ordering: .relaxed), 4, "E2: an observer that has ended is told nothing")
check(late.end(), false, "E2: it ended with its observer")
var mortal: Account? = Account(owner: "m")
let dead = try Hooks(mortal!).observe("owner", owner: another) { (change: PropertyChange<String>) in count(change) }
mortal = nil
_ = dead.end()
check(hits.take().count, 0, "E2: what ends with either side is no mistake")
check(third.end(), true, "E2: the others go on")
observation.remove()
let plain = try Hooks(account).observe("owner", owner: another) { (change: PropertyChange<String>) in count(change) }
let twice = try Hooks(account).observe("owner", owner: another) { (change: PropertyChange<String>) in count(change) }
told.store(0, ordering: .relaxed)
account.owner = "e"
check(told.load(ordering: .relaxed), 2, "E2 off: each is told")
check(plain.end() && twice.end(), true, "E2 off: and each is ended")

// MARK: E7

/// Objects that are ended one after another, with an address of each.
final class Row {
  private var living: [SecondOffice] = []
  let addresses: [Unmanaged<SecondOffice>]
  init(_ count: Int) {
    living = (0..<count).map { _ in SecondOffice() }
    addresses = living.map(Unmanaged.passUnretained)
  }
  @inline(never) func end() { living.removeFirst() }
}

/// Releases the first two objects once more than they may be, which is recorded when they leave the quarantine.
/// - Returns: the hits after the end of each further object.
func leave(_ settings: GuardSettings, _ count: Int) throws -> [Int] {
  let zombies = try CrashGuards.enable(.zombies, settings)
  defer { zombies.remove() }
  let row = Row(count)
  row.end()
  row.end()
  for address in row.addresses.prefix(2) { address.release() }
  _ = hits.take()
  return (2..<count).map { _ in
    row.end()
    return Int(zombies.hits)
  }
}
var bounded = GuardSettings()
bounded.types = ["HookSubjects.SecondOffice"]
bounded.objectLimit = 10
check(try leave(bounded, 13), [0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2], "E7: over nine tenths of the count the oldest is freed, one for each")
check(hits.take().map(\.problem).first, "the object was released 1 time after its end", "E7: and what was released too often is recorded then")
bounded.objectLimit = 1000
bounded.byteLimit = 4 * 16
check(try leave(bounded, 8), [0, 0, 1, 2, 2, 2], "E7: over the bytes, too: four objects of 16")
_ = hits.take()
var accounts = GuardSettings()
accounts.types = ["HookSubjects.Account"]
let zombies = try CrashGuards.enable(.zombies, accounts)
var short: Account? = Account(owner: "short")
let old = Unmanaged.passUnretained(short!)
check(short!.owner, "short", "E7: while it lives it answers")
short = nil
check(old._withUnsafeGuaranteedRef { $0.owner }, "", "E7: then the neutral value")
let called = hits.take()
check(called.map(\.problem), ["called on an object of HookSubjects.Account that has ended"], "E7: which is recorded")
check(called.first?.selector.hasPrefix("HookSubjects.Account.owner"), true, "E7: with the function: \(called)")
zombies.remove()

// MARK: E8

/// On another thread.
func elsewhere(_ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  pthread_create(&thread, nil, { Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body(); return nil }, Unmanaged.passRetained(Box(body)).toOpaque())
  pthread_join(thread, nil)
}
let sale: @Sendable () -> Void = { _ = buy(3, at: FirstOffice()) }
var windows = GuardSettings(mode: .report)
windows.methods = ["HookSubjects.buy(_:at:)"]
let before = CrashGuards.hits(.mainThread)
let main = try CrashGuards.enable(.mainThread, windows)
sale()
check(main.hits, 0, "E8: on the main thread it is no hit")
elsewhere(sale)
check(main.hits, 1, "E8: elsewhere it is")
check(hits.take().map(\.selector), ["HookSubjects.buy(_:at:)"], "E8: the listener is told")
check(CrashGuards.hits(.mainThread), before + 1, "hits of a guard, whoever enabled it")
check(CrashGuards.disable(.mainThread), true, "disable ends what Swift code has enabled")
check(CrashGuards.disable(.mainThread), false, "and tells that there is nothing left")
check(main.remove(), false, "as does the handle")
elsewhere(sale)
check(hits.take().count, 0, "off: nothing is told")
func problem(_ guarded: CrashGuard, _ settings: GuardSettings = GuardSettings()) -> String {
  do throws(GuardProblem) { try CrashGuards.enable(guarded, settings).remove() } catch { return error.description }
  return ""
}
check(problem(.zombies).contains("needs 'types'"), true, "zombies without types: \(problem(.zombies))")
check(problem(.mainThread).contains("needs 'methods'"), true, "main thread without methods: \(problem(.mainThread))")

print(failures == 0 ? "guard cases hold" : "\(failures) wrong")
exit(failures == 0 ? 0 : 1)
