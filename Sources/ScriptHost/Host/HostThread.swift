// HostThread — the one way to make a thread of the host inside a program.
//
// A thread of ours must not take signals that are meant for the program, and must answer those by which code is changed while
// threads run: one that blocks them makes every hook be refused (CHookTrampoline/Patching/rendezvous.c).
private import CCrash
private import CHookTrampoline
private import Glibc

/// Makes threads that the program does not notice.
package enum HostThread {
  /// What a new thread begins with; it belongs to that thread then.
  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a detached thread that runs `body` and ends. All asynchronous signals are blocked in it but those by which code is
  /// changed; it counts as the host: functions that scripts hook pass through unseen. `body` must not end the thread by other means
  /// than returning. Any thread may call this; the signal mask of the caller is as before afterwards.
  /// - Parameters:
  ///   - name: at most 15 bytes, shown by ps and debuggers.
  ///   - stack: in bytes.
  /// - Returns: 0, or the errno of pthread_create.
  package static func start(_ name: String, stack: Int = 512 << 10, _ body: @escaping @Sendable () -> Void) -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stack)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var blocked = sigset_t()
    hkt_host_thread_mask(&blocked)
    var former = sigset_t()
    // The thread inherits the mask: no signal of the program can come in between.
    pthread_sigmask(SIG_SETMASK, &blocked, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    let start = Unmanaged.passRetained(Start(name, body))
    var thread = pthread_t()
    let status = pthread_create(&thread, &attributes, { HostThread.run($0) }, start.toOpaque())
    if status != 0 { start.release() }
    return status
  }

  /// The first function of a thread of ours.
  private static func run(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // Retained by `start` for this thread.
    let start = Unmanaged<Start>.fromOpaque(start!).takeRetainedValue()
    hkt_name_thread(start.name)
    ccrash_arm_thread()
    guard let thread = hkt_thread() else { return nil }
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    start.body()
    return nil
  }
}
