// Doctor — tells whether ScriptHost can work here, and what to change.
internal import Glibc
internal import HookRuntime
internal import Journal
internal import ScriptHost

extension Subcommand {
  static let doctor = Subcommand(
    name: "doctor",
    summary: "check whether ScriptHost can work here",
    synopsis: "[--debug-dir DIR]… [PROGRAM]",
    description: [
      """
      Checks what ScriptHost needs of the system: its own libraries, Lua, writing code through /proc/self/mem, executable memory files, \
      membarrier, no denied code changes, a place for the journal.
      """,
      """
      With PROGRAM it first checks the program: Swift runtime found and of the right version, symbols, build-id. The checks that need no \
      program run in this process, under the limits it was started with.
      """,
    ],
    options: [.debugDirectory],
    operands: .optional("PROGRAM", .program),
    exitStatuses: [
      .success, ExitStatus(code: "1", meaning: "something is missing; the line says what to change"), .usage,
      ExitStatus(code: "126", meaning: "PROGRAM was refused"), ExitStatus(code: "127", meaning: "PROGRAM was not found"),
    ],
    examples: [
      ("scripthost doctor", "The system alone."),
      ("scripthost doctor swift-format", "The system, and one program."),
    ],
    seeAlso: ["run"]
  ) { arguments in
    var findings: [Finding] = []
    if let name = arguments.operands.first { findings += Doctor.program(try LaunchCheck(ProgramFile(named: name)), arguments.all("--debug-dir")) }
    findings += Doctor.system()
    for finding in findings { Output.line(finding.line) }
    Output.flush()
    return findings.contains { $0.grade == .missing } ? 1 : 0
  }
}

/// One line of the doctor.
struct Finding: Sendable {
  enum Grade: String, Sendable { case ok, note, missing }
  var grade: Grade
  var subject: String
  var fact: String

  var line: String {
    let mark =
      switch grade {
      case .ok: "ok      "
      case .note: "note    "
      case .missing: "missing "
      }
    return mark + subject.padded(to: 18, least: 1) + fact
  }

  static func ok(_ subject: String, _ fact: String) -> Finding { Finding(grade: .ok, subject: subject, fact: fact) }
  static func note(_ subject: String, _ fact: String) -> Finding { Finding(grade: .note, subject: subject, fact: fact) }
  static func missing(_ subject: String, _ fact: String) -> Finding { Finding(grade: .missing, subject: subject, fact: fact) }
}

/// The checks.
enum Doctor {
  /// Facts of a program that was not refused. Types, methods and code pages of the program come
  /// from the registry.
  static func program(_ check: LaunchCheck, _ debugDirectories: [[UInt8]]) -> [Finding] {
    let facts = check.facts
    return [
      .ok("program", check.program.realPath.description),
      facts.buildID.map { .ok("build-id", $0) }
        ?? .note("build-id", "none; patches cannot be pinned to this build, link with --build-id"),
      facts.hasSymbols
        ? .ok("symbols", "yes")
        : SymbolTable(facts.file, options: .init(debugDirectories: debugDirectories.map { String(decoding: $0, as: UTF8.self) })).hasLocalSymbols
        ? .ok("symbols", "in a separate debug file")
        : .note("symbols", "stripped: types are found, methods only by dynamic symbols; keep symbols, or install a debug file"),
      .ok("runtime", "dynamic, matches: \(check.runtime)"),
    ]
      + (facts.sanitizer == "address"
        ? [
          .note(
            "sanitizer",
            """
            built with -sanitize=address: start it with ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:handle_sigtrap=0, or it takes \
            what ScriptHost does for errors
            """)
        ] : [])
  }

  /// Facts of the system.
  static func system() -> [Finding] {
    [
      libraries(), lua(), Kernel.selfMemory(), Kernel.memoryFile(), Kernel.membarrier(), Kernel.denyWriteExecute(),
      Kernel.ptraceScope(), Kernel.seccomp(), journal(),
    ]
  }

  private static func libraries() -> Finding {
    do {
      return .ok("libraries", try InstalledLibraries().boot.parent.description)
    } catch {
      return .missing("libraries", error.sentence)
    }
  }

  private static func lua() -> Finding {
    guard let library = dlopen("liblua5.4.so.0", RTLD_LAZY | RTLD_LOCAL) else {
      return .missing("Lua", "liblua5.4.so.0 is not found; apt-get install liblua5.4-0")
    }
    defer { dlclose(library) }
    return dlsym(library, "luaL_newstate") == nil
      ? .missing("Lua", "liblua5.4.so.0 has no luaL_newstate") : .ok("Lua", "5.4, liblua5.4.so.0")
  }

  private static func journal() -> Finding {
    guard let state = StateDirectory.resolve() else {
      return .note("journal", "no state directory, HOME is not set; events stay in memory, use --state DIR")
    }
    let directory = StateDirectory.journal(in: state)
    // The nearest directory that is there decides; the doctor creates nothing.
    var place = directory
    while place.status() == nil, place.bytes.count > 1 { place = place.parent }
    return place.withCString { access($0, W_OK | X_OK) } == 0
      ? .ok("journal", directory.description)
      : .note("journal", "'\(place)' cannot be written, \(systemMessage(errno)); events stay in memory, use --state DIR")
  }
}

/// What the kernel allows this process.
enum Kernel {
  /// Code is written through /proc/self/mem, also where pages may not be made writable.
  static func selfMemory() -> Finding {
    let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard let page = mmap(nil, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page != MAP_FAILED
    else { return .missing("code pages", "no memory for the check") }
    defer { munmap(page, size) }
    let descriptor = open("/proc/self/mem", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      return .missing(
        "code pages", "/proc/self/mem cannot be opened, \(systemMessage(errno)); mount /proc, or allow it in the container's profile")
    }
    defer { close(descriptor) }
    var mark: UInt8 = 0x5a
    guard pwrite(descriptor, &mark, 1, off_t(Int(bitPattern: page))) == 1, page.load(as: UInt8.self) == mark else {
      return .missing("code pages", "writing through /proc/self/mem is refused; boot without proc_mem.force_override=never")
    }
    return .ok("code pages", "writable through /proc/self/mem")
  }

  /// Trampolines live in a memory file that is mapped twice.
  static func memoryFile() -> Finding {
    guard let function = dlsym(nil, "memfd_create") else { return .missing("trampolines", "no memfd_create; needs Linux 3.17") }
    // The C library's type of memfd_create.
    typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
    let descriptor = unsafeBitCast(function, to: Create.self)("scripthost-doctor", 1)
    guard descriptor >= 0 else {
      return .missing("trampolines", "memfd_create is refused, \(systemMessage(errno)); allow it in the seccomp profile")
    }
    defer { close(descriptor) }
    let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard ftruncate(descriptor, off_t(size)) == 0,
      let page = mmap(nil, size, PROT_READ | PROT_EXEC, MAP_SHARED, descriptor, 0), page != MAP_FAILED
    else { return .missing("trampolines", "executable memory files are refused, \(systemMessage(errno)); set vm.memfd_noexec=0") }
    munmap(page, size)
    return .ok("trampolines", "executable memory file")
  }

  static func membarrier() -> Finding {
    // x86_64 numbers; query answers a mask of commands, 1 << 6 is the registration for SYNC_CORE.
    let mask = systemCall(324, 0, 0)
    return mask >= 0 && mask & (1 << 6) != 0
      ? .ok("membarrier", "SYNC_CORE")
      : .missing(
        "membarrier", "no SYNC_CORE; functions can only be hooked before threads start, use Linux 4.16 or newer or allow membarrier")
  }

  static func denyWriteExecute() -> Finding {
    let flags = systemCall(157, 66, 0)  // prctl(PR_GET_MDWE)
    return flags > 0
      ? .note("hardening", "memory-deny-write-execute is on here; code is written through /proc/self/mem")
      : .ok("hardening", "no memory-deny-write-execute")
  }

  static func ptraceScope() -> Finding {
    guard let text = firstLine("/proc/sys/kernel/yama/ptrace_scope") else { return .ok("ptrace", "not restricted by Yama") }
    return text == "0" || text == "1"
      ? .ok("ptrace", "scope \(text)")
      : .note("ptrace", "scope \(text): debuggers cannot attach; run and trace do not need it")
  }

  static func seccomp() -> Finding {
    let mode = lines("/proc/self/status").first { $0.hasPrefix("Seccomp:") }?.split(separator: "\t").last ?? "0"
    return mode == "0"
      ? .ok("seccomp", "no filter")
      : .note("seccomp", "a filter is active (mode \(mode)); the checks above ran under it")
  }

  /// `syscall(2)` with two arguments, as a function of fixed arity: it reads its arguments from
  /// registers, whether declared or not.
  private static func systemCall(_ number: Int, _ first: Int, _ second: Int) -> Int {
    guard let function = dlsym(nil, "syscall") else { return -1 }
    typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int
    // syscall(2) takes up to six words after the number; unused ones are zero.
    return unsafeBitCast(function, to: Call.self)(number, first, second, 0, 0, 0)
  }

  private static func firstLine(_ path: String) -> String? { lines(path).first.map(String.init) }

  private static func lines(_ path: String) -> [Substring] {
    String(decoding: RawPath(path).contents(limit: 16_384), as: UTF8.self).split(separator: "\n")
  }
}
