// Writes a journal in a process of its own, for the tests that kill it. Compiled with the
// sources of Journal. Arguments: what to do, the directory, the limit of its size.
internal import Dispatch
internal import Glibc

@main
struct Writer {
  static func main() {
    let words = CommandLine.arguments
    let identity = JournalIdentity(program: RawPath("/bin/writer"), pid: getpid(), bootID: currentBootID(), buildID: "b1")
    var limits = JournalWriter.Limits()
    limits.retry = 10_000_000
    if words.count > 3, let disk = Int(words[3]) { limits.disk = disk }
    let journal = try! JournalWriter(directory: RawPath(words[2]), identity: identity, limits: limits)
    switch words[1] {
    case "forever": forever(journal)
    case "full": full(journal)
    case "full again": fullAgain(journal)
    case "cut": cut(journal, RawPath(words[2]))
    case "fork": fork(journal)
    default: exit(2)
    }
  }

  @discardableResult
  static func write(_ journal: JournalWriter, _ number: Int) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { buffer in
      var fields = FieldWriter("tick", into: buffer)
      fields.add("number", number)
      fields.add("text", "some text that is long enough to fill units quickly")
      return journal.append(.event, fields) != nil
    }
  }

  /// Writes on three threads; once each has written, the main thread's numbers go to stdout after their append, so
  /// that the parent knows what must be there.
  static func forever(_ journal: JournalWriter) -> Never {
    for _ in 0..<2 { startThread(journal) }
    for _ in 0..<2 { hasWritten.wait() }
    var number = 0
    while true {
      write(journal, number)
      var told = UInt64(number)
      _ = Glibc.write(1, &told, 8)
      number += 1
    }
  }

  /// Signalled by each thread after its first append.
  private static let hasWritten = DispatchSemaphore(value: 0)

  private static func startThread(_ journal: JournalWriter) {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        let journal = Unmanaged<JournalWriter>.fromOpaque(context!).takeUnretainedValue()
        Writer.write(journal, -1)
        Writer.hasWritten.signal()
        var number = -2
        while true { Writer.write(journal, number); number -= 1; usleep(10) }
      }, Unmanaged.passRetained(journal).toOpaque())
  }

  /// Runs into a file size limit of zero, which stands for a full disk, and out of it again.
  static func full(_ journal: JournalWriter) {
    signal(SIGXFSZ, SIG_IGN)
    var number = 0, dropped = 0
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    let before = limit.rlim_cur
    limit.rlim_cur = 0
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    while dropped < 100 {
      if !write(journal, number) { dropped += 1 }
      number += 1
    }
    limit.rlim_cur = before
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    usleep(20_000)
    for _ in 0..<10 { write(journal, number); number += 1 }
    print(journal.dropped, number)
  }

  /// Does what `full` does, with so many records before that the limit of the journal's size is reached: nothing new is needed then.
  static func fullAgain(_ journal: JournalWriter) {
    signal(SIGXFSZ, SIG_IGN)
    for number in 0..<50_000 { write(journal, number) }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    let before = limit.rlim_cur
    limit.rlim_cur = 0
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    for number in 50_000..<100_000 { write(journal, number) }
    limit.rlim_cur = before
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    print(journal.dropped)
  }

  /// Cuts the oldest file short when there are some: writing to its mapping would end the process.
  static func cut(_ journal: JournalWriter, _ directory: RawPath) {
    for number in 0..<50_000 { write(journal, number) }
    let files = JournalFile.list(in: directory).sorted { $0.lastComponent.lexicographicallyPrecedes($1.lastComponent) }
    files[0].withCString {
      chmod($0, 0o600)
      truncate($0, 5000)
    }
    for number in 50_000..<100_000 { write(journal, number) }
    print(files.count, journal.dropped)
  }

  /// A forked child must not write into its parent's units.
  static func fork(_ journal: JournalWriter) {
    write(journal, 1)
    typealias Fork = @convention(c) () -> Int32
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
    let child = fork()
    if child == 0 { _exit(write(journal, 666) ? 1 : 0) }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    write(journal, 2)
    print(status)
  }
}
