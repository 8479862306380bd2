// CallLoops — calls of itself with which a function ends, and of which the optimiser made a loop: nothing enters the function for them.
//
// Code does not tell such a loop from one that somebody wrote; what it rules out is in CHookTrampoline/Reading/call_loops.c.
internal import CHookTrampoline
internal import SwiftMangling

extension ImageCatalog {
  /// One of the bodies has a loop that may have been made of the function's calls of itself.
  func mayLoopForCalls(_ family: Family) -> Bool {
    let declaration = family.declaration
    // A closure and a deinit do not call themselves.
    if declaration.kind.isClosure || declaration.kind.isDeinit || declaration.isCoroutine { return false }
    return family.bodies.contains { body in
      body.isAsync ? awaitsItselfInLoop(body) : body.allCode.contains { mayLoopForCalls($0) }
    }
  }

  /// Of an async function that awaits itself before all else the first part has the loop.
  private func awaitsItselfInLoop(_ body: Body) -> Bool {
    let address = body.address - bias
    guard let record = asyncEntries.record(at: address), let bytes = file.bytes(at: address, count: body.size)?.baseAddress else { return false }
    var code = HKTCode(bytes: bytes.assumingMemoryBound(to: UInt8.self), size: UInt64(body.size), address: address, first_slot: 0)
    return hkt_awaits_itself_in_loop(&code, record.address)
  }

  private func mayLoopForCalls(_ code: Range<UInt64>) -> Bool {
    guard let bytes = file.bytes(at: code.lowerBound - bias, count: code.count)?.baseAddress else { return false }
    var whole = HKTCode(
      bytes: bytes.assumingMemoryBound(to: UInt8.self), size: UInt64(code.count), address: code.lowerBound - bias, first_slot: 0)
    var host = HKTLoopHost(
      context: Unmanaged.passUnretained(self).toOpaque(),
      // The context is this catalog, which outlives the call that hands it over.
      gives_same: { Unmanaged<ImageCatalog>.fromOpaque($0!).takeUnretainedValue().givesSame($1) })
    return hkt_may_loop_for_calls(&whole, &host)
  }

  /// Accessors of metadata and of conformances.
  private func givesSame(_ target: UInt64) -> Bool {
    let name = symbols.symbols(at: target).first?.nameText
      ?? MetadataReader(file: file).importStub(at: target).map { String(decoding: $0, as: UTF8.self) }
    guard let name else { return false }
    return name.hasSuffix("Ma") || name.hasSuffix("Wl") || name.hasPrefix("__swift_instantiate")
  }
}

extension Body {
  /// Its own code, and that of functions without other callers to which it hands its calls.
  var allCode: [Range<UInt64>] {
    [address..<address + UInt64(size)] + (way.through.map { [$0] } ?? []) + (passage.map { [$0.code] } ?? [])
  }
}
