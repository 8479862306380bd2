// Child — C arrays for exec, and small helpers that are run for their output.
internal import Glibc
internal import ScriptHost

/// Runs other programs.
enum Child {
  /// NULL-terminated C strings, borrowed until `body` returns.
  static func withCStrings<R>(_ strings: [[UInt8]], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { bytes in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
      for (place, byte) in bytes.enumerated() { copy[place] = CChar(bitPattern: byte) }
      copy[bytes.count] = 0
      return copy
    }
    defer { for pointer in pointers { pointer?.deallocate() } }
    pointers.append(nil)
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
  }

  /// What a command writes to stdout, up to 1 MiB; nil when it cannot be started. stderr is dropped.
  static func output(_ words: [[UInt8]]) -> String? {
    var ends: (Int32, Int32) = (0, 0)
    // The tuple has the layout of int[2].
    let made = withUnsafeMutableBytes(of: &ends) { pipe($0.assumingMemoryBound(to: Int32.self).baseAddress!) }
    guard made == 0 else { return nil }
    defer { close(ends.0) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends.1, 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addclose(&actions, ends.0)
    var process: pid_t = 0
    let code = withCStrings(words) { posix_spawn(&process, $0[0]!, &actions, nil, $0, environ) }
    close(ends.1)
    guard code == 0 else { return nil }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while output.count < 1 << 20 {
      let got = read(ends.0, &buffer, buffer.count)
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      output += buffer[..<got]
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return String(decoding: output, as: UTF8.self)
  }
}

/// A thread of the command's own, which nobody waits for.
final class CommandThread: Sendable {
  private let body: @Sendable () -> Void

  private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  static func start(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    pthread_create(&thread, nil, { context in
      // Retained for the thread.
      Unmanaged<CommandThread>.fromOpaque(context!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(CommandThread(body)).toOpaque())
    pthread_detach(thread)
  }
}
