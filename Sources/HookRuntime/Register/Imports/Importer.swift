// Importer — an image that calls C functions of others, and whether hooks may stand in its way.
internal import CHookTrampoline
private import Glibc

package struct Importer: Sendable {
  package let path: String
  /// What others need it by, `libcurl.so.4`; of a program the file's name.
  package let name: String
  /// As it lies on disk: `libcurl.so.4.8.0`.
  package let fileName: String
  package let file: ELFFile
  /// Added to the file's addresses.
  package let bias: UInt64
  package let isMainProgram: Bool
  /// False when only the file is read and nothing runs.
  package let isLoaded: Bool
  package let access: Access

  /// Which hooks may change the image's slots.
  package enum Access: Sendable, Equatable {
    case all
    /// It is at work below every hook: only layers that neither allocate nor wait for locks.
    case safeLayers(String)
    /// ScriptHost's own code is in it beside the program's: not what a hook itself needs.
    case allButOwnNeeds
    case never(String)
  }

  init(path: String, file: ELFFile, bias: UInt64, isMainProgram: Bool, isLoaded: Bool, holdsOurCode: Bool = false) {
    self.path = path
    fileName = path.split(separator: "/").last.map(String.init) ?? path
    name = file.soname ?? fileName
    self.file = file
    self.bias = bias
    self.isMainProgram = isMainProgram
    self.isLoaded = isLoaded
    access = Self.access(name, holdsOurCode: holdsOurCode)
  }

  private static func access(_ name: String, holdsOurCode: Bool) -> Access {
    if OurImages.hold(name) { return .never("it is ScriptHost itself") }
    if name.hasPrefix("liblua5.4.") || name.hasPrefix("libZydis.") || name.hasPrefix("libZycore.") {
      return .never("ScriptHost works with it")
    }
    if name.hasPrefix("ld-linux") { return .never("it is the dynamic loader") }
    if holdsOurCode { return .allButOwnNeeds }
    let prefixes = ["libswiftCore.", "libswift_Concurrency.", "libswiftSynchronization.", "libc.so", "libgcc_s.", "libstdc++."]
    if prefixes.contains(where: name.hasPrefix) { return .safeLayers("every hook runs on it") }
    return .all
  }

  /// Tells it from another load of the same file.
  var place: String { path + "@" + String(bias, radix: 16) }

  /// ScriptHost itself or what it works with, never a part of the program.
  var isOurs: Bool { if case .never = access { true } else { false } }

  /// - Parameter images: a glob for names of files, or a path; nil: all.
  func matches(_ images: String?) -> Bool {
    guard let images, images != path else { return true }
    // A star crosses the dots of a file's name.
    let pattern = SelectorPattern(Self.withoutDots(images))
    return [name, fileName].contains { pattern.matches(Self.withoutDots($0), isStatic: false, typed: { [] }) }
  }
  private static func withoutDots(_ text: String) -> String { String(text.map { $0 == "." ? "\u{1}" : $0 }) }

  /// Why no hook, or none but safe ones, may stand before these calls; nil when any may.
  func refusal(of symbol: String, safe: Bool) -> String? {
    switch access {
    case .all: nil
    case .never(let reason): "'\(name)' is left alone: \(reason)"
    case .safeLayers(let reason): safe ? nil : "'\(name)' is left alone by hooks that may allocate memory or wait: \(reason)"
    case .allButOwnNeeds:
      Self.ownNeeds.contains(symbol) ? "'\(name)' holds ScriptHost itself, which calls it on the way to every hook" : nil
    }
  }

  /// What CHookTrampoline calls before a thread is known to be at work for a hook.
  private static let ownNeeds: Set<String> = [
    "malloc", "calloc", "realloc", "free", "posix_memalign", "syscall", "getpid", "pthread_once", "pthread_key_create",
    "pthread_setspecific",
    "pthread_getspecific", "pthread_self", "pthread_mutex_lock", "pthread_mutex_unlock", "__errno_location", "memset", "memcpy", "memmove",
    "pthread_getattr_np", "pthread_attr_getstack", "pthread_attr_destroy", "clock_gettime", "process_vm_readv", "pwrite", "pwrite64",
    "sigaction", "pthread_sigmask", "sched_yield", "getdents64", "mprotect", "open", "open64", "read", "close", "fstat", "fstat64", "fcntl",
    "fcntl64", "mmap", "mmap64", "munmap", "memfd_create", "ftruncate", "ftruncate64", "prctl",
  ]
}
