// CallSites — reads the code at return addresses, and where async callers are resumed, for call_sites.c.
//
// Asked on the thread of a call whose outcome a handler replaces, the first time for its return address.
internal import CHookTrampoline
internal import SwiftMangling

package enum CallSites {
  /// Says who reads call sites. Once, at start.
  static func install() {
    // A box lives as long as the error: its class is one of the runtime's.
    let isa = withExtendedLifetime(ErrorBox(CancellationError())) { UnsafePointer<UInt>(bitPattern: $0.borrowedWord)!.pointee }
    hkt_set_error_class(UInt64(isa))
    hkt_set_variable_reader { CallSites.use($0, $1, $2) }
    hkt_set_call_site_reader { site in if let site { CallSites.read(&site.pointee) } }
  }

  private static func use(_ returnAddress: UInt64, _ variable: Int64, _ size: UInt32) -> HKTVariableUse {
    guard let image = image(of: returnAddress) else { return HKT_VARIABLE_MAY_BE_USED }
    return image.lock.withLock { image.flows.use(ofVariable: variable, size, after: returnAddress - image.bias) }
  }

  /// The image whose code the address is in.
  static func image(of address: UInt64) -> ImageCatalog? {
    ProcessCatalog.shared.current().first { image in
      address >= image.bias && image.file.segments.contains { $0.isLoaded && address &- image.bias &- $0.address < $0.memorySize }
    }
  }

  private static func read(_ site: inout HKTCallSite) {
    guard let image = image(of: site.return_address) else {
      // Nothing of Swift's is there: an image of its own, with which nothing was compiled.
      site.image_begin = site.return_address
      site.image_end = site.return_address + 1
      return
    }
    let segments = image.file.segments.filter(\.isLoaded)
    site.image_begin = image.bias + (segments.map(\.address).min() ?? 0)
    site.image_end = image.bias + (segments.map { $0.address + $0.memorySize }.max() ?? 0)
    image.lock.withLock {
      let address = site.return_address - image.bias
      if site.resumes { image.flows.read(&site, resumedAt: address) } else { image.flows.read(&site, at: address) }
    }
  }

  /// The function whose body begins there returns what it was passed in that place.
  static func returns(_ place: Places, bodyAt address: UInt64) -> Bool {
    guard let image = image(of: address) else { return false }
    return image.lock.withLock { image.flows.returns(place, at: address - image.bias) }
  }

  /// Where a caller goes on, for people: image, function and offset.
  fileprivate static func text(_ place: OutcomeReach.GoingOn) -> String {
    guard let image = image(of: place.address) else { return "an unknown image" }
    let name = image.path.split(separator: "/").last.map(String.init) ?? image.path
    let address = place.address - image.bias
    return image.lock.withLock {
      // A call is the instruction before: a function may end with it.
      guard let function = image.symbols.symbol(containing: place.isResumption ? address : address - 1) else {
        return "\(name)+0x\(String(address, radix: 16))"
      }
      let shown = image.nameParser.declaration(Flows.wholeFunction(function.nameText))?.selectorName ?? function.nameText
      // Of an async function, the part says where: its code is in one piece for each.
      return place.isResumption ? "'\(shown)' in \(name)" : "'\(shown)'+0x\(String(address - function.address, radix: 16)) in \(name)"
    }
  }
}

extension Flows {
  /// Fills in what the code does after the call that returns to the file's `address`.
  func read(_ site: inout HKTCallSite, at address: UInt64) {
    guard let function = symbols.symbol(containing: address - 1), function.size > 0,
      var code = code(function.address, Int(function.size))
    else { return }
    site.ends = hasNothing(behind: address, in: function)
    if let caller = parser.declaration(Self.wholeFunction(function.nameText)), caller.specialization.isEmpty {
      site.module = CallPlan.module(named: caller.module)
    }
    var certain = HKTFlow()
    var maybe = HKTFlow()
    let isRead = withHost { host in
      hkt_read_after_call(&code, address, host, false, &certain) && hkt_read_after_call(&code, address, host, true, &maybe)
    }
    guard isRead, certain.is_whole, maybe.is_whole else { return }
    site.read = certain.reads
    site.possible = maybe.reads
    site.returned = maybe.returned
    site.tests_error = certain.tests_error
    site.is_known = true
    // What several functions were merged into is given the callee's address by each of them, which knew it.
    site.is_direct = certain.is_direct || Merges.isMerged(function)
    if isAsync(function) {
      site.leaves = !maybe.may_use
    } else if certain.rsp != Int32(HKT_NO_OFFSET), certain.rsp <= 0 {
      // The frame of an async function goes on in its task.
      site.frame = -certain.rsp
    }
  }

  /// The function ends, or traps, at the file's `address`, which a call in it returns to.
  private func hasNothing(behind address: UInt64, in function: ImageSymbol) -> Bool {
    let left = function.address + UInt64(function.size) - address
    // ud2.
    if left < 2 { return left == 0 }
    return code(address, 2).map { $0.bytes[0] == 0x0f && $0.bytes[1] == 0x0b } ?? false
  }

  /// A caller of the function at the file's `address` has no code behind its call: it was compiled with a function that does not return.
  func hasCallerWithNothingBehind(_ address: UInt64) -> Bool {
    (sites(to: address) ?? []).contains { site in
      // A direct call has five bytes; all else that names a function is a jump.
      guard site.at + 5 <= site.function.address + UInt64(site.function.size), code(site.at, 1)?.bytes[0] == 0xE8 else { return false }
      return hasNothing(behind: site.at + 5, in: site.function)
    }
  }

  /// Fills in what the part of an async function does that begins at the file's `address`, with what it waited for.
  func read(_ site: inout HKTCallSite, resumedAt address: UInt64) {
    guard let part = symbols.symbols(at: address).first(where: { $0.isFunction && $0.size > 0 }) else { return }
    if let caller = parser.declaration(Self.wholeFunction(part.nameText)), caller.specialization.isEmpty {
      site.module = CallPlan.module(named: caller.module)
    }
    let possible = possible(at: address, size: Int(part.size))
    site.is_known = possible != .max
    site.possible = possible
    let error = Places.selfRegister.word()  // a part that looks for one does so at once
    site.read = taken(.selfRegister, at: address, size: Int(part.size)).word()
    if possible & error != 0, site.read & error == 0, Self.wholeFunction(part.nameText).hasSuffix("TW") { site.returned = error }
  }

  func returns(_ place: Places, at address: UInt64) -> Bool {
    guard let function = symbols.symbols(at: address).first(where: { $0.isFunction && $0.size > 0 }),
      var code = code(address, Int(function.size))
    else { return false }
    return hkt_returns_argument(&code, place.word())
  }

  /// What is done with a variable of the function's frame after the call that returns to the file's `address`.
  func use(ofVariable variable: Int64, _ size: UInt32, after address: UInt64) -> HKTVariableUse {
    guard let function = symbols.symbol(containing: address - 1), function.size > 0,
      var code = code(function.address, Int(function.size))
    else { return HKT_VARIABLE_MAY_BE_USED }
    return withHost { hkt_variable_use(&code, address, $0, variable, size) }
  }

  private func isAsync(_ function: ImageSymbol) -> Bool {
    let whole = Self.wholeFunction(function.nameText)
    return whole != function.nameText || parser.declaration(whole)?.functionType.isAsync == true
  }
}

extension OutcomeReach {
  /// The caller does not see a new value of the argument, which the function returns: asked once for each call site. Looks at the code of
  /// the function for that.
  static func ofReturned(_ index: Int, _ plan: CallPlan, _ call: UnsafeMutablePointer<HKTCall>) -> OutcomeReach? {
    guard plan.argumentIsResult(index), call.pointee.is_async == 0, let use = use(of: firstInteger, call), use.unread == firstInteger,
      case .pieces(let pieces) = plan.arguments[index].location, let place = Places(argument: pieces[0].place)
    else { return nil }
    let goingOn = GoingOn(address: use.return_address)
    guard let site = goingOn.site, hkt_call_site_change(site, UInt32(index)),
      CallSites.returns(place, bodyAt: call.pointee.site.pointee.body)
    else { return nil }
    return .argumentKept(at: goingOn)
  }

  /// Why the outcome is lost on the caller, behind "the result", "the error" or "argument 1".
  package func reason(selector: String) -> String {
    let place = CallSites.text(goingOn)
    return switch self {
    case .unread: "of '\(selector)' is not read by its caller at \(place), which was compiled together with it; hook the caller instead"
    case .assumed:
      "of '\(selector)' cannot be replaced by one of another case: its caller at \(place) was compiled together with it and looks at parts alone; hook the caller instead"
    case .variableForgotten:
      "of '\(selector)' cannot be changed: its caller at \(place) was compiled together with it and does not look at its variable again; hook the caller instead"
    case .argumentKept:
      "of '\(selector)' was changed, and the function returns it, but its caller at \(place) was compiled together with it and does not read the result: it goes on with what it passed; hook the caller instead"
    case .noErrorExpected:
      "cannot be thrown by '\(selector)': its caller at \(place) was compiled together with it and looks for none; hook the caller instead"
    }
  }
}
