// Containment — traps that did not end the program: what is reported of them, and what becomes of who was to blame.
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import SwiftMangling
private import Synchronization

/// A trap of the program's that was contained.
struct ContainedTrap {
  let signal: Int32
  /// Of a memory fault: what was accessed.
  let address: UInt64
  /// Where it happened: the instruction, then return addresses, innermost first.
  let frames: [UInt]
  /// What the Swift runtime said; empty where it said nothing, as in optimised code for checks of the compiler.
  let message: String

  init(_ trap: UnsafePointer<HKTTrap>) {
    signal = trap.pointee.signal
    address = trap.pointee.address
    let base = UnsafeRawPointer(trap)
    let places = base + MemoryLayout<HKTTrap>.offset(of: \.frame)!
    let count = min(Int(trap.pointee.frame_count), Int(HKT_TRAP_FRAMES))
    frames = [UInt(trap.pointee.counter)] + (0..<count).map { places.load(fromByteOffset: 8 * $0, as: UInt.self) }
    let length = min(Int(trap.pointee.message_length), Int(HKT_TRAP_MESSAGE))
    message = String(
      decoding: UnsafeRawBufferPointer(start: base + MemoryLayout<HKTTrap>.offset(of: \.message)!, count: length), as: UTF8.self)
  }

  var signalName: String {
    switch signal {
    case SIGILL: "SIGILL"
    case SIGSEGV: "SIGSEGV"
    case SIGBUS: "SIGBUS"
    case SIGFPE: "SIGFPE"
    case SIGABRT: "SIGABRT"
    default: "signal \(signal)"
    }
  }

  /// What went wrong, in words.
  var reason: String {
    if !message.isEmpty { return "\(message) (\(signalName))" }
    return switch signal {
    case SIGSEGV, SIGBUS: "memory at 0x\(String(address, radix: 16)) cannot be accessed (\(signalName))"
    case SIGFPE: "arithmetic that has no result (\(signalName))"
    default: "a check of the compiler failed (\(signalName))"
    }
  }

  /// The innermost function that is not of Swift's own libraries, where its name is known.
  var place: String? {
    _ = ThreadStacks.names(now: [])
    let near = frames.prefix(8)
    let own = near.firstIndex { frame in
      guard let path = ThreadStacks.place(of: frame)?.path else { return false }
      return !path.contains("/libswift") && !path.contains("/libc.so")
    } ?? near.startIndex
    guard let name = ThreadStacks.names(now: Array(near[...own])).last else { return nil }
    // Without the distance from the function's start.
    let words = name.split(separator: " ", omittingEmptySubsequences: false)
    return words.count > 2 && words[words.count - 2] == "+" ? words.dropLast(2).joined(separator: " ") : name
  }
}

enum Containment {
  /// Runs a call that may trap.
  /// - Parameter body: makes it, with the place for its trap.
  /// - Returns: how it trapped; nil: it did not.
  @inline(__always)
  static func catching(_ body: (UnsafeMutablePointer<HKTTrap>) -> Void) -> ContainedTrap? {
    withUnsafeTemporaryAllocation(of: HKTTrap.self, capacity: 1) { place in
      let trap = place.baseAddress!
      // The rest is written when there is a trap.
      trap.pointee.signal = 0
      body(trap)
      return trap.pointee.signal == 0 ? nil : ContainedTrap(trap)
    }
  }

  /// Catches a trap that the thread keeps, so that it can go on to who contains the calls around this one.
  static func catching(
    keptBy thread: UnsafeMutablePointer<HKTThread>, _ body: (UnsafeMutablePointer<HKTTrap>) -> Void
  ) -> ContainedTrap? {
    catching { trap in
      body(trap)
      if trap.pointee.signal != 0 { last(thread).update(from: trap, count: 1) }
    }
  }

  /// The trap that the thread keeps.
  static func last(_ thread: UnsafeMutablePointer<HKTThread>) -> UnsafeMutablePointer<HKTTrap> {
    let script = ScriptThread.of(thread)
    if let trap = script.pointee.trap { return trap }
    // As long as the thread's record, which is for ever.
    let made = UnsafeMutablePointer<HKTTrap>.allocate(capacity: 1)
    made.initialize(to: HKTTrap())
    script.pointee.trap = made
    return made
  }
}

extension Environment {
  /// A call that a script made has trapped: that is reported, and the patch is switched off. A session of the console is notified only, and
  /// so is a text that is being loaded, which fails.
  /// - Returns: the message of the script's error.
  func trapped(_ trap: ContainedTrap, in callable: Callable, _ given: GivenValues) -> String {
    trapped(trap, in: "'\(callable.selector)'", callable.plan, given)
  }

  /// - Parameter function: what was called, as messages name it.
  func trapped(_ trap: ContainedTrap, in function: String, _ plan: CallPlan, _ given: GivenValues) -> String {
    let arguments = given.shown(plan)
    let place = trap.place
    let inside = place.map { "'\($0)'" == function ? "" : " in '\($0)'" } ?? ""
    let text = "\(function), called with (\(arguments)), trapped\(inside): \(trap.reason); the call was left, and what it held is lost"
    log.contained(patch: id, selector: function.filter { $0 != "'" }, position: "call", message: text, signal: trap.signalName, place: place)
    guard gate == nil, didLoad, installation.isLive, installation.setEnabled(false) else { return text }
    trapText.withLock { $0 = "a call to \(function) trapped" }
    log.say("\(fileName): \(text); patch '\(id)' is switched off, and the program runs on without it")
    return text
  }
}
