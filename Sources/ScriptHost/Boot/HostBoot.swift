// HostBoot — what happens inside a program between the preload stub and its `main`: the tasks of `BootTasks`, in their order.
//
// Runs on the main thread, before `main`; all constructors have run and the program's types are registered.
internal import CHookTrampoline
private import Glibc
internal import HookRuntime
internal import Journal
private import Synchronization

/// The start of the host inside a program.
package enum HostBoot {
  /// What has to be done when the program ends.
  private static let endings = Mutex<[@Sendable () -> Void]>([])

  /// Starts what the settings ask for. Called once per process, before `main`.
  package static func start(_ settings: BootSettings) { withoutWriteSignals { begin(settings) } }

  private static func begin(_ settings: BootSettings) {
    // Everything below may call functions that scripts hook: they pass through unseen.
    guard let thread = hkt_thread() else { return }
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    var context = BootContext(settings: settings, program: programPath())
    for task in BootTasks.ordered {
      if task.run(&context) == .stop { return }
    }
    let ends = context.endings
    endings.withLock { $0 = ends }
    atexit { HostBoot.finish() }
    // Symbol tables are large, and most hooks need them no more.
    ELFFile.releasePages()
  }

  private static func finish() {
    guard let thread = hkt_thread() else { return }
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    let ended = endings.withLock { endings in
      defer { endings = [] }
      return endings
    }
    for ending in ended { ending() }
  }

  private static func programPath() -> RawPath {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      let count = readlink("/proc/self/exe", buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
      return RawPath(UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)]))
    }
  }
}
