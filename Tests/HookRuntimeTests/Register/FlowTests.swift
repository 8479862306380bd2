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

  struct SlotCase: CustomTestStringConvertible, Sendable {
    let name: String
    let code: String
    let bytes: String
    let slots: UInt64
    init(_ name: String, _ code: String, _ bytes: String, _ slots: UInt64) {
      (self.name, self.code, self.bytes, self.slots) = (name, code, bytes, slots)
    }
    var testDescription: String { name }
  }

  private static func slots(_ range: ClosedRange<UInt64>) -> UInt64 { range.reduce(0) { $0 | slot($1) } }

  static let slotCases = [
    SlotCase("a slot that is read", "mov rax, [rsp+8]; ret", "488b442408c3", slots(0...0)),
    SlotCase("a text of two slots", "movups xmm0, [rsp+16]; ret", "0f10442410c3", slots(1...2)),
    SlotCase("slots of the frame alone", "sub rsp, 24; mov [rsp], rdi; lea rdi, [rsp+8]; call f; mov rax, [rsp]; add rsp, 24; ret", "4883ec1848893c24488d7c2408e800000000488b04244883c418c3", 0),
    SlotCase("a slot whose address is taken, and those above", "lea rax, [rsp+24]; mov rax, [rax]; ret", "488d442418488b00c3", slots(2...31)),
    SlotCase("an index", "mov rax, [rsp+8*rcx+16]; ret", "488b44cc10c3", slots(1...31)),
    SlotCase("what is jumped to", "jmp f", "e900100000", slots(0...31)),
    SlotCase("what a register holds", "jmp rax", "ffe0", slots(0...31)),
    SlotCase("a slot that is written first", "mov qword ptr [rsp+8], 0; mov rax, [rsp+8]; ret", "48c744240800000000488b442408c3", 0),
    SlotCase("a frame of changing size", "push rbp; mov rbp, rsp; sub rsp, rdi; mov rcx, rsp; call f; mov rax, [rbp+24]; leave; ret", "554889e54829fc4889e1e800000000488b4518c9c3", slots(1...1)),
    SlotCase("rbp where it is no frame register", "push rbp; mov rbp, rdi; mov rax, [rbp+24]; pop rbp; ret", "554889fd488b45185dc3", 0),
    SlotCase("rsp where nothing tells how far it is", "sub rsp, rdi; mov rax, [rsp+8]; ret", "4829fc488b442408c3", slots(0...31)),
  ]

  @Test("stack slots that a function may read", arguments: slotCases) func possibleSlots(_ c: SlotCase) {
    var code = Self.code(c.bytes)
    #expect((hkt_read_possible(&code, nil) >> 32) << 32 == c.slots, "\(c.code)")
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

  /// By a register that still holds an address in the frame, or in the async context, a part loads what is its own; what it loads may be an object.
  @Test(
    "a part that loads by an address in its frame uses no object",
    arguments: [
      // lea r15, [rsp+80]; call f; mov rax, [r15]; jmp
      ("4c8d7c2450", "e800100000498b07e9f30f0000", false),
      // lea r15, [r14+80]; mov rbx, r15; call f; mov rax, [rbx+8]; jmp
      ("4d8d7e504c89fb", "e800100000488b4308e9f00f0000", false),
      // lea r15, [rdi+80]; call f; mov rax, [r15]; jmp
      ("4c8d7f50", "e800100000498b07e9f40f0000", true),
      // lea r15, [rsp+80]; call f; mov r15, rax; mov rax, [r15]; jmp
      ("4c8d7c2450", "e8001000004989c7498b07e9f00f0000", true),
      // lea r15, [rsp+80]; call f; mov rax, [r15]; mov rax, [rax]; jmp
      ("4c8d7c2450", "e800100000498b07488b00e9f00f0000", true),
      // mov rbp, rdi; call f; mov rax, [rbp+16]; jmp
      ("4889fd", "e800100000488b4510e9f40f0000", true),
      // push rbp; mov rbp, rsp; call f; mov rax, [rbp+16]; jmp
      ("554889e5", "e800100000488b4510e9f30f0000", false),
      // lea r8, [rsp+80]; call f; mov rax, [r8]; jmp
      ("4c8d442450", "e800100000498b00e9f30f0000", true),
    ] as [(String, String, Bool)])
  func leavingByAddress(_ before: String, _ after: String, _ mayUse: Bool) {
    var flow = HKTFlow()
    var code = Self.code(before + after)
    var host = HKTFlowHost(context: nil, taken: nil, data: nil, possible: nil, only_ends: { _, target in target == 0x2005 })
    #expect(hkt_read_after_call(&code, 0x1000 + UInt64(before.count / 2) + 5, &host, true, &flow))
    #expect(flow.may_use == mayUse)
  }

  @Test(
    "an argument that is returned on every path",
    arguments: [
      // push rbx; mov rbx, rdi; call f; mov rax, rbx; pop rbx; ret
      ("534889fbe8001000004889d85bc3", true),
      // sub rsp, 24; mov [rsp+8], rdi; call f; mov rax, [rsp+8]; add rsp, 24; ret
      ("4883ec1848897c2408e800100000488b4424084883c418c3", true),
      ("4889f8c3", true),  // mov rax, rdi; ret
      ("4889f0c3", false),  // mov rax, rsi; ret
      ("4889f84883c001c3", false),  // mov rax, rdi; add rax, 1; ret
      ("4889f8e900100000", false),  // mov rax, rdi; jmp f
      ("4885ff74044889f8c331c0c3", false),  // test rdi, rdi; je 1f; mov rax, rdi; ret; 1: xor eax, eax; ret
    ] as [(String, Bool)])
  func returned(_ text: String, _ isReturned: Bool) {
    var code = Self.code(text)
    #expect(hkt_returns_argument(&code, Self.rdi) == isReturned)
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
