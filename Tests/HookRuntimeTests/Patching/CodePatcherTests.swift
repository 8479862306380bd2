// CodePatcher in the test runner itself: a Swift program with dispatch workers.

import CHookTrampoline
import Glibc
import Synchronization
import Testing

@testable import HookRuntime

/// Calls that reached a handler of these tests.
private let handled = Atomic<Int>(0)

/// A body in a page of its own: `f(x) = x + 7`, six bytes of whole instructions.
private struct Subject {
  static let code: [UInt8] = [0x89, 0xf8, 0x83, 0xc0, 0x07, 0xc3]
  let page: UnsafeMutableRawPointer

  init() throws {
    page = try #require(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    page.copyMemory(from: Self.code, byteCount: Self.code.count)
    try #require(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
  }

  var address: UInt64 { UInt64(UInt(bitPattern: page)) }
  var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: page, count: Self.code.count)) }
  func callAsFunction(_ x: Int32) -> Int32 {
    // The page holds a function of exactly this C type.
    unsafeBitCast(page, to: (@convention(c) (Int32) -> Int32).self)(x)
  }
  func prepare() throws -> CodePatcher.Site {
    try CodePatcher.prepare(body: address, size: Self.code.count, available: 0, fileBytes: page).get()
  }
}

/// Restores the body's bytes, which hooks never ask for: those of the tests go away.
private func unpatch(_ site: CodePatcher.Site) throws(InterceptRefusal) {
  var facts = HKTRefusal()
  var sites: [CodePatcher.Site?] = [site]
  if !hkt_unpatch(&sites, 1, &facts, nil) { throw InterceptRefusal(facts) }
}

@Suite("code patcher", .serialized)
struct CodePatcherTests {
  @Test("a body is diverted and restored while other threads run")
  func wholeCourse() throws {
    let subject = try Subject()
    let site = try subject.prepare()
    #expect(try subject.prepare() == site)
    #expect(CodePatcher.site(of: subject.address) == site)
    #expect(!CodePatcher.isEnabled(site) && !CodePatcher.isInstalled(site))

    site.pointee.handler = { _, _ in
      handled.add(1, ordering: .relaxed)
      return HKT_CONTINUE
    }
    let report = try CodePatcher.install([site])
    #expect(CodePatcher.isInstalled(site))
    #expect(report.isLive)
    #expect(subject(3) == 10 && handled.load(ordering: .relaxed) == 0)
    CodePatcher.enable(site)
    #expect(subject(3) == 10 && handled.load(ordering: .relaxed) == 1)
    CodePatcher.disable(site)
    #expect(subject(3) == 10 && handled.load(ordering: .relaxed) == 1)
    try unpatch(site)
    #expect(subject.bytes == Subject.code)
    #expect(CodePatcher.totals().sites >= 1)
  }

  @Test("installing and removing many times takes no more memory")
  func flatMemory() throws {
    let site = try Subject().prepare()
    func descriptors() -> Int { (0..<400).count { fcntl(Int32($0), F_GETFD) >= 0 } }
    try CodePatcher.install([site])
    try unpatch(site)
    let (sites, files) = (CodePatcher.totals(), descriptors())
    for _ in 0..<200 {
      try CodePatcher.install([site])
      try unpatch(site)
    }
    #expect(CodePatcher.totals().stubBytes - sites.stubBytes < 200 * 16, "other tests make a few stubs, 200 cycles would make 200 of 32 bytes and more")
    #expect(descriptors() <= files + 2, "other tests open a few, 200 cycles would open 200")
  }

  @Test("a body that cannot be diverted is refused with the facts")
  func refusal() {
    let bytes: [UInt8] = [0x31, 0xc0, 0xc3, 0x55, 0x55, 0x55, 0x55, 0x55]
    bytes.withUnsafeBytes { code in
      let address = UInt64(UInt(bitPattern: code.baseAddress!))
      let result = CodePatcher.prepare(body: address, size: 3, available: 8, fileBytes: nil)
      #expect(result == .failure(.tooShort(body: address, bytes: 8)))
    }
  }

  @Test("this process permits everything")
  func probe() {
    let report = CodePatcher.probe()
    #expect(report.codeWriting == nil && report.stubSpace == nil)
    #expect(report.liveChange == nil)
  }
}

@Suite("interception refusals")
struct InterceptRefusalTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let refusal: InterceptRefusal
    let sentence: String

    init(_ name: String, _ refusal: InterceptRefusal, _ sentence: String) {
      (testDescription, self.refusal, self.sentence) = (name, refusal, sentence)
    }
  }

  static let cases = [
    Case(
      "a short body says how short", .tooShort(body: 0x1000, bytes: 3),
      "the function at 0x1000 is too short to divert (5 bytes needed, 3 there)"),
    Case(
      "a changed body says what was found", .changedElsewhere(body: 0x1000, found: 0xcc, expected: 0x55),
      "the function at 0x1000 was changed by someone else (expected 0x55, found 0xcc); left as it is"),
    Case(
      "a silent thread is named", .threadSilent(thread: 42, name: "worker"),
      "thread 42 'worker' did not answer in time, nothing was changed; try again, or install hooks before the program starts threads"
    ),
    Case(
      "the system's reason is passed on", .noMemory(errno: ENOMEM),
      "the system gave no memory (Cannot allocate memory)"),
    Case(
      "no error number, no reason", .noStubSpace(body: 0x1000, errno: 0),
      "no free memory for code within 2 GiB of 0x1000"),
  ]

  @Test(arguments: cases) func sentence(_ c: Case) { #expect(c.refusal.description == c.sentence) }

  @Test("each reason of the C side has a case of its own, and a sentence of one lower-case line")
  func everyReason() {
    var sentences: Set<String> = []
    for code in HKT_TOO_SHORT.rawValue...HKT_NOT_UNDONE.rawValue {
      var facts = HKTRefusal()
      facts.reason = HKTReason(rawValue: code)
      let sentence = InterceptRefusal(facts).description
      #expect(sentence.first?.isLowercase == true && !sentence.hasSuffix(".") && !sentence.contains("\n"), "\(sentence)")
      sentences.insert(sentence)
    }
    #expect(sentences.count == Int(HKT_NOT_UNDONE.rawValue))
  }
}
