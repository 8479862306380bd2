// ThreadStacks — stacks of the program's threads as addresses that are proven to be calls: what CCrash read is checked here.
private import CCrash
private import CHookTrampoline
private import Glibc
internal import HookRuntime
private import Synchronization

/// Where a thread was.
struct ThreadStack: Sendable {
  let thread: Int32
  /// It slept in the kernel.
  let isAsleep: Bool
  /// Addresses of this process, innermost first: the program counter, then addresses to which calls return. Frames of ours are left out.
  let frames: [UInt]
}

/// Asks threads where they are. One question at a time.
enum ThreadStacks {
  private static let asking = Mutex(Images())

  /// Whether threads that run can be asked here: not where the program has put its own handler for SIGFPE in the place of ours.
  static var canAsk: Bool { ccrash_stacks_can_be_asked() }

  /// The stack of a thread of this process other than the caller's; nil when it is gone or did not answer.
  static func capture(_ thread: Int32) -> ThreadStack? {
    asking.withLock { images in
      withUnsafeTemporaryAllocation(of: CCrashThreadStack.self, capacity: 1) { place in
        // Filled by the call before anything of it is read.
        guard ccrash_thread_stack(thread, place.baseAddress!) else { return nil }
        images.refresh()
        return ThreadStack(thread: thread, isAsleep: place[0].is_asleep != 0, frames: images.frames(place.baseAddress!))
      }
    }
  }

  /// The kernel's numbers of all threads.
  static func threads() -> [Int32] {
    guard let directory = opendir("/proc/self/task") else { return [] }
    defer { closedir(directory) }
    var found: [Int32] = []
    while let entry = readdir(directory) {
      let number = withUnsafePointer(to: &entry.pointee.d_name) { atol(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
      if number > 0 { found.append(Int32(truncatingIfNeeded: number)) }
    }
    return found
  }

  /// The system call in which a thread sleeps; nil while it runs.
  static func systemCall(of thread: Int32) -> Int32? {
    let number = ccrash_thread_system_call(thread)
    return number < 0 ? nil : number
  }

  /// A thread's name, as ps shows it.
  static func name(of thread: Int32) -> String {
    guard let file = fopen("/proc/self/task/\(thread)/comm", "re") else { return "" }
    defer { fclose(file) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      guard fgets(buffer.baseAddress!, 64, file) != nil else { return "" }
      return String(String(cString: buffer.baseAddress!).prefix { $0 != "\n" })
    }
  }

  /// Names frames: `Shop.Cart.total(tax:) + 12`, or `libshop.so + 0x1f0` where no symbol holds the address.
  static func names(of frames: [UInt]) -> [String] { asking.withLock { images in frames.enumerated().map { images.name($1, isCall: $0 > 0) } } }

  /// Names addresses of this process as it is now: the first one is an instruction, the others are returned to.
  static func names(now frames: [UInt]) -> [String] {
    asking.withLock { images in
      images.refresh()
      return frames.enumerated().map { images.name($1, isCall: $0 > 0) }
    }
  }

  /// Names of functions by the addresses they are returned to, without distances; those of ours and of Lua are left out, and so is what is
  /// no code.
  static func names(ofCallers addresses: [UInt]) -> [String] {
    asking.withLock { images in
      images.refresh()
      return addresses.compactMap { images.caller($0) }
    }
  }

  /// The image of an address of this process, with its build-id in hexadecimal and the address in the file.
  static func place(of address: UInt) -> (path: String, buildID: String, offset: UInt64)? {
    asking.withLock { images in
      guard let image = images.image(address) else { return nil }
      return (image.path, hexadecimal(image.buildID), UInt64(address &- image.bias))
    }
  }

  /// The module whose code an address is returned to; nil where that is no Swift code.
  static func module(ofCaller address: UInt) -> String? {
    asking.withLock { images in
      images.refresh()
      return images.module(address)
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// The images of the process, and what their code is called.
private struct Images {
  private var now: LoadedImages?
  private var changes: UInt64 = 0
  private var ours = ""
  private var isSwift: [String: Bool] = [:]
  private var names: [String: CodeNames] = [:]
  private var tables: [String: FrameTables?] = [:]

  mutating func refresh() {
    let count = LoadedImages.changeCount
    if now != nil, count == changes { return }
    let snapshot = LoadedImages.snapshot()
    (now, changes) = (snapshot, count)
    // A function of this library tells where it is.
    let own: @convention(c) (Int32, UnsafeMutablePointer<CCrashThreadStack>?) -> Bool = ccrash_thread_stack
    ours = snapshot.image(containing: unsafeBitCast(own, to: UInt.self))?.path ?? ""
  }

  func image(_ address: UInt) -> LoadedImage? { now?.image(containing: address) }

  /// What is proven of a stack, innermost first.
  mutating func frames(_ stack: UnsafePointer<CCrashThreadStack>) -> [UInt] {
    let counter = UInt(stack.pointee.counter)
    var found = [counter]
    var records = Self.records(stack)
    if let callers = callersByTables(of: stack), let last = callers.last {
      found += callers.map(\.counter)
      // The first record above the stack pointer may be a stale one, of a call that is over.
      let record = last.pointer ?? recordByPrologue(of: last, on: stack) ?? firstRecord(of: stack, above: last.stack)
      records = record.map { Self.records(of: stack, from: $0, above: last.stack) } ?? []
    } else {
      found += innermostCallers(stack)
    }
    for record in records {
      if isReturn(record.returnAddress) {
        if found.last != record.returnAddress { found.append(record.returnAddress) }
      } else if image(record.returnAddress) != nil {
        // Not a call: the chain was no chain any more. (Stubs of ours are in no image.)
        break
      }
    }
    return found.filter { address in image(address).map { $0.path != ours } ?? false }
  }

  private struct Record {
    let at: UInt
    let returnAddress: UInt
  }

  /// The frame records that were read on the thread, innermost first.
  private static func records(_ stack: UnsafePointer<CCrashThreadStack>) -> [Record] {
    withUnsafeBytes(of: stack.pointee.record_at) { places in
      withUnsafeBytes(of: stack.pointee.return_to) { addresses in
        (0..<Int(stack.pointee.record_count)).map {
          Record(
            at: UInt(places.load(fromByteOffset: $0 * 8, as: UInt64.self)),
            returnAddress: UInt(addresses.load(fromByteOffset: $0 * 8, as: UInt64.self)))
        }
      }
    }
  }

  /// The frame records from the one that a frame pointer leads to.
  private static func records(of stack: UnsafePointer<CCrashThreadStack>, from pointer: UInt, above least: UInt) -> [Record] {
    var found: [Record] = []
    let read = records(stack)
    var (at, least) = (pointer, least)
    while found.count < CCRASH_STACK_RECORDS, at >= least, at - least < UInt(CCRASH_LONGEST_FRAME), at % 16 == 0 {
      if let known = read.firstIndex(where: { $0.at == at }) { return found + read[known...] }
      guard let next = word(at, of: stack), let back = word(at + 8, of: stack) else { break }
      found.append(Record(at: at, returnAddress: back))
      // Async frames are marked.
      (least, at) = (at + 16, next & ~(1 << 60))
    }
    return found
  }

  /// What the thread's stack held at an address when it was read; nil where that is not known. A thread that sleeps has it still.
  private static func word(_ address: UInt, of stack: UnsafePointer<CCrashThreadStack>) -> UInt? {
    let (offset, isBelow) = address.subtractingReportingOverflow(UInt(stack.pointee.stack))
    if !isBelow, offset % 8 == 0, offset / 8 < UInt(stack.pointee.word_count) {
      return withUnsafeBytes(of: stack.pointee.words) { UInt($0.load(fromByteOffset: Int(offset), as: UInt64.self)) }
    }
    var word: UInt = 0
    return stack.pointee.is_asleep != 0 && hkt_peek(UInt64(address), &word, 8) ? word : nil
  }

  /// The frame record of a function that keeps a frame pointer and waits for what it called: above all that its first instructions take of the
  /// stack. Nil where those are others than compilers use, or it has taken more since.
  private mutating func recordByPrologue(of frame: FrameTables.Frame, on stack: UnsafePointer<CCrashThreadStack>) -> UInt? {
    guard let image = image(frame.counter), let start = function(frame.counter, isCall: true, of: image)?.start else { return nil }
    var code = bytes(at: image.bias &+ UInt(start), count: 32)[...]
    func take(_ instruction: [UInt8]) -> Bool {
      guard code.starts(with: instruction) else { return false }
      code = code.dropFirst(instruction.count)
      return true
    }
    _ = take([0xf3, 0x0f, 0x1e, 0xfa])  // endbr64
    guard take([0x55]), take([0x48, 0x89, 0xe5]) else { return nil }  // push %rbp; mov %rsp,%rbp
    var size: UInt = 0
    // Registers, r8 to r15 behind a prefix.
    while let push = code.first == 0x41 ? code.dropFirst().first : code.first, 0x50...0x57 ~= push {
      code = code.dropFirst(code.first == 0x41 ? 2 : 1)
      size += 8
    }
    if take([0x48, 0x83, 0xec]) {  // sub $room,%rsp
      size += UInt(code.first ?? 0)
    } else if take([0x48, 0x81, 0xec]) {  // the same with four bytes
      size += code.prefix(4).reversed().reduce(0) { $0 << 8 | UInt($1) }
    } else if take([0x48, 0x83, 0xc4, 0x80]) {  // add $-128,%rsp
      size += 128
    }
    return size < UInt(CCRASH_LONGEST_FRAME) && isRecord(frame.stack + size, of: stack) ? frame.stack + size : nil
  }

  /// The first words from there on that may be a frame record.
  private func firstRecord(of stack: UnsafePointer<CCrashThreadStack>, above least: UInt) -> UInt? {
    stride(from: least + least % 16, to: least + Self.furthestRecord, by: 16).first { isRecord($0, of: stack) }
  }

  /// Where another record may lie, and an address behind a call.
  private func isRecord(_ at: UInt, of stack: UnsafePointer<CCrashThreadStack>) -> Bool {
    guard at % 16 == 0, let word = Self.word(at, of: stack), let back = Self.word(at + 8, of: stack) else { return false }
    let next = word & ~(1 << 60)
    return next > at && next - at < UInt(CCRASH_LONGEST_FRAME) && next % 16 == 0 && isReturn(back)
  }
  private static let furthestRecord: UInt = 4096

  /// Who called, from the innermost one to the first whose code keeps frame pointers; nil where the innermost code does, or where its image
  /// has no tables that tell.
  private mutating func callersByTables(of stack: UnsafePointer<CCrashThreadStack>) -> [FrameTables.Frame]? {
    // Of a thread that sleeps the kernel does not tell the frame pointer.
    let pointer = stack.pointee.frame
    var frame = FrameTables.Frame(
      counter: UInt(stack.pointee.counter), stack: UInt(stack.pointee.stack), pointer: pointer == 0 ? nil : UInt(pointer))
    var found: [FrameTables.Frame] = []
    while found.count < Self.mostByTables, !keepsFramePointers(frame.counter), let image = image(frame.counter) {
      let at = UInt64(frame.counter &- image.bias) - (found.isEmpty ? 0 : 1)
      guard let caller = tables(of: image)?.caller(of: frame, at: at, word: { Self.word($0, of: stack) }), isReturn(caller.counter) else { break }
      found.append(caller)
      frame = caller
    }
    return found.isEmpty ? nil : found
  }
  private static let mostByTables = 64

  private mutating func tables(of image: LoadedImage) -> FrameTables? {
    if let known = tables[image.path] { return known }
    let found = image.file.flatMap { FrameTables($0) }
    tables[image.path] = .some(found)
    return found
  }

  /// Callers that neither frame pointers nor tables tell: of functions that keep none, and of those that have just begun or are about to return.
  private mutating func innermostCallers(_ stack: UnsafePointer<CCrashThreadStack>) -> [UInt] {
    let words = Int(stack.pointee.word_count)
    func word(_ index: Int) -> UInt {
      withUnsafeBytes(of: stack.pointee.words) { UInt($0.load(fromByteOffset: index * 8, as: UInt64.self)) }
    }
    let counter = UInt(stack.pointee.counter)
    if keepsFramePointers(counter) {
      // A stub through which an import is called: `jmp *slot(%rip)` where it begins or behind `endbr64`, or the jump to the loader
      // behind `push $index`.
      let jump = bytes(at: counter, count: 6)
      if words > 0,
        jump.starts(with: [0xff, 0x25]) || jump.starts(with: [0xf3, 0x0f, 0x1e, 0xfa]) || jump.starts(with: [0xf2, 0xff, 0x25]),
        isReturn(word(0))
      {
        return [word(0)]
      }
      if words > 1, jump.first == 0xe9, bytes(at: counter &- 5, count: 1) == [0x68], isReturn(word(1)) { return [word(1)] }
      let code = bytes(at: counter, count: 3)
      if words > 0, code.first == 0x55 || code.first == 0xc3, isReturn(word(0)) { return [word(0)] }
      let before = bytes(at: counter &- 1, count: 1)
      if words > 1, code == [0x48, 0x89, 0xe5], before == [0x55], isReturn(word(1)) { return [word(1)] }
      return []
    }
    var found: [UInt] = []
    let record = stack.pointee.record_count > 0 ? stack.pointee.record_at.0 : .max
    for index in 0..<words where stack.pointee.stack + UInt64(index) * 8 < record && found.count < 16 {
      let address = word(index)
      guard isReturn(address) else { continue }
      found.append(address)
      // From here on frame pointers tell, and the words between may be old.
      if keepsFramePointers(address) { break }
    }
    return found
  }

  /// Swift code keeps frame pointers; what other compilers made may not.
  private mutating func keepsFramePointers(_ address: UInt) -> Bool {
    guard let image = image(address) else { return false }
    if let known = isSwift[image.path] { return known }
    let answer = image.file?.isSwift ?? false
    isSwift[image.path] = answer
    return answer
  }

  /// Whether a call stands before the address.
  private func isReturn(_ address: UInt) -> Bool {
    guard image(address) != nil else { return false }
    let code = bytes(at: address &- 7, count: 7)
    guard code.count == 7 else { return false }
    // E8 with four bytes, or FF /2 of two to seven bytes.
    return code[2] == 0xe8 || (0...5).contains { code[$0] == 0xff && code[$0 + 1] & 0x38 == 0x10 }
  }

  private func bytes(at address: UInt, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = hkt_peek(UInt64(address), buffer.baseAddress, count) ? count : 0
    }
  }

  /// The function of the program that an address is returned to; nil where that is one of ours.
  mutating func caller(_ address: UInt) -> String? {
    guard let image = image(address), image.path != ours, !image.path.contains("/liblua5.4.so"), !image.path.hasSuffix("/libscripthost_preload.so")
    else { return nil }
    return function(address, isCall: true, of: image).map { Self.withoutParts($0.name) } ?? place(address, in: image)
  }

  /// Compilers split async functions where they wait; who calls is the function.
  private static func withoutParts(_ name: String) -> String {
    var rest = name[...]
    while let part = parts.first(where: { rest.hasPrefix($0) }) { rest = rest.dropFirst(part.count) }
    return String(rest)
  }
  private static let parts = [
    "async await resume partial function for ", "await resume partial function for ", "async suspend resume partial function for ",
    "suspend resume partial function for ",
  ]

  /// - Parameter isCall: the address is behind a call, which may be the last instruction of its function.
  mutating func name(_ address: UInt, isCall: Bool) -> String {
    guard let image = image(address) else { return "0x" + String(address, radix: 16) }
    guard let function = function(address, isCall: isCall, of: image) else { return place(address, in: image) }
    return "\(function.name) + \(UInt64(address &- image.bias) - function.start)"
  }

  private mutating func function(_ address: UInt, isCall: Bool, of image: LoadedImage) -> (name: String, start: UInt64)? {
    let offset = UInt64(address &- image.bias)
    readNames(of: image)
    return names[image.path]?.function(at: isCall ? offset - 1 : offset)
  }

  private mutating func readNames(of image: LoadedImage) {
    if names[image.path] == nil, let file = image.file {
      names[image.path] = CodeNames(file, options: ProcessCatalog.shared.options)
    }
  }

  mutating func module(_ address: UInt) -> String? {
    guard let image = image(address) else { return nil }
    readNames(of: image)
    return names[image.path]?.module(at: UInt64(address &- image.bias) - 1)
  }

  private func place(_ address: UInt, in image: LoadedImage) -> String {
    "\(image.path.split(separator: "/").last ?? "") + 0x\(String(UInt64(address &- image.bias), radix: 16))"
  }
}
