// TraceThread — the calls of one thread that have begun and not ended, and the time that passed in them.
//
// What ScriptHost itself does on the thread is no time of the program's: each thread's record counts it (`host_ticks`), and calls
// take off what was added while they ran.
private import CHookTrampoline
internal import Glibc

/// The trace state of one thread.
struct TraceThread {
  /// A call that has begun.
  struct Open {
    /// The line it begins with, or its arguments as JSON.
    var text = ""
    /// Nothing is left to be written when calls in it begin.
    var isPrinted = true
    let call: UInt
    let id: UInt64
    /// Nanoseconds since 1970; 0 where nobody asks.
    var time: UInt64 = 0
    private var began: UInt64 = 0
    private var host: UInt64 = 0
    /// Spent in traced calls inside.
    var children: UInt64 = 0

    init(_ call: UInt, id: UInt64) {
      self.call = call
      self.id = id
    }

    /// The call goes on in the program: from now on its time counts.
    mutating func start() {
      host = TraceThread.hostTicks
      began = hkt_ticks()
    }

    /// Nanoseconds since it began, without those of the host, when the host's work of the moment began at that tick.
    func elapsed(at now: UInt64) -> UInt64 {
      let ticks = now > began ? now - began : 0, host = TraceThread.hostTicks &- host
      return ticks > host ? hkt_ticks_to_ns(ticks - host) : 0
    }
  }
  var open: [Open] = []
  let number: Int32
  /// "main", or the number.
  let name: String

  init() {
    number = hkt_thread().map { $0.pointee.tid } ?? 0
    name = number == getpid() ? "main" : "\(number)"
  }

  var isMain: Bool { name == "main" }

  /// Takes the call out, with those in it that were left by a jump over their frames. Nil for one that was never noted.
  mutating func close(_ call: UInt) -> Open? {
    guard let index = open.lastIndex(where: { $0.call == call }) else { return nil }
    let closed = open[index]
    open.removeSubrange(index...)
    return closed
  }

  fileprivate static var hostTicks: UInt64 { hkt_thread().map { $0.pointee.host_ticks } ?? 0 }

  /// Runs work of the host's, to be taken off; it is reported when it began.
  @inline(__always)
  static func hostWork<R>(_ body: (UInt64) -> R) -> R {
    let began = hkt_ticks()
    let thread = hkt_thread()
    let before = thread.map { $0.pointee.host_ticks } ?? 0
    defer {
      // Instead of what was counted meanwhile: that is part of it.
      if let thread { thread.pointee.host_ticks = before &+ hkt_ticks_since(began) }
    }
    return body(began)
  }
}

/// Thread-local storage through a class, so that the key's destructor can free it.
final class TraceThreads: Sendable {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    pthread_key_create(&key) { box in
      // The thread's own stack may be a small one.
      hkt_with_stack({ Unmanaged<Box>.fromOpaque($0!).release() }, box)
    }
    self.key = key
  }

  private final class Box { var state = TraceThread() }

  /// The calling thread's.
  func withCurrent<R>(_ body: (inout TraceThread) -> R) -> R {
    // Only this thread's records; set below.
    if let known = pthread_getspecific(key) { return body(&Unmanaged<Box>.fromOpaque(known).takeUnretainedValue().state) }
    let box = Box()
    pthread_setspecific(key, Unmanaged.passRetained(box).toOpaque())
    return body(&box.state)
  }
}
