// Child — starts a program and waits for it; one owner of processes and of what they cost.
import Glibc

struct Child {
  /// What it printed on standard output, when that was asked for.
  var output = ""
  /// Processor time of it and its own children, in milliseconds: what other programs on a busy machine take is not ours.
  var milliseconds = 0.0

  /// Ends the benchmark when the program fails: a figure of a failed run is none.
  static func run(_ command: [String], capture: Bool = true) -> Child {
    var descriptors: [Int32] = [-1, -1]
    guard pipe(&descriptors) == 0 else { fail("no pipe: \(String(cString: strerror(errno)))") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if capture {
      posix_spawn_file_actions_adddup2(&actions, descriptors[1], 1)
    } else {
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    }
    posix_spawn_file_actions_addclose(&actions, descriptors[0])
    posix_spawn_file_actions_addclose(&actions, descriptors[1])
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }

    var child = Child()
    var pid: pid_t = 0
    let code = posix_spawn(&pid, command[0], &actions, nil, &arguments, environ)
    close(descriptors[1])
    guard code == 0 else { fail("'\(command[0])' does not start: \(String(cString: strerror(code)))") }
    child.output = readAll(descriptors[0])
    close(descriptors[0])
    var status: Int32 = 0
    var usage = rusage()
    while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
    child.milliseconds = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
    guard status == 0 else { fail("'\(command.joined(separator: " "))' ended with status \(status)") }
    return child
  }

  private static func readAll(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }

  private static func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e3 + Double(time.tv_usec) / 1e3 }
}
