// AddressSpace — whether the program leaves room for the host.
//
// An allocation that fails ends a Swift program, so where the address space is
// limited (`ulimit -v`, LimitAS=) the room is measured before it is needed.
private import Glibc

enum AddressSpace {
  /// What the host maps and allocates with a large program: the files of the program and its
  /// libraries, their indexes, the scripts' memory, the journal.
  private static let needed: UInt64 = 256 << 20

  /// One sentence when a limit leaves too little room; nil when there is enough or no limit.
  static func shortage() -> String? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max, let used = mapped() else {
      return nil
    }
    let left = limit.rlim_cur > used ? UInt64(limit.rlim_cur) - used : 0
    guard left < needed else { return nil }
    return
      "the address space is limited to \(limit.rlim_cur >> 20) MiB and \(left >> 20) MiB are left, ScriptHost needs \(needed >> 20) MiB; "
        + "raise the limit (ulimit -v)"
  }

  /// Bytes of address space in use.
  private static func mapped() -> UInt64? {
    let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      let count = read(descriptor, buffer.baseAddress!, buffer.count)
      let text = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
      guard let pages = UInt64(text.prefix { $0 != " " }) else { return nil }
      return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
  }
}
