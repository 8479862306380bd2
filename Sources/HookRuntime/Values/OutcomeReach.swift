// OutcomeReach — whether a result or an error that a handler gives a call is what the caller goes on with.
//
// A caller that was compiled together with its callee may know which case that returns, that it always throws or never does, or
// whose code a closure is that it returns, and not look. What it does with the registers is read in its code (call_sites.c). Of a
// result in memory nothing is known; of what the code leaves open, neither: both count as seen.
package import CHookTrampoline

package enum OutcomeReach {
  /// The caller reads nothing of it.
  case unread(at: GoingOn)
  /// It reads some of the registers, and takes the others for what the original leaves there.
  case assumed(at: GoingOn)
  /// It goes on as if nothing could be thrown.
  case noErrorExpected(at: GoingOn)
  /// It knows what its variable holds after the call.
  case variableForgotten(at: GoingOn)
  /// It reads nothing of the result, which is an argument that it passed.
  case argumentKept(at: GoingOn)

  /// What the original left, if it ran.
  package enum Former { case none, result, error }

  /// Where a call's caller goes on.
  package struct GoingOn {
    let address: UInt64
    /// The caller is async and resumed there; else the call returns there.
    var isResumption = false

    var site: UnsafeMutablePointer<HKTCallSite>? { isResumption ? hkt_resumption(address) : hkt_call_site(address) }

    fileprivate static func after(_ call: UnsafeMutablePointer<HKTCall>) -> GoingOn {
      GoingOn(address: hkt_goes_on_at(call), isResumption: call.pointee.is_async != 0)
    }
  }

  package var goingOn: GoingOn {
    switch self {
    case .unread(let at), .assumed(let at), .noErrorExpected(let at), .variableForgotten(let at), .argumentKept(let at): at
    }
  }

  /// True once for each call site.
  package var isFirst: Bool { goingOn.site.map { hkt_call_site_report($0) } ?? true }

  /// What keeps the result from the caller; nil where nothing does.
  package static func ofResult(
    _ value: OwnedValue, _ result: ResultPlan, _ call: UnsafeMutablePointer<HKTCall>, former: Former
  ) -> OutcomeReach? {
    let pieces = pieces(of: result.location)
    let isAsync = call.pointee.is_async != 0
    func place(of piece: Piece) -> UInt64 { self.place(of: piece, isAsync: isAsync) }
    let places = places(of: pieces, isAsync: isAsync)
    guard let use = use(of: places, call), use.unread != 0 else { return nil }
    // Which text it is only the second word of a String says for certain: a caller that reads it takes nothing for granted of the
    // first, the length, which it may well have no use for.
    let lengths = stringOffsets(in: value.info, at: 0).filter { offset in
      pieces.contains { $0.offset == offset + 8 && place(of: $0) & use.unread == 0 }
    }
    let keepsUnread = pieces.allSatisfy { piece in
      place(of: piece) & use.unread == 0 || lengths.contains(piece.offset) || former == .result && isSame(piece, value, call)
    }
    if keepsUnread { return nil }
    let goingOn = GoingOn(address: use.return_address, isResumption: isAsync)
    return use.unread == places ? .unread(at: goingOn) : .assumed(at: goingOn)
  }

  /// What keeps the caller from seeing that the call throws.
  package static func ofError(_ call: UnsafeMutablePointer<HKTCall>) -> OutcomeReach? {
    var site: UInt64 = 0
    guard call.pointee.is_async == 0, hkt_caller_may_know(call), hkt_ignores_error(call, &site) else { return nil }
    return .noErrorExpected(at: GoingOn(address: site))
  }

  /// What keeps the caller from seeing a new value of its variable, whose address was passed.
  package static func ofVariable(_ argument: ArgumentPlan, _ call: UnsafeMutablePointer<HKTCall>) -> OutcomeReach? {
    guard argument.isInout, let use = variableUse(argument, call), use.rawValue == 0 else { return nil }
    return .variableForgotten(at: .after(call))
  }

  /// The caller may end the old value itself, by what it knows of its variable.
  static func mayEndOldValue(of argument: ArgumentPlan, _ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    guard let use = variableUse(argument, call) else { return false }
    return use == HKT_VARIABLE_MAY_BE_USED
  }

  /// What the caller's code does with its variable after the call; nil where that is not known, or of no account.
  private static func variableUse(_ argument: ArgumentPlan, _ call: UnsafeMutablePointer<HKTCall>) -> HKTVariableUse? {
    guard call.pointee.is_async == 0, case .address(let place) = argument.location, let info = argument.info, info.size > 0,
      hkt_caller_may_know(call)
    else { return nil }
    return hkt_variable_use_after(hkt_caller_stack(call), ValueReader(call.pointee.frame!).argumentWord(place), UInt32(truncatingIfNeeded: info.size))
  }

  /// Why nothing tells whether the call's caller looks at a new result, although it may have been compiled together with the function:
  /// nil where its code tells.
  static func whyNotKnown(_ result: ResultPlan, _ call: UnsafeMutablePointer<HKTCall>) -> String? {
    guard hkt_caller_may_know(call) else { return nil }
    if case .address = result.location { return "returns its result in memory" }
    guard let site = GoingOn.after(call).site, site.pointee.is_known else { return "is called from code that is not understood" }
    return nil
  }

  /// What is said of a new argument of a private function, whose code nothing tells about.
  package static func privateArgument(of selector: String) -> String {
    "'\(selector)' is private: where it is optimised, its code may rely on what its callers pass, and take a value that none of them passes for another; hook them, or a function that is not private"
  }

  /// Certainly all of a result that is a number, a Bool or a String; of an async call, as far as the code that its caller is resumed in tells.
  @inline(__always)
  package static func isRead(_ slot: ValueSlot, _ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    if call.pointee.site == nil { return true }
    switch slot.kind {
    case .void: return true
    case .none: return false
    default: break
    }
    if call.pointee.is_async != 0 { return mayBeRead(slot, call) }
    let places =
      switch slot.kind {
      case .double, .float: firstFloat
      case .string: firstInteger | secondInteger
      default: firstInteger
      }
    guard let site = hkt_call_site(hkt_caller_stack(call)[-1]) else { return true }
    return site.pointee.read & places == places || !site.pointee.is_direct
  }

  /// The caller certainly reads the register that a result of one word is in, or knows nothing of the function. Of calls that are not async.
  package static func readsFirstInteger(_ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    guard call.pointee.site != nil, call.pointee.is_async == 0 else { return true }
    guard let site = hkt_call_site(hkt_caller_stack(call)[-1]) else { return false }
    return site.pointee.is_known && site.pointee.read & firstInteger != 0
  }

  /// All of an async call's result may be read where its caller is resumed.
  @inline(never)
  private static func mayBeRead(_ slot: ValueSlot, _ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    let places: UInt64 =
      switch slot.kind {
      case .double, .float: firstFloat
      case .string: 1 << resumedIntegers[0] | 1 << resumedIntegers[1]
      default: 1 << resumedIntegers[0]
      }
    guard let site = GoingOn.after(call).site, site.pointee.is_known else { return true }
    return site.pointee.possible & places == places
  }

  /// Which of the registers the caller reads after the call; nil where its code is not known.
  static func use(of places: UInt64, _ call: UnsafeMutablePointer<HKTCall>) -> HKTResultUse? {
    guard places != 0, hkt_caller_may_know(call) else { return nil }
    guard call.pointee.is_async != 0 else { return hkt_result_use(call, places) }
    let goingOn = GoingOn.after(call)
    // What a part of an async function hands on counts as read there.
    guard let site = goingOn.site, site.pointee.is_known else { return nil }
    return HKTResultUse(read: 0, unread: places & ~site.pointee.possible, return_address: goingOn.address)
  }

  // MARK: Registers

  // As HKTFlow.h numbers them: rax rdx rcx r8, and xmm0 to xmm3.
  private static let integers: [UInt64] = [0, 2, 1, 8]
  // Those of arguments, which an async caller is resumed with: rdi rsi rdx rcx.
  private static let resumedIntegers: [UInt64] = [7, 6, 2, 1]
  static let firstInteger: UInt64 = 1
  private static let secondInteger: UInt64 = 1 << 2
  private static let firstFloat: UInt64 = 1 << 16

  private static func pieces(of location: Location) -> [Piece] {
    switch location {
    case .pieces(let pieces): pieces
    case .parts(let parts): parts.flatMap { pieces(of: $0.location) }
    case .address, .optimizedOut, .unknown: []
    }
  }

  private static func place(of piece: Piece, isAsync: Bool) -> UInt64 {
    switch piece.place {
    case .integer(let i) where i < integers.count: 1 << (isAsync ? resumedIntegers : integers)[i]
    case .float(let i) where i < 4: 1 << UInt64(16 + i)
    default: 0
    }
  }

  /// The registers that a call which is not async leaves the result in; 0 for one in memory, or that is not known.
  static func places(of result: ResultPlan) -> UInt64 { places(of: pieces(of: result.location), isAsync: false) }

  private static func places(of pieces: [Piece], isAsync: Bool) -> UInt64 { pieces.reduce(0) { $0 | place(of: $1, isAsync: isAsync) } }

  /// Where the Strings of a value are that it always holds: not those of an enum's case.
  private static func stringOffsets(in info: TypeInfo, at offset: Int) -> [Int] {
    switch info.kind {
    case .string: [offset]
    case .structure, .tuple:
      info.fields.flatMap { field in
        (try? field.type.get()).map { stringOffsets(in: $0, at: offset + field.offset) } ?? []
      }
    default: []
    }
  }

  /// The original left the bytes that the value has there.
  private static func isSame(_ piece: Piece, _ value: OwnedValue, _ call: UnsafeMutablePointer<HKTCall>) -> Bool {
    let results = UnsafeRawPointer(call.pointee.frame) + MemoryLayout<HKTFrame>.offset(of: \.results)!
    let there: UnsafeRawPointer
    switch piece.place {
    case .integer(let i): there = results + 8 * i + piece.skip
    case .float(let i): there = results + MemoryLayout<HKTResults>.offset(of: \.xmm)! + 16 * i
    default: return false
    }
    return (0..<piece.size).allSatisfy {
      there.load(fromByteOffset: $0, as: UInt8.self) == value.memory.load(fromByteOffset: piece.offset + $0, as: UInt8.self)
    }
  }
}
