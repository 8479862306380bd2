// BackEndReach — what hooks of one back end would see of a selector's calls, said beforehand.

/// How a call is written.
package enum CallWay: String, CaseIterable, Sendable {
  /// On a value whose type is known exactly, or of a function that belongs to no value.
  case direct
  /// On an object, of a method that subclasses may override.
  case virtual
  case viaSuper = "super"
  /// On a value of which only a protocol is known.
  case viaProtocol = "protocol"
  case keyPath = "key-path"
  /// Through a closure made of the method or function.
  case closure
}

/// How many of the calls that are written so a hook sees.
package enum ReachClaim: String, Sendable {
  /// All of them; proven.
  case all
  /// Those that the compiler left to go that way: which these are is not known.
  case some
  case none
}

package struct BackEndReach: Sendable {
  package let backEnd: BackEnd
  /// Why it is not possible; nil when it is.
  package let refusal: (code: String, reason: String)?
  /// The one that is taken when none is asked for.
  package var isChosen = false
  /// What it changes, in a few words.
  package var changes = ""
  package var claims: [CallWay: ReachClaim] = [:]
  /// What limits it, in whole sentences.
  package var limits: [String] = []

  init(_ backEnd: BackEnd, _ reason: BackEndRefusal) {
    self.backEnd = backEnd
    refusal = (reason.code, reason.description)
  }
  init(_ backEnd: BackEnd, _ reason: HookRefusal) {
    self.backEnd = backEnd
    refusal = (reason.code, reason.description)
  }
  init(_ backEnd: BackEnd, _ changes: String, _ claims: [CallWay: ReachClaim], limits: [String] = []) {
    self.backEnd = backEnd
    refusal = nil
    self.changes = changes
    self.limits = limits
    for way in CallWay.allCases { self.claims[way] = claims[way, default: .none] }
  }
}

extension BackEndReach: CustomStringConvertible {
  /// `vtable: sees virtual calls where the compiler left them to go that way, and no others; changes …`
  package var description: String {
    if let refusal { return "not possible: \(refusal.reason)" }
    var parts: [String] = []
    let all = CallWay.allCases.filter { claims[$0] == .all }
    let some = CallWay.allCases.filter { claims[$0] == .some }
    let none = CallWay.allCases.filter { claims[$0] == ReachClaim.none }
    if all.count == CallWay.allCases.count {
      parts.append("sees every call")
    } else if some.count == CallWay.allCases.count {
      parts.append("sees calls that \(howSome)")
    } else {
      if !all.isEmpty { parts.append("sees all \(Self.list(all)) calls") }
      if !some.isEmpty { parts.append("sees \(Self.list(some)) calls that \(howSome)") }
      if !none.isEmpty { parts.append("misses \(none.count > 3 ? "all others" : Self.list(none) + " calls")") }
    }
    return (["changes \(changes)"] + parts + limits).joined(separator: "; ")
  }

  private var howSome: String {
    switch backEnd {
    case .entry: "enter these bodies; copies that were inlined are missed"
    case .vtable, .classSwitch: "go through the table; what the compiler made direct is missed"
    case .witness: "go through the tables; what the compiler made direct is missed"
    case .dynamic, .importSlot: "go through it"
    }
  }

  private static func list(_ ways: [CallWay]) -> String {
    let names = ways.map(\.rawValue)
    return names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
  }
}
