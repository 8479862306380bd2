// JournalWriter — the crash-proof record of what happened in this process.
//
// Records go into mapped files, so everything appended is kept when the process is
// killed: the kernel owns the pages. Each thread writes into a unit of its own; an
// append is a few stores, without a lock, a shared counter or an allocation. Only
// every 32 KiB does a thread take the lock for its next unit, and only then do
// files come and go.
//
// Invariants:
//   1. A unit has one owner: a live thread, or the pool of states of ended threads.
//   2. A segment is mapped while it counts or a unit of it has an owner. One whose time has come
//      is used again for the next segment when no unit of it has an owner.
//   3. Nothing here blocks on a disk that is full or gone: records are dropped,
//      counted, and the gap is marked once writing works again.
//
// A forked child does not write: it shares the mapping, and would write over its
// parent's units. A page the kernel empties in the child tells it apart.
package import Glibc
internal import Synchronization

/// Who writes a journal; goes into every header.
package struct JournalIdentity: Sendable {
  /// Path of the program.
  package var program: RawPath
  package var pid: Int32
  /// /proc/sys/kernel/random/boot_id, empty when unknown.
  package var bootID: String
  /// Hexadecimal, empty when unknown.
  package var buildID: String

  package init(program: RawPath, pid: Int32, bootID: String, buildID: String) {
    self.program = program
    self.pid = pid
    self.bootID = bootID
    self.buildID = buildID
  }
}

/// When a journal was opened, on both clocks, in nanoseconds.
struct JournalStart {
  var wall = clockNanoseconds(CLOCK_REALTIME)
  var monotonic = clockNanoseconds(CLOCK_MONOTONIC)
}

/// Reads a clock; nanoseconds.
@inline(__always)
package func clockNanoseconds(_ clock: clockid_t) -> UInt64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

/// The kernel's number of the calling thread; a system call, so ask once per thread.
package func currentThreadID() -> UInt32 { UInt32(bitPattern: gettidFunction()) }

/// `gettid` as the C library has it; its header shows it only to GNU sources.
private let gettidFunction: @convention(c) () -> Int32 = {
  // The symbol is in glibc since 2.30 with this type.
  guard let symbol = dlsym(nil, "gettid") else { return { getpid() } }
  return unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)
}()

/// What one thread needs to append: its unit and its place in it.
private struct ThreadState {
  /// Start of the segment; nil before the first unit.
  var base: UnsafeMutableRawPointer?
  /// Offset of the next record in the segment.
  var offset = 0
  /// Offset at which the unit ends.
  var end = 0
  var seed: UInt64 = 0
  /// Number of the segment, compared with the oldest that still counts.
  var segment = -1
  var sequence: UInt64 = 0
  var thread: UInt32 = 0
  /// The journal, for the destructor at the end of the thread.
  var owner: Unmanaged<JournalWriter>
}

extension UnsafeMutablePointer<ThreadState> {
  /// On cache lines of its own, pairs of which processors fetch together: another thread writes its state for each record, too.
  fileprivate static func make(_ state: ThreadState) -> Self {
    let size = (MemoryLayout<ThreadState>.stride + 127) / 128 * 128
    let place = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 128).bindMemory(to: ThreadState.self, capacity: 1)
    place.initialize(to: state)
    return place
  }
}

/// A thread's state, as the pool passes it on.
// Unchecked: a state has one owner at a time, the thread it is set for or the pool behind the lock.
private struct StateOwner: @unchecked Sendable {
  let state: UnsafeMutablePointer<ThreadState>
}

/// The journal of this process. All methods may be called from any thread; a journal lives as
/// long as the process, because ended threads hand their units back to it.
// Unchecked: `key`, `alive` and the settings are written in init only; `shared` is a Mutex;
// a ThreadState is touched by its thread, and by the pool only after the thread has ended.
package final class JournalWriter: @unchecked Sendable {
  /// Limits of a journal, in bytes.
  package struct Limits: Sendable {
    /// All segment files of this process together; the oldest is removed first.
    package var disk = 64 << 20
    /// All segments together when there is no directory to write to.
    package var memory = 1 << 20
    /// Files whose records are all older than so many nanoseconds go when the next one is made; nil: they stay.
    package var age: UInt64?
    /// How long to wait, in nanoseconds, before trying a full disk again.
    package var retry: UInt64 = 1_000_000_000
    package init() {}
  }

  private struct Shared: ~Copyable {
    /// All segments that count, oldest first; the last is the current one.
    var segments: [JournalSegment] = []
    /// Segments that no longer count, but of which a thread still owns a unit.
    var retired: [JournalSegment] = []
    /// States of ended threads, for the next threads.
    var pool: [StateOwner] = []
    var nextSegment = 0
    var nextUnit: UInt64 = 0
    /// Dropped records that a gap record tells of.
    var marked: UInt64 = 0
    /// Why the last segment could not be made.
    var lastError: Int32 = 0

    /// The bytes of all segments that count.
    var bytes: Int { segments.reduce(0) { $0 + $1.size } }
  }

  /// Where segments go: "<state>/journal", nil for memory.
  package let directory: RawPath?
  package let identity: JournalIdentity
  private let limits: Limits
  private let about: JournalSegment.About
  private let fileSystem: JournalFileSystem
  private let key: pthread_key_t
  /// 1 in the process that opened the journal; the kernel makes it 0 in a forked child.
  private let alive: UnsafeMutablePointer<UInt64>
  private let shared = Mutex(Shared())
  /// Segments below this number are removed: threads leave their units in them.
  private let oldest = Atomic<Int>(0)
  private let droppedCount = Atomic<UInt64>(0)
  /// Monotonic time before which a failed creation is not tried again.
  private let stalledUntil = Atomic<UInt64>(0)
  private let wallOffset = Atomic<UInt64>(0)
  private let wallChecked = Atomic<UInt64>(0)

  /// Opens a journal. Without a directory it keeps the newest records in memory. Throws when the
  /// directory cannot be used; nothing is left behind then.
  package init(directory: RawPath?, identity: JournalIdentity, limits: Limits = Limits()) throws(JournalError) {
    self.directory = directory
    self.identity = identity
    self.limits = limits
    about = JournalSegment.About(identity: identity, start: JournalStart())
    var key = pthread_key_t()
    guard pthread_key_create(&key, endOfThread) == 0, let alive = Self.pageEmptiedByFork()
    else { throw .noResources }
    self.key = key
    self.alive = alive
    if let directory, !directory.makeDirectories() {
      throw .directoryUnusable(directory.description, systemMessage(errno))
    }
    fileSystem = JournalFileSystem(of: directory)
    let code = shared.withLock { shared in addSegment(&shared) ? 0 : shared.lastError }
    if code != 0 { throw .directoryUnusable(directory?.description ?? "memory", systemMessage(code)) }
    // Ended threads hand their units back at any time, so the journal never goes away.
    _ = Unmanaged.passRetained(self)
  }

  /// A word that is 1, and 0 in a forked child, where its page is emptied; nil where the kernel cannot do that.
  private static func pageEmptiedByFork() -> UnsafeMutablePointer<UInt64>? {
    let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page != MAP_FAILED
    else { return nil }
    let wipeOnFork: Int32 = 18  // MADV_WIPEONFORK, Linux 4.14
    guard madvise(page, size, wipeOnFork) == 0 else { return nil }
    let word = page.bindMemory(to: UInt64.self, capacity: 1)
    word.pointee = 1
    return word
  }

  /// Records dropped because there was no place for them.
  package var dropped: UInt64 { droppedCount.load(ordering: .relaxed) }
  /// Why the last file could not be made, in the system's words; nil where none was refused.
  package var reason: String? {
    let code = shared.withLock { $0.lastError }
    return code == 0 ? nil : systemMessage(code)
  }

  // MARK: Append

  /// Appends a record and answers its sequence number; nil when it was dropped (and counted), or
  /// in a forked child. Not for signal handlers.
  @discardableResult
  package func append(_ kind: RecordKind, _ fields: borrowing FieldWriter) -> UInt64? {
    append(kind, fields.words(), isCut: fields.isCut)
  }

  /// Appends a payload's words, which need no copy of the writer.
  /// - Parameter time: the clock of records now, where it was read already; 0: it is read here.
  package func append(_ kind: RecordKind, _ words: (start: UnsafeRawPointer, count: Int), isCut: Bool, at time: UInt64 = 0) -> UInt64? {
    guard alive.pointee == 1 else { return nil }
    let length = RecordFormat.recordHeaderSize + words.count * 8
    // The key's value is only ever set by acquire(), to a state.
    var state = pthread_getspecific(key)?.assumingMemoryBound(to: ThreadState.self)
    if state == nil || state.unsafelyUnwrapped.pointee.offset + length > state.unsafelyUnwrapped.pointee.end
      || state.unsafelyUnwrapped.pointee.segment < oldest.load(ordering: .relaxed)
    {
      state = acquire(state, length)
    }
    guard let state else { return nil }
    return Self.write(
      kind, flags: isCut ? RecordFormat.flagCut : 0, words: words, length: length,
      monotonic: time != 0 ? time : clockNanoseconds(CLOCK_MONOTONIC), offset: self, into: state)
  }

  /// Stores one record at the state's place; there is room for it.
  @inline(__always)
  private static func write(
    _ kind: RecordKind, flags: UInt8, words: (start: UnsafeRawPointer, count: Int), length: Int,
    monotonic: UInt64, offset journal: JournalWriter, into state: UnsafeMutablePointer<ThreadState>
  ) -> UInt64 {
    let wall = monotonic &+ journal.currentWallOffset(at: monotonic)
    let offset = state.pointee.offset
    let sequence = state.pointee.sequence
    // Moved first: a signal handler that appends on this thread takes the place after this record.
    state.pointee.offset = offset + length
    state.pointee.sequence = sequence + 1

    let record = state.pointee.base.unsafelyUnwrapped + offset
    let about =
      UInt64(kind.rawValue) | UInt64(flags) << 8 | RecordFormat.mark << 16 | UInt64(state.pointee.thread) << 32
    var sum = RecordFormat.Checksum(seed: state.pointee.seed, offset: offset, length: length)
    let payload = record + RecordFormat.recordHeaderSize
    var place = 0
    while place < words.count {
      let word = words.start.loadUnaligned(fromByteOffset: place * 8, as: UInt64.self)
      payload.storeBytes(of: word, toByteOffset: place * 8, as: UInt64.self)
      sum.add(word)
      place += 1
    }
    record.storeBytes(of: about, toByteOffset: 8, as: UInt64.self)
    record.storeBytes(of: sequence, toByteOffset: 16, as: UInt64.self)
    record.storeBytes(of: monotonic, toByteOffset: 24, as: UInt64.self)
    record.storeBytes(of: wall, toByteOffset: 32, as: UInt64.self)
    let folded = sum.folded(with: (about, sequence, monotonic, wall))
    // Memory of a unit is 8-byte aligned and zero, which is a valid Atomic; readers see the
    // record only with this store.
    record.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(
      UInt64(length) | UInt64(folded) << 32, ordering: .releasing)
    return sequence
  }

  /// What to add to the monotonic clock for the wall clock; looked up again every 50 ms, because
  /// reading one clock instead of two saves a quarter of an append.
  @inline(__always)
  private func currentWallOffset(at monotonic: UInt64) -> UInt64 {
    if monotonic &- wallChecked.load(ordering: .relaxed) > 50_000_000 {
      wallOffset.store(clockNanoseconds(CLOCK_REALTIME) &- monotonic, ordering: .relaxed)
      wallChecked.store(monotonic, ordering: .relaxed)
    }
    return wallOffset.load(ordering: .relaxed)
  }

  // MARK: Units

  /// Gives the calling thread a unit with room for `length` bytes; nil, with the drop counted, when
  /// there is none.
  @inline(never)
  private func acquire(
    _ current: UnsafeMutablePointer<ThreadState>?, _ length: Int
  ) -> UnsafeMutablePointer<ThreadState>? {
    let saved = errno
    defer { errno = saved }
    // A full disk costs a look at the clock per record, no waiting and no system call.
    if clockNanoseconds(CLOCK_MONOTONIC) < stalledUntil.load(ordering: .relaxed) {
      droppedCount.add(1, ordering: .relaxed)
      // Readers count what a killed process dropped, too. Whoever holds the lock stores the count, or the next drop does.
      _ = shared.withLockIfAvailable { $0.segments.last?.note(dropped: droppedCount.load(ordering: .relaxed)) }
      return nil
    }
    let current = current.map(StateOwner.init)
    var taken = shared.withLock { take(for: current, length, &$0) }
    // The file system is asked without the lock; the segment stays what it is while this thread has a unit of it.
    if let segment = taken.segment, !segment.isInPlace {
      let lost = taken
      taken = shared.withLock { shared in
        segment.isLost = true
        shared.marked -= lost.gap
        return take(for: lost.owner, length, &shared)
      }
    }
    guard let state = taken.owner?.state else { return nil }
    if let segment = taken.segment { segment.prepare(unit: state.pointee.offset) }
    if taken.gap > 0 { markGap(of: taken.gap, in: state) }
    return state
  }

  /// What a thread was given to write into.
  private struct Taken {
    /// nil when there is no room for the record, which was counted.
    var owner: StateOwner?
    /// Records dropped before, which no gap record tells of yet.
    var gap: UInt64 = 0
    /// The segment of the unit, when the unit is fresh.
    var segment: JournalSegment?
  }

  /// Gives a thread what it needs; a fresh unit is to be prepared.
  private func take(for current: StateOwner?, _ length: Int, _ shared: inout Shared) -> Taken {
    let owner: StateOwner
    if let current {
      owner = current
    } else if let pooled = shared.pool.popLast() {
      owner = pooled
      pthread_setspecific(key, owner.state)
      owner.state.pointee.thread = currentThreadID()
      // The rest of the unit is consumed first: short threads must not cost 32 KiB each.
      if owner.state.pointee.offset + length <= owner.state.pointee.end,
        owner.state.pointee.segment >= oldest.load(ordering: .relaxed)
      {
        return Taken(owner: owner)
      }
    } else {
      owner = StateOwner(state: .make(ThreadState(thread: currentThreadID(), owner: Unmanaged.passUnretained(self))))
      pthread_setspecific(key, owner.state)
    }
    release(owner.state, &shared)
    guard takeUnit(for: owner.state, &shared) else {
      shared.segments.last?.note(dropped: droppedCount.add(1, ordering: .relaxed).newValue)
      return Taken()
    }
    let dropped = droppedCount.load(ordering: .relaxed)
    let gap = dropped - shared.marked
    shared.marked = dropped
    if gap > 0 { shared.segments.last?.note(dropped: dropped) }
    return Taken(owner: owner, gap: gap, segment: shared.segments.last)
  }

  /// Gives the state's unit back; the segment goes when it was the last one of a retired segment.
  private func release(_ state: UnsafeMutablePointer<ThreadState>, _ shared: inout Shared) {
    guard state.pointee.base != nil else { return }
    let index = state.pointee.segment
    state.pointee.base = nil
    state.pointee.offset = 0
    state.pointee.end = 0
    state.pointee.segment = -1
    if let segment = shared.segments.first(where: { $0.index == index }) {
      segment.unitsHeld -= 1
    } else if let place = shared.retired.firstIndex(where: { $0.index == index }) {
      shared.retired[place].unitsHeld -= 1
      if shared.retired[place].unitsHeld == 0 { shared.retired.remove(at: place) }
    }
  }

  /// Gives the thread the next unit of the journal to write into; false where no more can be had.
  private func takeUnit(for state: UnsafeMutablePointer<ThreadState>, _ shared: inout Shared) -> Bool {
    // There always is a segment: the first is made by init, and the last is never removed.
    var segment = shared.segments.last!
    var unit = segment.isLost ? nil : segment.takeUnit()
    if unit == nil {
      guard addSegment(&shared) else { return false }
      segment = shared.segments.last!
      unit = segment.takeUnit()
    }
    guard let unit else { return false }
    state.pointee.base = segment.base
    state.pointee.offset = unit
    state.pointee.end = unit + RecordFormat.unitSize
    state.pointee.seed = segment.seed
    state.pointee.segment = segment.index
    state.pointee.sequence = shared.nextUnit << 10
    shared.nextUnit += 1
    return true
  }

  private var limit: Int { directory == nil ? limits.memory : limits.disk }

  /// Adds a segment and removes the oldest ones beyond the limit; false when the system refuses.
  private func addSegment(_ shared: inout Shared) -> Bool {
    let index = shared.nextSegment
    let units = JournalSegment.units(at: index, limit: limit)
    do throws(JournalSegmentError) {
      let segment = if let again = useAgain(index, units, &shared) { again } else { try makeSegment(index, units) }
      shared.segments.append(segment)
      shared.nextSegment += 1
      while shared.segments.count > 1, shared.bytes > limit { removeOldest(&shared).unlinkFile() }
      removeAged(&shared)
      return true
    } catch {
      shared.lastError = error.code
      stalledUntil.store(clockNanoseconds(CLOCK_MONOTONIC) + limits.retry, ordering: .relaxed)
      return false
    }
  }

  /// Removes segments whose records are too old: all of a segment are older than the next one, unless a thread still writes into it.
  private func removeAged(_ shared: inout Shared) {
    guard let age = limits.age else { return }
    let now = clockNanoseconds(CLOCK_MONOTONIC)
    while shared.segments.count > 1, now &- shared.segments[1].made > age {
      let oldest = shared.segments[0]
      guard oldest.unitsHeld == shared.pool.count(where: { $0.state.pointee.segment == oldest.index }) else { return }
      removeOldest(&shared).unlinkFile()
    }
  }

  /// The oldest segment as a new one, when it would be removed for it; nil when there has to be a file of its own.
  private func useAgain(_ index: Int, _ units: Int, _ shared: inout Shared) -> JournalSegment? {
    let size = JournalSegment.size(units: units)
    guard fileSystem.mayUseAgain, shared.segments.count > 1, shared.bytes + size > limit, shared.segments[0].size == size else {
      return nil
    }
    let segment = removeOldest(&shared)
    if segment.unitsHeld == 0, segment.isWhole,
      let again = try? JournalSegment(insteadOf: segment, index: index, file: file(index), about)
    {
      return again
    }
    segment.unlinkFile()
    return nil
  }

  private func file(_ index: Int) -> RawPath? {
    directory?.appending(JournalFile.name(identity, startWall: about.start.wall, segment: index))
  }

  private func makeSegment(_ index: Int, _ units: Int) throws(JournalSegmentError) -> JournalSegment {
    let file = file(index)
    func make(_ units: Int) throws(JournalSegmentError) -> JournalSegment {
      try JournalSegment(index: index, file: file, units: units, on: fileSystem, about)
    }
    do { return try make(units) } catch {
      // Someone removed the directory, which is no reason to stop.
      if error.code == ENOENT, let directory, directory.makeDirectories() { return try make(units) }
      // A disk that has no room for a large segment may have it for a small one.
      guard units > 1, error.code == ENOSPC || error.code == EDQUOT || error.code == ENOMEM else { throw error }
      return try make(1)
    }
  }

  /// Takes the oldest segment off the list; its file is left to the caller, its units to their threads.
  private func removeOldest(_ shared: inout Shared) -> JournalSegment {
    let segment = shared.segments[0]
    // Ended threads write no more.
    for owner in shared.pool where owner.state.pointee.segment == segment.index { release(owner.state, &shared) }
    shared.segments.removeFirst()
    if segment.unitsHeld > 0 { shared.retired.append(segment) }
    oldest.store(segment.index + 1, ordering: .relaxed)
    return segment
  }

  /// Writes a record that tells how many are missing.
  private func markGap(of count: UInt64, in state: UnsafeMutablePointer<ThreadState>) {
    withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { buffer in
      var fields = FieldWriter("records missing", into: buffer)
      fields.add("dropped", count)
      let words = fields.words()
      _ = Self.write(
        .gap, flags: 0, words: words, length: RecordFormat.recordHeaderSize + words.count * 8,
        monotonic: clockNanoseconds(CLOCK_MONOTONIC), offset: self, into: state)
    }
  }

  package typealias ThreadEndRunner = @convention(c) (@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer?) -> Void
  /// The runner's address, 0 for none.
  fileprivate static let runAtThreadEnd = Atomic<UInt>(0)
  /// Says how what is to be done at the end of a thread gets the stack that it needs: the thread's own may be small. Once, at start.
  package static func runThreadEnds(by runner: ThreadEndRunner) {
    runAtThreadEnd.store(unsafeBitCast(runner, to: UInt.self), ordering: .relaxed)
  }

  /// Keeps the state of an ended thread for another one.
  fileprivate func handBack(_ state: UnsafeMutableRawPointer) {
    guard alive.pointee == 1 else { return }
    let owner = StateOwner(state: state.assumingMemoryBound(to: ThreadState.self))
    shared.withLock { $0.pool.append(owner) }
  }

  // MARK: Reading back

  /// The newest records, oldest first, as far as they are still mapped; for `status`, the console
  /// and crash reports of a later moment, not for signal handlers.
  package func recent(_ limit: Int) -> [JournalRecord] {
    shared.withLock { shared in
      var records: [JournalRecord] = []
      for segment in shared.segments.reversed() where records.count < limit {
        let bytes = UnsafeRawBufferPointer(start: segment.base, count: segment.size)
        records += JournalScan.all(in: bytes, seed: segment.seed).records
      }
      return Array(records.sorted(by: JournalRecord.isEarlier).suffix(max(limit, 0)))
    }
  }
}

/// Runs at the end of a thread that has appended.
private func endOfThread(_ state: UnsafeMutableRawPointer?) {
  let run = JournalWriter.runAtThreadEnd.load(ordering: .relaxed)
  if run == 0 { return handBack(state) }
  // Set by `runThreadEnds`.
  unsafeBitCast(run, to: JournalWriter.ThreadEndRunner.self)(handBack, state)
}

private func handBack(_ state: UnsafeMutableRawPointer?) {
  guard let state else { return }
  let owner = state.assumingMemoryBound(to: ThreadState.self).pointee.owner
  owner.takeUnretainedValue().handBack(state)
}

/// Why a journal could not be opened.
package enum JournalError: Error, Equatable, Sendable {
  /// The directory (first) cannot be used for the reason (second).
  case directoryUnusable(String, String)
  /// The process has no thread-local key or page left.
  case noResources
  /// The file is not a segment.
  case notAJournal(String)
  /// The file's version is not the one this build reads.
  case otherVersion(String, found: UInt32)
}

extension JournalError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .directoryUnusable(let path, let reason):
      "'\(path)': the journal cannot be written, \(reason); events stay in memory, use --state DIR or --events FILE"
    case .noResources: "the process has no room for a journal; events are not kept"
    case .notAJournal(let path): "'\(path)' is not a journal segment"
    case .otherVersion(let path, let found):
      "'\(path)': expected journal version \(RecordFormat.version), found \(found); read it with the build that wrote it"
    }
  }
}
