import CHookTrampoline
import Testing

@testable import HookRuntime

/// The flow reader on code of a few instructions: what is written in `code` was assembled to `bytes`.
@Suite("flow of values")
struct FlowTests {
  private static let rax: UInt64 = 1, rdx: UInt64 = 1 << 2, rsi: UInt64 = 1 << 6, rdi: UInt64 = 1 << 7, r13: UInt64 = 1 << 13
  private static func xmm(_ n: UInt64) -> UInt64 { 1 << (16 + n) }
  private static func slot(_ n: UInt64) -> UInt64 { 1 << (32 + n) }

  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let code: String
    let bytes: String
    let reads: UInt64
    init(_ name: String, _ code: String, _ bytes: String, _ reads: UInt64) {
      (self.name, self.code, self.bytes, self.reads) = (name, code, bytes, reads)
    }
    var testDescription: String { name }
  }

  static let cases = [
    Case("a saved register is not taken", "push r13; pop r13; ret", "4155415dc3", 0),
    Case("a copy is taken", "push rbx; mov rbx, r13; pop rbx; ret", "534c89eb5bc3", r13),
    Case("a dereferenced register is taken", "mov rax, [rdi+16]; ret", "488b4710c3", rdi),
    Case("half of a join is not taken", "test edi, edi; je 1f; mov esi, 1; 1: mov rax, rsi; ret", "85ff7405be010000004889f0c3", rdi),
    Case("a zeroed register is not taken", "xor edi, edi; mov rax, rdi; ret", "31ff4889f8c3", 0),
    Case("a spread carry is not taken", "cmp rsi, 3; sbb edi, edi; mov eax, edi; ret", "4883fe0319ff89f8c3", rsi),
    Case("all ones are not taken", "or rdx, -1; mov rax, rdx; ret", "4883caff4889d0c3", 0),
    Case("a call ends what it destroys", "call f; mov rax, rdi; mov rdx, r13; ret", "e8000000004889f84c89eac3", r13),
    Case("a stack argument is taken", "mov rax, [rsp+8]; ret", "488b442408c3", slot(0)),
    Case(
      "a stack argument is found from an aligned frame",
      "push rbp; mov rbp, rsp; sub rsp, 32; and rsp, -32; mov rax, [rbp+24]; leave; ret", "554889e54883ec204883e4e0488b4518c9c3", slot(1)),
    Case(
      "a stack argument is found behind saves", "push rbx; sub rsp, 24; mov rax, [rsp+40]; add rsp, 24; pop rbx; ret",
      "534883ec18488b4424284883c4185bc3", slot(0)),
    Case(
      "an overwritten stack argument is not taken", "mov qword ptr [rsp+8], 0; mov rax, [rsp+8]; ret", "48c744240800000000488b442408c3", 0),
    Case("a local is no argument", "sub rsp, 24; mov rax, [rsp+16]; add rsp, 24; ret", "4883ec18488b4424104883c418c3", 0),
    Case("the destination of a conversion is not taken", "cvtsi2sd xmm0, rdi; ret", "f2480f2ac7c3", rdi),
    Case("a sum takes both", "addsd xmm0, xmm1; ret", "f20f58c1c3", xmm(0) | xmm(1)),
    Case("a loop keeps what it does not write", "1: dec rdi; jne 1b; mov rax, rsi; ret", "48ffcf75fb4889f0c3", rsi),
    Case(
      "a loop that writes ends the value for its head", "xor eax, eax; 1: add rax, rsi; mov rsi, rax; dec rdi; jne 1b; ret",
      "31c04801f04889c648ffcf75f5c3", 0),
    Case(
      "a constant's place is no table of jumps: so do async functions call",
      "mov rax, [rsp+8]; lea rcx, [rip+4096]; movsxd rdx, [rip+4096]; add rdx, rcx; jmp rdx",
      "488b442408488d0d0010000048631500100000480" + "1caffe2", slot(0)),
    Case("a jump to an address leaves the function", "mov rax, rdi; jmp rdx; mov rax, rsi; ret", "4889f8ffe24889f0c3", rdi | rdx),
  ]

  @Test(arguments: cases) func takes(_ c: Case) {
    var flow = HKTFlow()
    var code = Self.code(c.bytes)
    // A wish that nothing fulfils makes it look at all paths.
    #expect(hkt_read_flow(&code, .max, nil, &flow))
    #expect(flow.reads & ~Self.rax == c.reads, "\(c.code)")
    for wanted in [Self.rdi, Self.rsi, Self.r13] where c.reads & wanted != 0 {
      #expect(hkt_read_flow(&code, wanted, nil, &flow) && flow.reads & wanted == wanted, "the short way finds what the long way does")
    }
  }

  @Test("slots far out are followed when they are asked about") func farSlots() {
    var flow = HKTFlow()
    var code = Self.code("488b842448010000c3")  // mov rax, [rsp+328]; ret
    #expect(hkt_read_flow(&code, .max, nil, &flow) && flow.reads >> 32 == 0, "slot 40 is none of the first 32")
    code.first_slot = 32
    #expect(hkt_read_flow(&code, .max, nil, &flow) && flow.reads >> 32 == 1 << 8)
    let places = Places(word: flow.reads, from: 32)
    #expect(places.isSuperset(of: Places(argument: .stack(40))!) && places.isDisjoint(with: Places(argument: .stack(8))!))
    #expect(places.word(from: 32) == flow.reads && places.word() >> 32 == 0)
  }

  @Test("a function that pushes r12 reports no error in it") func errorRegister() {
    var flow = HKTFlow()
    for (text, saves, uses) in [("4154415cc3", true, false), ("4989c4c3", false, true), ("c3", false, false)] {
      var code = Self.code(text)
      #expect(hkt_read_flow(&code, 1 << 12, nil, &flow))
      #expect(flow.saves_r12 == saves && flow.uses_r12 == uses)
    }
  }

  /// `call f` to 0x2000 from 0x1000, then what follows.
  @Test(
    "a result is taken until the next call",
    arguments: [("4889c7c3", 1), ("e8000000004889c7c3", 0), ("4889d7c3", 1 << 2), ("31c04889c7c3", 0), ("f20f58c2c3", 1 << 18 | 1 << 16)]
      as [(String, UInt64)])
  func results(_ after: String, _ taken: UInt64) {
    var flow = HKTFlow()
    var code = Self.code("e8fb0f0000" + after)
    #expect(hkt_read_results(&code, 0x1000, nil, &flow))
    #expect(flow.reads == taken)
    #expect(!hkt_read_results(&code, 0x1001, nil, &flow), "no instruction starts there")
  }

  /// After `call f`: `jmp` to what the host knows as an end, and to what it does not; a release and then that; a load from the frame, from the
  /// async context, from an object; a call of what it does not know; `jmp [rax+8]`; a context that is lost; a loop to the call.
  @Test(
    "a part that only ends values and leaves uses none",
    arguments: [
      ("e9fb0f0000", false), ("e900000000e9fb1f0000", true), ("e8fb0f0000e9f60f0000", false), ("488b442408498b4610e9f20f0000", false),
      ("488b4310e9f70f0000", true), ("e8fb1f0000e9f60f0000", true), ("ff6008", false), ("4989c6e9f80f0000", true), ("ebf9", true),
    ] as [(String, Bool)])
  func leaving(_ after: String, _ mayUse: Bool) {
    var flow = HKTFlow()
    var code = Self.code("e8fb1f0000" + after)
    var host = HKTFlowHost(context: nil, taken: nil, data: nil, possible: nil, only_ends: { _, target in target == 0x2005 })
    #expect(hkt_read_after_call(&code, 0x1005, &host, true, &flow))
    #expect(flow.may_use == mayUse)
    #expect((flow.reads | flow.returned) >> 63 == 0, "what follows the call is no place")
  }

  /// What precedes a call: `mov edi, 5`; the same and then a copy of it; a load whose address is read from it; nothing; `mov r13,
  /// rax`, which nobody reads after the call, which somebody does, and before a jump.
  @Test(
    "a register is set for a call when nobody else reads it",
    arguments: [
      ("bf05000000", "c3", 1 << 7), ("bf0500000089f8", "c3", 1), ("488b3b488b07", "c3", 1), ("", "c3", 0),
      ("4889c74c89f6", "c3", 1 << 7 | 1 << 6), ("4989c5", "c3", 1 << 13), ("4989c5", "4c89e8c3", 0), ("4989c5", "e8000000004c89e8c3", 0),
      ("4989c5", "415dc3", 1 << 13),
    ] as [(String, String, UInt64)])
  func callSites(_ before: String, _ after: String, _ written: UInt64) {
    var found: UInt64 = 0
    var code = Self.code(before + "e8fb0f0000" + after)
    #expect(hkt_read_call_site(&code, 0x1000 + UInt64(before.utf8.count / 2), nil, &found))
    #expect(found == written)
  }

  /// The code at 0x1000; its bytes are never freed.
  private static func code(_ text: String) -> HKTCode {
    let digits = Array(text)
    let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = copy.initialize(from: bytes)
    return HKTCode(bytes: copy.baseAddress, size: UInt64(bytes.count), address: 0x1000, first_slot: 0)
  }
}
