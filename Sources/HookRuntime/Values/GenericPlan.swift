// GenericPlan — a generic body for calls made here: where everything goes, and the plan for certain types.
internal import SwiftMangling

struct GenericPlan: Sendable {
  let environment: GenericEnvironment
  /// Where everything is; what generic values are is not known here.
  let plan: CallPlan
  /// The number of metadata and witness tables, and their places, are certain.
  let hiddenAreKnown: Bool
  let replan: @Sendable ([GenericParameterKey: TypeSyntax]) -> CallPlan
}
