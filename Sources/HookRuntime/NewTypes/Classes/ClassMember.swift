// ClassMember — a method, accessor or initialiser of a class that subclasses inherit, and where its metadata has it.
//
// Calls through its slot (MethodSlots finds it) see an override, and no other calls do: those that the optimiser made direct
// are looked for in the code, because an override would silently miss them.
private import Glibc
package import SwiftMangling

package struct ClassMember: Sendable {
  package let selector: String
  package let declaration: Declaration
  /// The nearest class, from the given one upwards, that declares or overrides it.
  package let owner: Metadata
  let image: ImageCatalog
  package let family: Family
  /// The body of the declared convention; for async functions its code.
  let body: Body

  /// - Parameters:
  ///   - name: `total(tax:)`, `title.get`, `static make()`, also with types, or with the class before it.
  ///   - type: its superclasses are looked through, too.
  ///   - suggesting: a miss is reported with the nearest name.
  static func find(_ name: String, in type: Metadata, suggesting: Bool = true) -> Result<ClassMember, MemberProblem> {
    let isStatic = name.hasPrefix("static ")
    let bare = String(name.dropStatic())
    var first: String?
    for owner in type.classChain {
      guard let ownerName = owner.declaredName else { continue }
      let full = (isStatic ? "static " : "") + (bare.hasPrefix(ownerName + ".") ? bare : "\(ownerName).\(bare)")
      switch SelectorLookup.resolve(full, suggesting: false) {
      case .success(let found):
        guard let (image, family, body) = found.lazy.compactMap({ image, family in family.declaredBody.map { (image, family, $0) } }).first
        else {
          return .failure(.noBody)
        }
        return .success(
          ClassMember(selector: family.selector, declaration: body.declaration, owner: owner, image: image, family: family, body: body))
      case .failure(.ambiguous(let text, let candidates)):
        return .failure(.notFound(LookupError.ambiguous(text, candidates: candidates).description))
      case .failure: first = first ?? full
      }
    }
    guard let first else { return .failure(.notFound("its class is not known")) }
    guard suggesting, case .failure(let problem) = SelectorLookup.resolve(first) else { return .failure(.notFound(first)) }
    return .failure(.notFound(problem.description))
  }

  // MARK: Slots

  /// The word of the metadata of `owner` and its subclasses that virtual calls go through.
  func slot() -> Result<Int, MemberProblem> {
    let slots: [MethodSlot]
    switch image.methodSlots(of: family) {
    case .success(let found): slots = found
    case .failure(.deleted): return .failure(.deleted)
    case .failure(.ambiguous): return .failure(.sharedBody(image.sharedCode.selectors(atAddressesOf: family)))
    case .failure(.noClass), .failure(.inExtension), .failure(.notVirtual): return .failure(.noSlot)
    }
    // Calls through a thunk are made as the overridden method's.
    if slots.contains(where: \.isThunk) { return .failure(.thunkSlot) }
    guard slots.count == 1, let slot = slots[0].word(in: image) else { return .failure(.noSlot) }
    return .success(slot)
  }

  /// How calls through the slot pass their values: as declared, because whoever calls it knows nothing but the declaration.
  var plan: CallPlan { CallPlanner().plan(declaration, evidence: declaration.isEffectivelyPrivate ? PointedToEvidence() : nil) }

  /// Other modules can name its class.
  var isVisible: Bool {
    guard let descriptor = owner.descriptor else { return false }
    return image.metadataSymbols.isVisible(UInt64(UInt(bitPattern: descriptor.pointer)) &- image.bias)
  }

  /// Ready to be called on objects, at the implementation that their class has.
  func callable() throws(NewTypeError) -> Callable {
    let plan = plan
    do throws(CallRefusal) {
      return try Callable(declaration, selector: selector, plan: plan, selfPlan: plan.selfPlan, entry: UInt(body.address))
    } catch { throw .member(selector, of: owner.name, reason: error.description) }
  }
}

/// Why a member cannot be overridden.
package enum MemberProblem: Error, Equatable, Sendable {
  case notFound(String)
  /// Only clones are left.
  case noBody
  case noSlot
  case deleted
  case sharedBody([String])
  /// Functions that call it directly.
  case directCalls([String])
  case inlinedCopies(Int)
  /// An ancestor's slot holds a thunk that leads to it.
  case thunkSlot
  case isDeinit
  case coroutine
  case convention(String)
}

extension MemberProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notFound(let text): text
    case .noBody: "the compiler left no body of its declared convention"
    case .noSlot: "it has no place in the class's virtual table: it is final, or the compiler proved that nobody overrides it"
    case .deleted: "nobody calls it through the virtual table any more; the compiler made all its calls direct"
    case .sharedBody(let names):
      "its code is also that of \(names.prefix(3).map { "'\($0)'" }.joined(separator: ", ")), and which slot is whose does not show"
    case .directCalls(let callers):
      "\(callers.count) direct call\(callers.count == 1 ? "" : "s") of it would not see the override, in "
        + callers.prefix(3).map { "'\($0)'" }.joined(separator: ", ") + (callers.count > 3 ? " and others" : "")
        + "; hook it for the new class's objects, or say that missing them is meant"
    case .inlinedCopies(let count):
      "\(count) inlined cop\(count == 1 ? "y" : "ies") of it would not see the override; hook its callers, or say that missing them is meant"
    case .thunkSlot: "it overrides a method of another type, whose callers come through a thunk"
    case .isDeinit: "a 'deinit' is not overridden; give the class one of its own"
    case .coroutine: "a coroutine accessor is overridden with the property's '.get' and '.set'"
    case .convention(let reason): reason
    }
  }
}

/// For functions whose address is in a table: the optimiser keeps their convention, and who calls them passes everything.
final class PointedToEvidence: BodyEvidence {
  let keptBecause: String? = "its address is in a virtual table"
  func taken(_ places: Places) -> Places { places }
  func isCertainlyUnused(_ places: Places) -> Bool { false }
  func used(_ places: Places) -> Places { places }
  let error = ErrorEvidence.unknown
  func given(_ places: Places) -> Places { [] }
  func arePassed(_ places: Places) -> Bool { true }
  func selfUse(of object: Places, results: OwnedResults?) -> SelfUse { .unknown }
  func entryBytes(ofVariableAt register: Places) -> EntryBytes? { nil }
  let mayHaveCloseCallers = false
  let isExported = true
  let onlyReturns = false
}

extension Family {
  /// The body that anybody who knows only the declaration may call.
  var declaredBody: Body? {
    bodies.first { body in
      switch body.form {
      case .base, .sharesCodeOf: body.declaration.specialization.isEmpty
      default: false
      }
    }
  }
}

extension Metadata {
  /// The name that selectors begin with; nil for private classes, which cannot be spelled.
  var declaredName: String? {
    let name = _typeName(type, qualified: true)
    return name.contains("(unknown context") ? nil : String(name.prefix { $0 != "<" })
  }
}

extension MethodSlot {
  /// The slot as a word of the metadata of the class that introduced it, and of all its subclasses; nil where that class has none
  /// yet.
  fileprivate func word(in image: ImageCatalog) -> Int? {
    guard let introducer = introducer.resolved(in: image), let entry = entry.resolved(in: image),
      let descriptor = UnsafeRawPointer(bitPattern: UInt(introducer.address + introducer.image.bias)),
      let record = UnsafeRawPointer(bitPattern: UInt(entry.address + entry.image.bias)),
      let table = TypeDescriptor(descriptor).virtualTable, let index = table.index(of: record)
    else { return nil }
    return table.offset + index
  }
}
