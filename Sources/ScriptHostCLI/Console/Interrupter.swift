// Interrupter — Ctrl-C in a console.
internal import Glibc
internal import Journal
private import Synchronization

/// Has Ctrl-C stop the snippet: a thread of the command takes the signal and asks by a connection of its own.
final class Interrupter: @unchecked Sendable {
  // The connection belongs to the thread.
  /// Who gets what comes after the session: 0, nobody.
  private static let successor = Atomic<Int32>(0)

  /// From now on Ctrl-C is for the process.
  static func forward(to process: pid_t) { successor.store(process, ordering: .relaxed) }

  private let connection: ControlConnection
  private let session: Int64

  init(_ process: HostedProcess, _ session: Int64) throws(Failure) {
    connection = try ControlConnection(process)
    self.session = session
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    CommandThread.start { self.wait() }
  }

  private func wait() {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    while true {
      var signal: Int32 = 0
      sigwait(&set, &signal)
      let successor = Self.successor.load(ordering: .relaxed)
      if successor != 0 {
        kill(successor, SIGINT)
        continue
      }
      _ = try? connection.ask("console.interrupt", [.init("session", .int(session))])
    }
  }

  func end() {}
}
