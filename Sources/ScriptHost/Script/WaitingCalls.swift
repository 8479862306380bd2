// WaitingCalls — a script's call into the program that does not return: told while it lasts, and woken where it only sleeps.
//
// Nothing can stop a function of the program. What it waits for may end early, though: a sleep, and reading standard input, answer at once
// when a signal comes. A thread of the host looks every quarter of a second, as long as there are such calls.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
private import Journal
private import Synchronization

enum WaitingCalls {
  /// What a call inside another one puts back.
  struct Outer {
    fileprivate var what: UnsafeRawPointer?
    fileprivate var patch: UnsafeRawPointer?
    fileprivate var around: UnsafeRawPointer?
    fileprivate var since: UInt32
    fileprivate var reported: UInt32
    fileprivate var record: UnsafeMutablePointer<HKTWaiting>
  }

  /// A call of the patch into the program begins on this thread. nil: there was no memory to note it.
  static func begin(_ callable: Callable, _ patch: Environment) -> Outer? {
    guard let record = hkt_waiting_here() else { return nil }
    let outer = Outer(
      what: record.pointee.what, patch: record.pointee.patch, around: record.pointee.around, since: record.pointee.since,
      reported: record.pointee.reported, record: record)
    if outer.what != nil { hkt_waiting_end(record) }
    // They live as long as the call, and the watcher keeps the thread in it while it looks.
    record.pointee.what = UnsafeRawPointer(Unmanaged.passUnretained(callable).toOpaque())
    record.pointee.patch = UnsafeRawPointer(Unmanaged.passUnretained(patch).toOpaque())
    let top = ScriptThread.current()?.pointee.top
    record.pointee.around = top.flatMap { $0.pointee.hook as LuaHook? }.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    record.pointee.since = hkt_waiting_now()
    record.pointee.reported = 0
    hkt_waiting_begin(record)
    if !hkt_waiting_is_watched() { watch() }
    return outer
  }

  /// It is over, or was left. True: it took so long that it was reported.
  static func end(_ outer: Outer?) -> Bool {
    guard let outer else { return false }
    let record = outer.record
    hkt_waiting_end(record)
    let isOverdue = record.pointee.reported != 0
    defer { if outer.what != nil { hkt_waiting_begin(record) } }
    record.pointee.what = outer.what
    record.pointee.patch = outer.patch
    record.pointee.around = outer.around
    record.pointee.since = outer.since
    record.pointee.reported = outer.reported
    return isOverdue
  }

  // MARK: The watcher

  private static let tick: UInt32 = 250_000_000
  /// In ticks: when a call is reported and woken, and how long the watcher looks for calls that are not there.
  private static let long: UInt32 = 8, idle = 40

  private static func watch() {
    guard !hkt_waiting_set_watched(true) else { return }
    if HostThread.start("scripthost wait", stack: 256 << 10, { run() }) != 0 { _ = hkt_waiting_set_watched(false) }
  }

  private static func run() {
    var quiet = 0
    while quiet < idle {
      var time = timespec(tv_sec: 0, tv_nsec: Int(tick))
      nanosleep(&time, nil)
      hkt_waiting_advance()
      quiet = lookAtAll() ? 0 : quiet + 1
    }
    // A call that begins now sees that nobody watches, or was seen.
    _ = hkt_waiting_set_watched(false)
    if lookAtAll() { watch() }
  }

  /// True: somebody is in a call.
  private static func lookAtAll() -> Bool {
    var found = false
    var each = hkt_waiting_first()
    while let record = each {
      each = record.pointee.next
      guard hkt_waiting_look(record) else { continue }
      found = true
      let age = hkt_waiting_now() &- record.pointee.since
      if age >= long, look(record, age) { continue }
      hkt_waiting_looked(record)
    }
    return found
  }

  /// True: the record is not ours any more.
  private static func look(_ record: UnsafeMutablePointer<HKTWaiting>, _ age: UInt32) -> Bool {
    guard let what = record.pointee.what, let patch = record.pointee.patch else { return false }
    // Alive while the record is looked at: see `begin`.
    let environment = Unmanaged<Environment>.fromOpaque(patch).takeUnretainedValue()
    if record.pointee.reported == 0, environment.didLoad || age >= 4 * long {
      record.pointee.reported = 1
      let callable = Unmanaged<Callable>.fromOpaque(what).takeUnretainedValue()
      let hook = record.pointee.around.map { Unmanaged<LuaHook>.fromOpaque($0).takeUnretainedValue() }
      tell(environment, callable, hook, seconds: age / 4)
    }
    // A patch that is being loaded may wait.
    return environment.didLoad && hkt_waiting_wake(record)
  }

  private static func tell(_ patch: Environment, _ callable: Callable, _ hook: LuaHook?, seconds: UInt32) {
    let place = hook.map { "\($0.source):\($0.line)" } ?? patch.fileName
    let handler = hook.map { " (in \($0.position.rawValue) '\($0.selector)')" } ?? ""
    let message = "'\(callable.selector)' has not returned for \(seconds) s, and the program waits with the script that called it"
    patch.log.say("\(place): \(message)\(handler)")
    patch.log.append(.failure, "call does not return") { fields in
      fields.add("patch", patch.id)
      fields.add("selector", callable.selector)
      if let hook { fields.add("handler", hook.selector) }
      fields.add("message", "\(place): \(message)")
    }
  }
}
