// Containable — whether a trap below a function may be answered at its boundary, or why not.
private import SwiftMangling

extension ImageCatalog {
  /// Why calls of the function must not be contained, in words behind "it"; nil: nothing speaks against it.
  package func whyNotContained(_ family: Family) -> String? {
    if family.imported != nil { return "is a C function, which may hold locks when it faults" }
    let declaration = family.declaration
    if family.hasAsyncBodies { return "is async: its calls end on another stack than they begin, where nothing can be landed at" }
    if declaration.isCoroutine { return "is a coroutine accessor, whose access its caller ends; contain the function around the access" }
    switch declaration.kind {
    case .`deinit`, .deallocatingDeinit, .isolatedDeinit: return "ends an object, which a trap leaves neither alive nor ended"
    case .`init`, .allocatingInit:
      if declaration.contextKind == .classType { return "is an initialiser of a class: its object would be there in part" }
    default: break
    }
    if declaration.functionType.result.isNever { return "never returns, and its callers are compiled for that" }
    for body in family.bodies {
      if let reason = whyNotContained(plan(of: body, in: family)) { return reason }
    }
    return nil
  }

  private func whyNotContained(_ plan: CallPlan) -> String? {
    if plan.selfUse == .consumed { return "consumes its self, which a trap leaves neither alive nor ended" }
    if case .value(let value) = plan.selfPlan {
      if value.access == .inPlace { return "changes its self in place: a trap may leave it moved out, and the next use would be of nothing" }
      if value.info?.metadata.isCopyable == false { return "is a method of a type that cannot be copied: a trap may leave the value moved out" }
    }
    for (index, argument) in plan.arguments.enumerated() {
      let name = argumentName(index, argument.label)
      if argument.isInout { return "changes argument \(name) in place: a trap may leave it moved out, and the next use would be of nothing" }
      if argument.info?.metadata.isCopyable == false { return "takes argument \(name), whose type cannot be copied" }
    }
    if !plan.result.type.isVoid, !plan.result.isReplaceable {
      return "returns '\(plan.result.type.description(qualified: true))', which cannot be put in the place of a result here"
    }
    return nil
  }
}
