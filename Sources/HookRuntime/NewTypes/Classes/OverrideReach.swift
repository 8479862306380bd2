// OverrideReach — whether calls of a member go through its slot, as far as the code shows.
//
// In optimised modules the compiler calls directly what it knows nobody overrides: everything that is not `open`, where it
// sees the whole module. Such calls would miss an override made at run time.
private import Glibc
private import SwiftMangling

extension ClassMember {
  /// Why an override would miss calls; nil when nothing shows that it would.
  /// - Parameter type: the class that is to be inherited from.
  func missedCalls(by type: Metadata) -> MemberProblem? {
    var callers: [String] = []
    for each in family.bodies {
      guard let found = image.directCallers(of: each) else { return .directCalls(["code without a name"]) }
      callers += found.compactMap { caller(named: $0.nameText) }
    }
    if !callers.isEmpty { return .directCalls(callers.uniqued()) }
    if let count = image.inlinedCopies(of: family), count > 0 { return .inlinedCopies(count) }
    return nil
  }

  /// The function's name, unless its calls are none that an override is to see: the member's own bodies, and the overrides of
  /// subclasses, which call what they override.
  private func caller(named mangledName: String) -> String? {
    var parser = SymbolParser()
    guard let found = parser.declaration(mangledName) else { return mangledName }
    if found.familyName == family.key { return nil }
    // In-place modification of a property is overridden with its getter and setter.
    if isModify(found) { return nil }
    if isSameMember(found), let context = found.context, context != declaration.context,
      case .success(let subclass) = TypeResolver.shared.type(.nominal(context, kind: .classType, arguments: [])),
      subclass.metadata.isSubclass(of: owner)
    {
      return nil
    }
    return PrivateNames.stripped(found.selectorName)
  }

  private func isModify(_ other: Declaration) -> Bool {
    (other.kind == .modify || other.wrappedKind == .modify) && other.name == declaration.name && other.context == declaration.context
      && other.isStatic == declaration.isStatic && other.isSubscript == declaration.isSubscript
      && (declaration.kind == .getter || declaration.kind == .setter)
  }

  private func isSameMember(_ other: Declaration) -> Bool {
    other.name == declaration.name && other.labels == declaration.labels && other.isStatic == declaration.isStatic
      && (other.kind == declaration.kind || other.wrappedKind == declaration.kind)
  }

  /// The word in a slot is code that only reports that the method was deleted.
  func isDeleted(_ word: UInt) -> Bool {
    if word == 0 || word == Self.deletedMethod { return true }
    if SynthesizedMethods.isOurs(word) { return false }
    return image.isDeleted(UInt64(word))
  }

  private static let deletedMethod = UInt(bitPattern: dlsym(nil, "swift_deletedMethodError"))
}
