// AddedMethod — a method that a class made at run time has and its superclass lacks.
//
// It is an ordinary Swift function: its stub takes self in r13 and its arguments where the declared types go. No compiled
// code knows its address; it is found by its name, by calls made through CallableLookup.
private import CHookTrampoline
package import SwiftMangling

/// What an added method takes and returns. All of them may throw.
package struct MethodSignature: Sendable {
  /// `discount(for:)`
  package let name: String
  package let labels: [String?]
  package let parameters: [Metadata]
  package let result: Metadata

  /// - Parameters:
  ///   - text: the name with its labels.
  ///   - parameters: one for each label.
  package init(_ text: String, parameters: [Metadata], result: Metadata) throws(NewTypeError) {
    guard let open = text.firstIndex(of: "("), text.last == ")", NewTypeName.isIdentifier(String(text[..<open])) else {
      throw .method(text, reason: Self.noMethod)
    }
    let inside = text[text.index(after: open)...].dropLast()
    guard inside.isEmpty || inside.last == ":" else { throw .method(text, reason: Self.noMethod) }
    labels = inside.split(separator: ":").map { $0 == "_" ? nil : String($0) }
    guard labels.count == parameters.count, labels.allSatisfy({ $0.map(NewTypeName.isIdentifier) ?? true }) else {
      throw .method(text, reason: Self.noMethod)
    }
    name = text
    self.parameters = parameters
    self.result = result
  }

  static let noMethod = "it is no name of a method, such as 'discount(for: String) -> Double'"

  fileprivate func declaration(in type: NewTypeName) -> Declaration {
    let base = String(name.prefix { $0 != "(" })
    var made = Declaration(kind: .function, module: type.module, name: base, labels: labels, familyName: "\(type.description).\(name)")
    made.context = type.nominal
    made.contextKind = .classType
    var function = FunctionType(
      parameters: zip(labels, parameters).map { Parameter(label: $0, type: Self.syntax($1)) }, result: Self.syntax(result))
    function.thrown = .any
    made.type = .function(function)
    return made
  }

  private static func syntax(_ type: Metadata) -> TypeSyntax {
    type == Metadata(Void.self) ? .tuple([]) : .known(UInt(bitPattern: type.pointer))
  }
}

extension NewTypeName {
  fileprivate var nominal: NominalName { NominalName(module: module, steps: [.init(name: name, kind: .classType)]) }

  /// The `deinit` of the class of this name.
  var deinitialiser: Declaration {
    var made = Declaration(kind: .deallocatingDeinit, module: module, name: "deinit", familyName: "\(description).deinit")
    made.context = nominal
    made.contextKind = .classType
    return made
  }
}

extension Family {
  /// A selector that no body of the program has, for what is shown of calls.
  package static func standing(for declaration: Declaration) -> Family {
    Family(
      selector: PrivateNames.stripped(declaration.selectorName), declaration: declaration, key: declaration.familyName, imagePath: "",
      bodies: [])
  }
}

package final class AddedMethod: Sendable {
  package let signature: MethodSignature
  package let declaration: Declaration
  package let callable: Callable
  private let synthesizedMethod: SynthesizedMethod

  /// - Parameter inherited: the method of a class above that this one overrides: what runs where nothing is published, and what
  ///   an override goes on to.
  init(_ signature: MethodSignature, in type: NewTypeName, over inherited: AddedMethod? = nil) throws(NewTypeError) {
    self.signature = signature
    declaration = signature.declaration(in: type)
    let plan = CallPlanner().plan(declaration)
    if let reason = plan.obstacle { throw .member(signature.name, of: type.description, reason: reason) }
    // The word that names the stub is nobody's but ours.
    let place = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    let original = if let inherited { inherited.synthesizedMethod.word } else { try Unanswered.throwing() }
    synthesizedMethod = try SynthesizedMethod(at: place, original: original, plan: plan)
    do throws(CallRefusal) {
      callable = try Callable(
        declaration, selector: "\(type.description).\(signature.name)", plan: plan, selfPlan: plan.selfPlan, entry: synthesizedMethod.word)
    } catch { throw .member(signature.name, of: type.description, reason: error.description) }
  }

  /// Makes `spec`, an `around` layer, what the method does; nil: what the inherited one does, or it throws.
  func publish(_ spec: LayerSpec?) -> Bool { synthesizedMethod.publish(spec) }
}

/// What is thrown where nothing answers a call any more.
package struct UnansweredCall: Error, CustomStringConvertible {
  package var description: String { "what answered this call was taken out, or failed" }
}

/// Code that stands behind implementations of ours that have nothing else behind them.
enum Unanswered {
  private static let lock = RecursiveLock()
  nonisolated(unsafe) private static var made: UInt?  // behind `lock`

  /// Code that throws `UnansweredCall`, whatever it is given.
  static func throwing() throws(NewTypeError) -> UInt {
    try lock.withLock { () throws(NewTypeError) in
      if let made { return made }
      let place = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
      let slot = try SynthesizedMethod.prepare(at: place, former: UInt(bitPattern: hkt_closure_entry_address()))
      slot.site.pointee.handler = { frame, _ in
        FrameAnswer(frame!).fail(ErrorBox(UnansweredCall()).word)
        return HKT_RETURN
      }
      hkt_enable(slot.site)
      made = UInt(slot.ours)
      return UInt(slot.ours)
    }
  }
}
