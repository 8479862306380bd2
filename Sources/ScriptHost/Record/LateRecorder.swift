// LateRecorder — a recorder that is opened with the first thing there is to record.
//
// A program that runs with nothing to record leaves no journal. A patch that is loaded into it later, or a session of the console, has one.
private import Synchronization

/// Any thread; not in signal handlers.
package final class LateRecorder: Sendable {
  private let open: @Sendable () -> Recorder
  private let opened = Mutex<Recorder?>(nil)

  package init(_ open: @escaping @Sendable () -> Recorder) { self.open = open }

  var recorder: Recorder {
    opened.withLock { opened in
      if let opened { return opened }
      let made = open()
      opened = made
      return made
    }
  }
}
