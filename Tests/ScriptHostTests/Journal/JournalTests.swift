import Foundation
import Glibc
import Testing

@testable import Journal
@testable import ScriptHost

@Suite("journal")
struct RecordJournalTests {
  private func identity(_ program: String = "/bin/tests") -> JournalIdentity {
    JournalIdentity(program: RawPath(program), pid: getpid(), bootID: currentBootID(), buildID: "00ff")
  }

  /// A directory in whose file system files are used again.
  private func scratchInPlace() throws -> String {
    let directory = try Place.scratch()
    if JournalFileSystem(of: RawPath(directory)) == .inPlace { return directory }
    let memory = "/dev/shm/scripthost-tests-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: memory, withIntermediateDirectories: false)
    try #require(JournalFileSystem(of: RawPath(memory)) == .inPlace)
    return memory
  }

  private func append(_ journal: JournalWriter, _ number: Int, text: String = "some text") -> UInt64? {
    withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
      var fields = FieldWriter("tick", into: buffer)
      fields.add("number", number)
      fields.add("text", text)
      return journal.append(.event, fields)
    }
  }

  private func read(_ directory: String) throws -> (records: [JournalRecord], damage: JournalDamage) {
    var records: [JournalRecord] = []
    var damage = JournalDamage()
    for path in JournalFile.list(in: RawPath(directory)) {
      var reader = try JournalFileReader(path)
      records += reader.next(isFinal: true)
      damage.skipped += reader.damage.skipped
      damage.torn += reader.damage.torn
      damage.dropped = max(damage.dropped, reader.damage.dropped)
    }
    return (records.sorted(by: JournalRecord.isEarlier), damage)
  }

  private func numbers(_ records: [JournalRecord]) -> [Int] {
    records.compactMap { record in
      guard case .integer(let number)? = record.fields.first(where: { $0.name == "number" })?.value else { return nil }
      return Int(number)
    }
  }

  @Test("fields of every kind come back")
  func fields() throws {
    let directory = try Place.scratch()
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity())
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      var fields = FieldWriter("all kinds", into: buffer)
      fields.maximumString = 10
      fields.add("a", Int.min)
      fields.add("b", UInt64.max)
      fields.add("c", -0.5)
      fields.add("d", true)
      fields.add("e", false)
      fields.addNull("f")
      fields.add("g", "ö\0")
      fields.add("h", "123456789ö123")
      fields.add(FieldName(given: "password"), "hunter2")
      fields.beginList("i")
      fields.add(FieldWriter.noName, 1)
      fields.beginObject(FieldWriter.noName)
      fields.add(FieldName(given: "secret"), 5)
      fields.add("x", 1.5)
      fields.end()
      fields.end()
      fields.add("j", "")
      journal.append(.note, fields)
    }
    let record = try #require(try read(directory).records.first)
    #expect(record.kind == .note)
    #expect(record.name == "all kinds")
    #expect(!record.isCut)
    #expect(
      record.fields == [
        Field("a", .integer(.min)), Field("b", .unsigned(.max)), Field("c", .double(-0.5)), Field("d", .bool(true)),
        Field("e", .bool(false)), Field("f", .null), Field("g", .string("ö\0")),
        Field("h", .string("123456789", fullLength: 14)), Field("password", .masked),
        Field("i", .list([.integer(1), .object([Field("secret", .masked), Field("x", .double(1.5))])])),
        Field("j", .string("")),
      ])
    let bytes = FileManager.default.contents(atPath: JournalFile.list(in: RawPath(directory))[0].description)!
    #expect(bytes.range(of: Data("hunter2".utf8)) == nil)
  }

  @Test("fields that do not fit are left out, and the record says so")
  func overflow() throws {
    let journal = try JournalWriter(directory: nil, identity: identity())
    withUnsafeTemporaryAllocation(byteCount: 320, alignment: 8) { buffer in
      var fields = FieldWriter("small", into: buffer)
      for number in 0..<100 { fields.add("number", number) }
      journal.append(.event, fields)
    }
    let record = try #require(journal.recent(1).first)
    #expect(record.isCut)
    #expect(numbers([record]) == [0])
    #expect(record.fields.count == (320 - 8 - 6) / 16)
  }

  @Test("four threads write, nothing is lost and each thread's order holds")
  func threads() throws {
    let directory = try Place.scratch()
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity())
    let count = 5000
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<count { #expect(append(journal, thread * count + number) != nil) }
    }
    let (records, damage) = try read(directory)
    #expect(damage == JournalDamage())
    #expect(Set(numbers(records)) == Set(0..<(4 * count)))
    #expect(Set(records.map(\.sequence)).count == 4 * count)
    for (_, own) in Dictionary(grouping: records, by: \.thread) {
      #expect(own.map(\.sequence) == own.map(\.sequence).sorted())
    }
  }

  @Test("what was appended before kill -9 is there")
  func killed() throws {
    let writer = Subject.journalWriter
    for round in 0..<3 {
      let directory = try Place.scratch()
      var output = try OutputPipe()
      let process = try Spawned(writer, ["forever", directory], output: output.writing)
      output.closeWriting()
      var told = 0
      while told < 8 * 500 * (round + 1) { told += output.next().count }
      kill(process.pid, SIGKILL)
      while case let count = output.next().count, count > 0 { told += count }
      #expect(process.wait() == -SIGKILL)
      let (records, damage) = try read(directory)
      let own = numbers(records).filter { $0 >= 0 }
      #expect(own.count >= told / 8)
      #expect(own == Array(0..<own.count))
      #expect(damage.skipped == 0 && damage.torn <= 3)
      #expect(numbers(records).contains { $0 < 0 })
    }
  }

  @Test("bit flips cost the record they hit and no other", arguments: [UInt64(7), 8, 9])
  func bitFlips(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = try Place.scratch()
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity())
    for number in 0..<200 { #expect(append(journal, number) != nil) }
    let path = JournalFile.list(in: RawPath(directory))[0]
    let original = FileManager.default.contents(atPath: path.description)!
    let used = original.lastIndex { $0 != 0 }!
    for _ in 0..<60 {
      var bytes = original
      let place = Int.random(in: RecordFormat.headerSize..<(used - 8), using: &random)
      bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
      let copy = try Place.scratch() + "/a.journal"
      try bytes.write(to: URL(fileURLWithPath: copy))
      var reader = try JournalFileReader(RawPath(copy))
      let found = numbers(reader.next(isFinal: true))
      #expect(found.count == 199, "seed \(seed), byte \(place)")
      #expect(found == found.sorted())
      #expect(reader.damage.skipped + reader.damage.torn == 1)
      try FileManager.default.removeItem(atPath: (copy as NSString).deletingLastPathComponent)
    }
  }

  @Test("a file cut short anywhere gives the records before the cut", arguments: [UInt64(11)])
  func cutShort(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = try Place.scratch()
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity())
    for number in 0..<100 { #expect(append(journal, number) != nil) }
    let bytes = FileManager.default.contents(atPath: JournalFile.list(in: RawPath(directory))[0].description)!
    let copy = try Place.scratch() + "/a.journal"
    for length in (0..<100).map({ _ in Int.random(in: 0..<16_000, using: &random) }) {
      try bytes.prefix(length).write(to: URL(fileURLWithPath: copy))
      guard length >= RecordFormat.headerSize else {
        #expect(throws: JournalError.notAJournal(copy)) { try JournalFileReader(RawPath(copy)) }
        continue
      }
      var reader = try JournalFileReader(RawPath(copy))
      let found = numbers(reader.next(isFinal: true))
      #expect(found == Array(0..<found.count), "seed \(seed), length \(length)")
    }
  }

  @Test("random bytes after a good header are survived", arguments: [UInt64(5)])
  func garbage(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = try Place.scratch()
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity())
    #expect(append(journal, 0) != nil)
    let bytes = FileManager.default.contents(atPath: JournalFile.list(in: RawPath(directory))[0].description)!
    let copy = try Place.scratch() + "/a.journal"
    for _ in 0..<10 {
      let noise = Data((0..<60_000).map { _ in UInt8.random(in: 0...255, using: &random) })
      try (bytes.prefix(RecordFormat.headerSize) + noise).write(to: URL(fileURLWithPath: copy))
      var reader = try JournalFileReader(RawPath(copy))
      #expect(reader.next(isFinal: true).isEmpty, "seed \(seed)")
    }
  }

  @Test("another version is named, other files are no journal")
  func versions() throws {
    let directory = try Place.scratch()
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity())
    #expect(append(journal, 0) != nil)
    var bytes = FileManager.default.contents(atPath: JournalFile.list(in: RawPath(directory))[0].description)!
    bytes[RecordFormat.Header.version] = 9
    let copy = try Place.scratch() + "/a.journal"
    try bytes.write(to: URL(fileURLWithPath: copy))
    #expect(throws: JournalError.otherVersion(copy, found: 9)) { try JournalFileReader(RawPath(copy)) }
    try Data(repeating: 65, count: 9000).write(to: URL(fileURLWithPath: copy))
    #expect(throws: JournalError.notAJournal(copy)) { try JournalFileReader(RawPath(copy)) }
  }

  @Test("two journals in one directory have files of their own")
  func twoWriters() throws {
    let directory = try Place.scratch()
    let first = try JournalWriter(directory: RawPath(directory), identity: identity())
    let second = try JournalWriter(directory: RawPath(directory), identity: identity("/bin/odd name\n"))
    #expect(append(first, 1) != nil)
    #expect(append(second, 2) != nil)
    let files = JournalFile.list(in: RawPath(directory)).map { String(decoding: $0.lastComponent, as: UTF8.self) }.sorted()
    #expect(files.count == 2)
    #expect(files[0].hasPrefix("odd_name_-\(getpid())-"))
    #expect(numbers(try read(directory).records).sorted() == [1, 2])
  }

  @Test("a limit on the disk removes the oldest records first")
  func rotation() throws {
    let directory = try Place.scratch()
    var limits = JournalWriter.Limits()
    limits.disk = 700_000
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity(), limits: limits)
    for number in 0..<40_000 { #expect(append(journal, number) != nil) }
    #expect(try size(directory) <= limits.disk)
    let kept = numbers(try read(directory).records)
    #expect(kept.last == 39_999)
    #expect(kept == Array(kept[0]...39_999))
  }

  private func size(_ directory: String) throws -> Int {
    try JournalFile.list(in: RawPath(directory)).reduce(0) { try $0 + Int(#require($1.status()).st_size) }
  }

  @Test("at the limit the files are used again, under new names")
  func usedAgain() throws {
    let directory = try scratchInPlace()
    var limits = JournalWriter.Limits()
    limits.disk = 700_000
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity(), limits: limits)
    func files() throws -> [UInt64: (name: String, time: Int)] {
      try Dictionary(
        uniqueKeysWithValues: JournalFile.list(in: RawPath(directory)).map { path in
          let status = try #require(path.status())
          return (UInt64(status.st_ino), (path.description, status.st_mtim.tv_sec))
        })
    }
    for number in 0..<20_000 { #expect(append(journal, number) != nil) }
    let before = try files()
    for (name, _) in before.values {
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1000)], ofItemAtPath: name)
    }
    for number in 20_000..<40_000 { #expect(append(journal, number) != nil) }
    let after = try files()
    #expect(before.count >= 3)
    #expect(before.keys == after.keys)
    #expect(Set(before.values.map(\.name)).isDisjoint(with: after.values.map(\.name)))
    #expect(after.values.allSatisfy { $0.time > 1000 }, "pruning would take them for old")
    let (records, damage) = try read(directory)
    #expect(damage == JournalDamage())
    #expect(numbers(records) == Array(numbers(records)[0]...39_999))
    #expect(numbers(records).count > 3000)
  }

  @Test("a reader of a file that is used again sees its old records or none", arguments: [UInt64(3)])
  func readWhileUsedAgain(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = try scratchInPlace()
    var output = try OutputPipe()
    let process = try Spawned(Subject.journalWriter, ["forever", directory, "700000"], output: output.writing)
    output.closeWriting()
    defer {
      kill(process.pid, SIGKILL)
      _ = process.wait()
    }
    var told = 0
    func goOn(_ records: Int) { let goal = told + 8 * records; while told < goal { told += output.next().count } }
    var kept = 0, gone = 0
    // A run of everything reads fewer files (scripts/test).
    for _ in 0..<(ProcessInfo.processInfo.environment["JOURNAL_READS"].flatMap { Int($0) } ?? 30) {
      goOn(Int.random(in: 0...3000, using: &random))
      let paths = JournalFile.list(in: RawPath(directory)).sorted { $0.description < $1.description }
      let path = paths[Int.random(in: paths.indices, using: &random)]
      let descriptor = path.withCString { open($0, O_RDONLY) }
      // It may be gone by now.
      guard descriptor >= 0, var reader = try? JournalFileReader(path) else { continue }
      defer { close(descriptor) }
      let file = FileHandle(fileDescriptor: descriptor)
      func content() throws -> [UInt8] {
        try file.seek(toOffset: 0)
        return Array(try file.readToEnd() ?? Data())
      }
      let first = try content()
      let seed = first.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: RecordFormat.Header.seed, as: UInt64.self) }
      let old = first.withUnsafeBytes { JournalScan.all(in: $0, seed: seed).records }
      let known = Dictionary(uniqueKeysWithValues: old.map { ($0.sequence, $0) })
      for _ in 0..<10 {
        goOn(Int.random(in: 0...1000, using: &random))
        let now = try content().withUnsafeBytes { JournalScan.all(in: $0, seed: seed).records }
        for record in reader.next(isFinal: false) + now {
          #expect(known[record.sequence] == nil || known[record.sequence] == record)
          #expect(record.fields.count == 2 && record.fields[1].value == .string("some text that is long enough to fill units quickly"))
        }
        // No later record counts: those of one segment are of consecutive units.
        let units = (old + now).map { $0.sequence >> 10 }
        if let low = units.min(), let high = units.max() { #expect(Int(high - low) < first.count / RecordFormat.unitSize) }
        #expect(reader.damage.skipped == 0)
        if now.isEmpty { gone += 1 } else { kept += 1 }
      }
    }
    #expect(kept > 0 && gone > 0, "seed \(seed)")
  }

  @Test("what was appended before kill -9 is there, also where files are used again")
  func killedWhileUsedAgain() throws {
    for round in 0..<5 {
      let directory = try scratchInPlace()
      // Two processes have one directory; the second one tells nobody what it writes.
      var output = try OutputPipe()
      let process = try Spawned(Subject.journalWriter, ["forever", directory, "700000"], output: output.writing)
      output.closeWriting()
      let nowhere = open("/dev/null", O_WRONLY)
      let second = try Spawned(Subject.journalWriter, ["forever", directory, "700000"], output: nowhere)
      close(nowhere)
      var told = 0
      // The second one may begin late.
      let isLong = { (pid: pid_t) in
        // Behind the last hyphen is the number of the segment.
        JournalFile.list(in: RawPath(directory)).contains { $0.description.contains("-\(pid)-") && $0.description.suffix(12) >= "0004.journal" }
      }
      while told < 8 * (15_000 + 1003 * round) || !isLong(second.pid) { told += output.next().count }
      kill(process.pid, SIGKILL)
      kill(second.pid, SIGKILL)
      while case let count = output.next().count, count > 0 { told += count }
      #expect(process.wait() == -SIGKILL && second.wait() == -SIGKILL)
      var found: [pid_t: [JournalRecord]] = [:]
      for path in JournalFile.list(in: RawPath(directory)) {
        var reader = try JournalFileReader(path)
        #expect(path.description.contains("-\(reader.session.pid)-"))
        found[reader.session.pid, default: []] += reader.next(isFinal: true)
        #expect(reader.damage.skipped == 0 && reader.damage.torn <= 3)
      }
      for pid in [process.pid, second.pid] {
        let own = numbers((found[pid] ?? []).sorted(by: JournalRecord.isEarlier)).filter { $0 >= 0 }
        let first = try #require(own.first)
        #expect(own == Array(first..<(first + own.count)))
        #expect(own.count > 500)
        if pid == process.pid { #expect(own.last! >= told / 8 - 1) }
      }
      // A segment is a quarter of the limit at most; the next one stands beside the others for a moment.
      #expect(try size(directory) <= 2 * (700_000 + 700_000 / 4))
    }
  }

  @Test("at the limit a full disk is no reason to drop records")
  func fullAgain() throws {
    let directory = try scratchInPlace()
    let outcome = try run(Subject.journalWriter, "full again", directory, "700000")
    #expect(outcome.status == 0 && outcome.text == "0\n", "\(outcome)")
    let (records, damage) = try read(directory)
    #expect(damage == JournalDamage())
    #expect(numbers(records) == Array(numbers(records)[0]...99_999))
  }

  @Test("a file that was cut short is not used again")
  func cutWhileUsedAgain() throws {
    let directory = try scratchInPlace()
    let outcome = try run(Subject.journalWriter, "cut", directory, "700000")
    #expect(outcome.status == 0 && outcome.text == "4 0\n", "\(outcome)")
    #expect(numbers(try read(directory).records).last == 99_999)
  }

  @Test("a file of which a thread has a unit is not used again")
  func heldWhileUsedAgain() throws {
    let directory = try scratchInPlace()
    var limits = JournalWriter.Limits()
    limits.disk = 700_000
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity(), limits: limits)
    for number in 0..<20_000 { #expect(append(journal, number) != nil) }
    func files() throws -> Set<UInt64> {
      Set(try JournalFile.list(in: RawPath(directory)).map { UInt64(try #require($0.status()).st_ino) })
    }
    let has = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      #expect(append(journal, -1) != nil)
      has.signal()
      goOn.wait()
      for _ in 0..<1000 { #expect(append(journal, -2) != nil) }
      done.signal()
    }
    has.wait()
    let before = try files()
    for number in 20_000..<40_000 { #expect(append(journal, number) != nil) }
    let after = try files()
    #expect(before.count == after.count && before.intersection(after).count == before.count - 1)
    goOn.signal()
    done.wait()
    for number in 40_000..<42_000 { #expect(append(journal, number) != nil) }
    let (records, damage) = try read(directory)
    #expect(damage == JournalDamage())
    let found = numbers(records)
    #expect(found.filter { $0 == -2 }.count == 1000)
    let own = found.filter { $0 >= 0 }
    #expect(own == Array(own[0]...41_999))
  }

  @Test("without a directory the newest records stay in memory")
  func memory() throws {
    var limits = JournalWriter.Limits()
    limits.memory = 200_000
    let journal = try JournalWriter(directory: nil, identity: identity(), limits: limits)
    for number in 0..<20_000 { #expect(append(journal, number) != nil) }
    #expect(numbers(journal.recent(100)) == Array(19_900..<20_000))
    let kept = numbers(journal.recent(20_000))
    #expect(kept == Array(kept[0]..<20_000))
    // A record has 80 bytes.
    #expect((800...(limits.memory / 80)).contains(kept.count))
  }

  @Test("a directory that cannot be used is one sentence")
  func unusable() throws {
    let error = #expect(throws: JournalError.self) {
      try JournalWriter(directory: RawPath("/dev/null/journal"), identity: identity())
    }
    #expect(
      error?.description
        == "'/dev/null/journal': the journal cannot be written, not a directory; events stay in memory, use --state DIR or --events FILE")
  }

  @Test("a full disk drops and counts, and the gap is marked when there is room again")
  func fullDisk() throws {
    let directory = try Place.scratch()
    let outcome = try run(Subject.journalWriter, "full", directory)
    let told = outcome.text.trimmed.split(separator: " ").compactMap { Int($0) }
    #expect(outcome.status == 0 && told.count == 2, "\(outcome)")
    let (records, damage) = try read(directory)
    #expect(told[0] >= 100)
    #expect(damage.dropped == UInt64(told[0]))
    let gap = try #require(records.first { $0.kind == .gap })
    #expect(gap.fields == [Field("dropped", .unsigned(UInt64(told[0])))])
    #expect(numbers(records).count == told[1] - told[0])
    #expect(numbers(records).suffix(10) == Array((told[1] - 10)..<told[1])[...])
  }

  @Test("a forked child writes nothing into its parent's journal")
  func forked() throws {
    let directory = try Place.scratch()
    let outcome = try run(Subject.journalWriter, "fork", directory)
    #expect(outcome.text == "0\n")
    #expect(numbers(try read(directory).records) == [1, 2])
  }

  @Test("a journal whose files are removed goes on in new ones")
  func removed() throws {
    let directory = try Place.scratch() + "/deep"
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity())
    for number in 0..<100 { #expect(append(journal, number) != nil) }
    try FileManager.default.removeItem(atPath: directory)
    for number in 100..<2000 { #expect(append(journal, number) != nil) }
    #expect(numbers(try read(directory).records).last == 1999)
  }

  @Test("a reader that follows sees each record once")
  func follow() throws {
    let directory = try Place.scratch()
    let journal = try JournalWriter(directory: RawPath(directory), identity: identity())
    var reader: JournalFileReader?
    var found: [Int] = []
    for number in 0..<300 {
      #expect(append(journal, number) != nil)
      if reader == nil { reader = try JournalFileReader(JournalFile.list(in: RawPath(directory))[0]) }
      if number % 7 == 0 { found += numbers(reader!.next(isFinal: false)) }
    }
    found += numbers(reader!.next(isFinal: false))
    #expect(found == Array(0..<found.count))
    #expect(found.count >= 250)
    #expect(reader!.damage == JournalDamage())
  }

  @Test("pruning keeps the newest files")
  func prune() throws {
    let directory = try Place.scratch()
    for number in 0..<6 {
      let path = directory + "/f-\(number).journal"
      try Data(count: 1000).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: Double(1000 + number))], ofItemAtPath: path)
    }
    #expect(JournalFile.prune(RawPath(directory), bytes: 3500, count: 100) == 3)
    let left = JournalFile.list(in: RawPath(directory)).map { String(decoding: $0.lastComponent, as: UTF8.self) }.sorted()
    #expect(left == ["f-3.journal", "f-4.journal", "f-5.journal"])
  }
}
