// WitnessConvention — how a requirement is called through a witness table.
//
// A witness of a protocol of classes takes self in r13 and, behind its arguments, the metadata of `Self` and the table it was
// found in. A member of a protocol extension takes the same (`swiftc -emit-irgen`), so what plans those plans witnesses, and
// the body of a default implementation can stand in a table as it is.
internal import SwiftMangling

struct WitnessConvention: Sendable {
  let plan: CallPlan
  /// Where `Self`'s metadata and the table are.
  let metadata: Place
  let table: Place

  init(_ requirement: Requirement) throws(ProtocolProblem) {
    guard let declaration = requirement.declaration else { throw .unnamed(1, known: 0) }
    func problem(_ reason: String) -> ProtocolProblem { .requirement(declaration.memberName, reason: reason) }
    if !requirement.isInstance { throw problem("it is a requirement of the type, which an object cannot answer for") }
    if requirement.isAsync { throw problem("it is async, or a coroutine of the newer form") }
    if requirement.kind == .read { throw problem("it is read through a coroutine") }
    if declaration.genericParameterCounts.contains(where: { $0 > 0 }) || !declaration.requirements.isEmpty {
      throw problem("it is generic")
    }
    if declaration.functionType.mentionsSelf { throw problem("its type depends on what conforms") }
    plan = CallPlanner().plan(declaration)
    if let reason = plan.obstacle ?? plan.opaqueBecause { throw problem(reason) }
    guard case .object(.selfRegister) = plan.selfPlan, plan.isExact, plan.stack.isKnown, !plan.mayUseX87 else {
      throw problem("how it is called is not known for certain")
    }
    var places: [Place] = []
    for argument in plan.hiddenArguments {
      guard case .pieces(let pieces) = argument.location, pieces.count == 1 else { throw problem("where its table is passed is not known") }
      places.append(pieces[0].place)
    }
    guard places.count == 2, case .metadata = plan.hiddenArguments[0].kind, case .witnessTable = plan.hiddenArguments[1].kind else {
      throw problem("where its table is passed is not known")
    }
    metadata = places[0]
    table = places[1]
  }
}

extension Declaration {
  /// `cartDidChange(_:)`, `title.get`.
  var memberName: String {
    let owner = context.map { PrivateNames.stripped($0.description) + "." } ?? ""
    let name = PrivateNames.stripped(selectorName)
    let bare = name.dropStatic()
    return (isStatic ? "static " : "") + (bare.hasPrefix(owner) ? bare.dropFirst(owner.utf8.count) : bare)
  }
}

extension FunctionType {
  /// `Self`, or an associated type, occurs in it.
  fileprivate var mentionsSelf: Bool { parameters.contains { $0.type.deepestParameter >= 0 } || result.deepestParameter >= 0 }
}
