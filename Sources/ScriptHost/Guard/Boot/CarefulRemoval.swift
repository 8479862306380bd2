// CarefulRemoval — removes what a registered path names, and nothing that is reached through a symbolic link.
private import Glibc
internal import Journal

enum CarefulRemoval {
  /// Why the path may not be registered or cleared; nil when it may.
  /// - Parameter state: the state directory.
  static func refusal(of path: String, state: RawPath?) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    guard path.hasPrefix("/"), !path.contains("\n"), parts.count >= 2, !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
      return "expected an absolute path of at least two parts, without '.', '..', '//' and a '/' at its end"
    }
    // Nobody means these, and what is in them does not come back.
    let kept = [
      ("the home directory", home), ("the program", program),
      ("ScriptHost's own state", state?.description),
    ]
    return kept.first { _, place in place.map { $0 == path || $0.hasPrefix(path + "/") } ?? false }.map { "\($0.0) is in it" }
  }

  /// As the program was started with it: read once, since reading the environment is not safe beside a thread that changes it.
  private static let home = getenv("HOME").map { String(cString: $0) }

  /// The file of the running program, without symbolic links.
  private static var program: String? {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// Removes the file, or all that is in the directory. Answers why not, nil when it is gone or was not there.
  static func clear(_ path: String, state: RawPath?) -> String? {
    if let refusal = refusal(of: path, state: state) { return refusal }
    let parts = path.split(separator: "/").map(String.init)
    var directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(directory) }
    for part in parts.dropLast() {
      let next = openat(directory, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard next >= 0 else { return errno == ENOENT ? nil : "'\(part)' is no directory, or a symbolic link" }
      close(directory)
      directory = next
    }
    let last = parts[parts.count - 1]
    var status = stat()
    guard fstatat(directory, last, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return unlinkat(directory, last, 0) == 0 ? nil : String(cString: strerror(errno))
    case S_IFDIR: return empty(last, in: directory, device: status.st_dev, depth: 0)
    default: return "a symbolic link or special file, expected a file or directory"
    }
  }

  private static func empty(_ name: String, in parent: Int32, device: dev_t, depth: Int) -> String? {
    let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0, depth < 64, let directory = fdopendir(descriptor) else {
      if descriptor >= 0 { close(descriptor) }
      return "'\(name)' cannot be opened"
    }
    defer { closedir(directory) }
    var problem: String?
    while let entry = readdir(directory) {
      // d_name is a C array inside the entry, ended by a NUL.
      let child = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard child != ".", child != ".." else { continue }
      var status = stat()
      guard fstatat(descriptor, child, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        if unlinkat(descriptor, child, 0) != 0 { problem = String(cString: strerror(errno)) }
        continue
      }
      // Another file system was mounted there by somebody.
      guard status.st_dev == device else { problem = "'\(child)' is another file system"; continue }
      problem = empty(child, in: descriptor, device: device, depth: depth + 1) ?? problem
      if unlinkat(descriptor, child, AT_REMOVEDIR) != 0 { problem = problem ?? String(cString: strerror(errno)) }
    }
    return problem
  }
}
