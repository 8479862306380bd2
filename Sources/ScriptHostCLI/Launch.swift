// Launch — puts a program in this command's place, with the host preloaded.
//
// exec keeps what a person sees: process id, terminal, signals, exit status. The
// environment gets two variables at its end; the preload stub takes them out
// again before the program's own code runs.
internal import Glibc
internal import Journal
internal import ScriptHost

/// The two libraries of ScriptHost.
struct InstalledLibraries {
  let preload: RawPath
  let boot: RawPath

  /// Looks in SCRIPTHOST_LIBRARY_PATH, next to this command, and in ../lib/scripthost.
  init() throws(Failure) {
    let directories = Self.directories
    func find(_ name: String) throws(Failure) -> RawPath {
      guard let found = directories.lazy.map({ $0.appending(name) }).first(where: { $0.status() != nil }) else {
        throw .notStarted(
          "\(name) is not in \(directories.map { "'\($0)'" }.joined(separator: ", ")); build with scripts/build, or set SCRIPTHOST_LIBRARY_PATH"
        )
      }
      return found
    }
    preload = try find("libscripthost_preload.so")
    boot = try find("libScriptHostBoot.so")
  }

  /// A file that is installed with this command; nil when it is not there.
  static func find(_ name: String) -> RawPath? { directories.lazy.map { $0.appending(name) }.first { $0.status() != nil } }

  private static var directories: [RawPath] {
    let chosen = getenv("SCRIPTHOST_LIBRARY_PATH").map { String(cString: $0).split(separator: ":").map { RawPath(String($0)) } } ?? []
    guard let own = RawPath("/proc/self/exe").resolved() else { return chosen }
    return chosen.compactMap { $0.resolved() } + [own.parent, own.parent.parent.appending("lib/scripthost")]
  }
}

extension RawPath {
  /// Absolute, without symbolic links; nil when it is not there.
  func resolved() -> RawPath? {
    guard let real = withCString({ realpath($0, nil) }) else { return nil }
    defer { free(real) }
    return RawPath(UnsafeRawBufferPointer(start: real, count: strlen(real)))
  }

  /// Absolute by the working directory; the file need not be there.
  func absolute() -> RawPath {
    if isAbsolute { return self }
    guard let here = getcwd(nil, 0) else { return self }
    defer { free(here) }
    return RawPath(UnsafeRawBufferPointer(start: here, count: strlen(here))).appending(bytes)
  }

  /// The bytes of a file, at most `limit`; empty when it cannot be read. For files of /proc.
  func contents(limit: Int) -> [UInt8] {
    let descriptor = withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    return [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      while count < limit {
        let got = read(descriptor, buffer.baseAddress! + count, limit - count)
        guard got > 0 else { break }
        count += got
      }
    }
  }

  /// "device:inode", as the preload stub compares it.
  fileprivate var identity: String? { status().map { "\($0.st_dev):\($0.st_ino)" } }
}

/// One start of a program.
struct Launch {
  private let check: LaunchCheck
  private let words: [[UInt8]]
  private let libraries: InstalledLibraries
  /// What the host in the program is given; commands add to it.
  var settings = BootSettings()

  /// Finds and checks the program of the command line; nothing is started yet.
  init(_ arguments: Arguments) throws(Failure) {
    words = arguments.program
    check = try LaunchCheck(ProgramFile(named: words[0]))
    libraries = try InstalledLibraries()
    settings.add(.boot, libraries.boot.bytes)
    settings.add(.stub, libraries.preload.bytes)
    settings.add(.target, check.program.realPath.identity ?? "")
    settings.add(.program, check.program.realPath.bytes)
    settings.add(.command, RawPath("/proc/self/exe").identity ?? "")
    if let id = check.facts.buildID { settings.add(.buildID, id) }
    addTerminalFacts()
  }

  private mutating func addTerminalFacts() {
    let isTerminal = isatty(STDERR_FILENO) == 1
    let plain = getenv("NO_COLOR") != nil || getenv("TERM").map { String(cString: $0) } == "dumb"
    settings.add(.colour, isTerminal && !plain ? "yes" : "no")
    var size = winsize()
    if isTerminal, ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      settings.add(.columns, "\(size.ws_col)")
    }
  }

  /// Where the process finds separate debug files, too.
  mutating func addDebugDirectories(_ arguments: Arguments) {
    for directory in arguments.all("--debug-dir") { settings.add(.debugDirectory, RawPath(directory).absolute().bytes) }
  }

  /// Adds the options `run` and `trace` share.
  mutating func addCommonOptions(_ arguments: Arguments) throws(Failure) {
    // An empty path would mean the working directory.
    for option in ["--patches", "--state", "--events", "--debug-dir"] where arguments.all(option).contains([]) {
      throw .usage("'\(option)' has an empty value; name a file or directory, or leave the option out")
    }
    for directory in arguments.all("--patches") {
      let path = RawPath(directory).absolute()
      guard let status = path.status(), status.st_mode & S_IFMT == S_IFDIR || status.st_mode & S_IFMT == S_IFREG else {
        throw .notStarted(
          "--patches: no directory or file '\(EventText.printable(RawPath(directory).description))'; create it or correct the path")
      }
      settings.add(.patches, path.bytes)
    }
    if let state = StateDirectory.resolve(chosen: arguments.path("--state")?.absolute()) {
      settings.add(.state, state.bytes)
      let size = try arguments.size("--journal-size"), age = try arguments.duration("--journal-age")
      if let size {
        guard (1 << 20...1 << 40).contains(size) else { throw .usage("'--journal-size' is from 1MB to 1024GB; found \(size) bytes") }
        settings.add(.journalSize, "\(size)")
      }
      if let age { settings.add(.journalAge, "\(age)") }
      JournalFile.prune(StateDirectory.journal(in: state), bytes: 4 * (size ?? 64 << 20), age: age)
    }
    addDebugDirectories(arguments)
    if let events = arguments.bytes("--events") { settings.add(.events, try eventsDestination(events)) }
    if arguments.has("--verbose") { settings.add(.verbose) }
    if arguments.has("--follow-children") { settings.add(.follow) }
  }

  /// Reads the policy that the command line names, so that a wrong one starts nothing.
  mutating func addPolicy(_ arguments: Arguments) throws(Failure) {
    guard let path = arguments.path("--policy")?.absolute() else { return }
    _ = try PolicyFile.read(path)
    settings.add(.policy, path.bytes)
  }

  private func eventsDestination(_ value: [UInt8]) throws(Failure) -> [UInt8] {
    guard value.starts(with: "fd:".utf8) else { return RawPath(value).absolute().bytes }
    let text = String(decoding: value.dropFirst(3), as: UTF8.self)
    guard let descriptor = Int32(text), descriptor >= 0 else {
      throw .usage("'--events fd:N' needs a descriptor number; found '\(EventText.printable(text))'")
    }
    guard fcntl(descriptor, F_GETFD) >= 0 else {
      throw .usage("'--events fd:\(descriptor)': the descriptor is not open; redirect it, as in \(descriptor)>events.jsonl")
    }
    return value
  }

  // MARK: Exec

  /// Replaces this process; comes back only by throwing.
  consuming func exec() throws(Failure) -> Never {
    let environment = try makeEnvironment()
    let code = check.program.path.withCString { path in
      Child.withCStrings(words) { arguments in
        Child.withCStrings(environment) { variables in
          execve(path, arguments, variables)
          return errno
        }
      }
    }
    let advice = code == E2BIG ? "; its arguments and environment are too long" : ""
    throw .notStarted("'\(check.program.shown)' was not started, \(systemMessage(code))\(advice)")
  }

  /// The caller's environment with LD_PRELOAD and SCRIPTHOST_BOOT; everything else keeps its place.
  private mutating func makeEnvironment() throws(Failure) -> [[UInt8]] {
    let preloadName = Array("LD_PRELOAD=".utf8), settingsName = Array("SCRIPTHOST_BOOT=".utf8)
    var environment = Environment.current.filter { !$0.starts(with: settingsName) }
    let preload = try preloadPath()
    if let place = environment.lastIndex(where: { $0.starts(with: preloadName) }) {
      let previous = Array(environment[place].dropFirst(preloadName.count))
      settings.add(.preload, previous)
      environment[place] = preloadName + preload + (previous.isEmpty ? [] : [UInt8(ascii: ":")] + previous)
    } else {
      environment.append(preloadName + preload)
    }
    let encoded = settings.encoded()
    // The kernel takes 128 KiB for one variable.
    guard encoded.utf8.count < 130_000 else {
      throw .notStarted("the options need \(encoded.utf8.count) bytes, the system takes 130000 in one variable; give fewer or shorter ones")
    }
    return environment + [settingsName + encoded.utf8]
  }

  /// LD_PRELOAD cannot spell blanks, colons or dollars; such a path is passed as a descriptor,
  /// which the stub closes.
  private mutating func preloadPath() throws(Failure) -> [UInt8] {
    let path = libraries.preload
    guard path.bytes.contains(where: { [UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: "$"), 9, 10].contains($0) })
    else { return path.bytes }
    if settings.has(.follow) {
      throw .notStarted(
        "children cannot be followed from '\(path)': LD_PRELOAD cannot spell a path with blanks, ':' or '$'; install ScriptHost elsewhere")
    }
    let descriptor = path.withCString { open($0, O_RDONLY) }
    guard descriptor >= 0 else { throw .notStarted("'\(path)' cannot be opened, \(systemMessage(errno))") }
    settings.add(.close, "\(descriptor)")
    return Array("/proc/self/fd/\(descriptor)".utf8)
  }
}

/// The environment of this process, in its order.
enum Environment {
  static var current: [[UInt8]] {
    var variables: [[UInt8]] = []
    var slot = environ
    while let text = slot.pointee {
      variables.append(Array(UnsafeRawBufferPointer(start: text, count: strlen(text))))
      slot += 1
    }
    return variables
  }
}
