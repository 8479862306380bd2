// CallerReport — the direct call sites of a family in its image, and what each does with the outcome of its call: for `explain`.
internal import CHookTrampoline
internal import SwiftMangling

extension ImageCatalog {
  /// What one call site does with a result or an error.
  private enum Verdict: CaseIterable {
    case reads, readsParts, ignores, looksForNoError, forwards, isNotKnown

    /// What it says, or they say, of itself.
    func words(_ count: Int = 1) -> String {
      let s = count == 1 ? "s" : ""
      return switch self {
      case .reads: "take\(s) the outcome"
      case .readsParts: "read\(s) parts of the result, and take\(s) the rest for what the original leaves there"
      case .ignores: "\(count == 1 ? "does" : "do") not read the result"
      case .looksForNoError: "look\(s) for no error"
      case .forwards: "forward\(s) the call"
      case .isNotKnown: "\(count == 1 ? "is" : "are") not understood"
      }
    }
    /// An outcome may be lost there.
    var isShown: Bool { self == .readsParts || self == .ignores || self == .looksForNoError }
  }

  private static let mostSites = 200
  private static let mostShown = 8

  /// Lines for people: how many sites there are of each kind, and where those are that lose a replaced outcome.
  func callers(of family: Family) -> [String] {
    lock.withLock {
      var counts: [Verdict: Int] = [:]
      var shown: [String] = []
      var left = Self.mostSites
      for body in family.bodies where body.place == nil {
        let plan = plan(of: body, in: family)
        if plan.isAsync { continue }
        for site in flows.sites(to: body.address - bias) ?? [] where left > 0 {
          left -= 1
          let found = verdict(site.at, plan)
          counts[found, default: 0] += 1
          if found.isShown, shown.count < Self.mostShown { shown.append("\(place(site.at, in: site.function)): \(found.words())") }
        }
      }
      let total = counts.values.reduce(0, +)
      guard total > 0 else { return [] }
      let kinds = Verdict.allCases.compactMap { kind in counts[kind].map { "\($0) \(kind.words($0))" } }
      let bound = left == 0 ? "the first \(total)" : "\(total)"
      return ["\(bound) direct call\(total == 1 ? "" : "s") in this image: \(kinds.joined(separator: ", "))"] + shown
    }
  }

  private func verdict(_ call: UInt64, _ plan: CallPlan) -> Verdict {
    // A direct call has five bytes; all else that names a function is a jump.
    guard file.bytes(at: call, count: 1)?.first == 0xE8 else { return .forwards }
    var site = HKTCallSite()
    site.frame = Int32(HKT_NO_OFFSET)
    flows.read(&site, at: call + 5)
    guard site.is_known else { return .isNotKnown }
    if plan.mayThrow || plan.throwsTyped, !site.tests_error, site.returned & 1 << 12 == 0 { return .looksForNoError }
    let places = OutcomeReach.places(of: plan.result)
    let unread = places & ~site.possible & ~site.returned
    if unread != 0 { return unread == places ? .ignores : .readsParts }
    if places == 0 { return plan.resultIsVoid ? .reads : .isNotKnown }
    return places & ~site.read == 0 ? .reads : .isNotKnown
  }

  private func place(_ address: UInt64, in function: ImageSymbol) -> String {
    let name = nameParser.declaration(function.nameText)?.selectorName ?? function.nameText
    return "\(name)+0x\(String(address - function.address, radix: 16))"
  }
}
