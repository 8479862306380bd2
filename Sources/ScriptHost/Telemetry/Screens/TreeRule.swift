// TreeRule — a rule on a method of a type and of all its subclasses, present and future.
internal import CHookTrampoline
internal import HookRuntime

enum TreeRule {
  /// Installs the rule on the method of a class and on what overrides it, also in images that come later; of anything else (a protocol,
  /// a struct) on what the selector means.
  static func install(
    _ member: String, of base: String, _ definition: RuleDefinition, as known: InstalledRule? = nil, _ patch: Environment,
    _ make: @escaping RuleInstaller.Maker
  ) throws(RuleProblem) -> InstalledRule {
    var definition = definition
    definition.selector = "\(base).\(member)"
    let found = patch.asHost { ClassTree.implementations(of: member, on: base) }
    if found.isEmpty, !definition.waits || SelectorLookup.typeExists(base) {
      return try RuleInstaller.install(definition, patch, as: known, make)
    }
    definition.waits = true
    return try RuleInstaller.install(
      definition, patch, from: { ClassTree.implementations(of: member, on: base) }, now: found, as: known, make)
  }

  /// The dynamic type of the call's object; of anything else the type that declares the function.
  static func type(of view: CallView, _ declared: String) -> String {
    guard let object = view.selfObject,
      case .success(let type) = TypeResolver.shared.type(of: Metadata(object.load(as: UnsafeRawPointer.self)))
    else { return declared }
    return type.name
  }
}

