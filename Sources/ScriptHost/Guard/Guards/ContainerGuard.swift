// ContainerGuard — indices and ranges beyond the end of Foundation's reference collections, strings and data.
//
// The receiver is asked for its count before the original runs, and so nothing of the original's work is undone. Only Foundation's own
// implementations are watched: what a subclass of the program does with an index is its own affair.
internal import CHookTrampoline
internal import HookRuntime
internal import SwiftMangling

enum ContainerGuard {
  /// Whose members are looked through. Methods come from the registry of the running program.
  static let types = [
    "NSArray", "NSMutableArray", "NSOrderedSet", "NSMutableOrderedSet", "NSSet", "NSMutableSet", "NSDictionary", "NSMutableDictionary",
    "NSString", "NSMutableString", "NSAttributedString", "NSMutableAttributedString", "NSData", "NSMutableData", "NSCache",
    "_NSCFArray", "_NSCFString", "_NSCFConstantString",
  ]

  static func begin(_ run: GuardRun) throws(GuardProblem) {
    var requests: [HookRequest] = []
    var plans: [FamilyName: ContainerLayer] = [:]
    var isThere = false
    for type in types {
      guard case .success(let found) = SelectorLookup.resolve("Foundation.\(type).**", suggesting: false) else { continue }
      isThere = true
      for (image, family) in found where isMember(family, of: type) {
        guard let layer = layer(image, family, run) else { continue }
        plans[FamilyName(family)] = layer
        requests.append(HookRequest(image: image, family: family, mayChoose: true))
      }
    }
    guard isThere else { throw GuardProblem("guard 'containers': the program does not use Foundation's reference collections") }
    let layers = plans
    let count = run.install(requests) { layers[FamilyName($0)]!.spec() }
    run.watches(count)
    guard count > 0 else { throw GuardProblem("guard 'containers': none of Foundation's collections can be watched; \(run.notes.first ?? "")") }
  }

  private static func isMember(_ family: Family, of type: String) -> Bool {
    let declaration = family.declaration
    guard declaration.contextKind == .classType, declaration.hasInstance || isInit(declaration), !declaration.isCoroutine, family.requirement == nil
    else { return false }
    return declaration.context.map { "\($0)" == "Foundation.\(type)" } ?? false
  }

  private static func isInit(_ declaration: Declaration) -> Bool { declaration.kind == .`init` || declaration.kind == .allocatingInit }

  /// Nil where nothing is to be checked.
  private static func layer(_ image: ImageCatalog, _ family: Family, _ run: GuardRun) -> ContainerLayer? {
    guard let body = family.bodies.first else { return nil }
    switch family.declaration.kind {
    case .`deinit`, .deallocatingDeinit, .isolatedDeinit: return nil
    default: break
    }
    let plan = image.plan(of: body, in: family)
    let isInit = isInit(family.declaration)
    let checks = BoundsCheck.all(of: family, plan).filter { !isInit || !$0.needsCount }
    guard !checks.isEmpty else { return nil }
    var elements: ElementCount?
    if checks.contains(where: \.needsCount) {
      guard case .object = plan.selfPlan, let context = family.declaration.context,
        case .success(let type) = TypeResolver.shared.type(.nominal(context, kind: .classType, arguments: []))
      else { return nil }
      elements = ElementCount(of: type)
      guard elements != nil else {
        run.note("'\(family.selector)' is not watched: how many elements its objects have is not known")
        return nil
      }
    }
    var sets: IndexSetAccess?
    if let set = plan.arguments.lazy.compactMap(\.info).first(where: { $0.name.hasSuffix(".IndexSet") }) {
      sets = IndexSetAccess(set)
      if sets == nil {
        run.note("'\(family.selector)' is not watched: the members of \(set.name) cannot be called")
        return nil
      }
    }
    var others: ElementCount?
    if let counted = checks.lazy.compactMap(\.counted).first {
      others = plan.arguments[counted].info.flatMap { ElementCount(of: $0) }
      guard others != nil else {
        run.note("'\(family.selector)' is not watched: how many elements its argument has is not known")
        return nil
      }
    }
    let answer = GuardAnswer(family, plan)
    if answer == nil, !isInit, run.settings.mode == .contain {
      run.note("'\(family.selector)' is recorded only: nothing harmless can be returned in the place of its result")
    }
    return ContainerLayer(run, family.selector, checks, elements, sets, others, answer)
  }
}

/// How many elements an object of one type has.
struct ElementCount: Sendable {
  private let type: TypeInfo
  private let length: ComputedStep

  /// Texts and data have a length, everything else a count; nil where neither can be asked for.
  init?(of type: TypeInfo) {
    let name = type.name.hasSuffix("String") || type.name.hasSuffix("Data") ? "length" : "count"
    guard let found = try? ComputedStep(name, of: type, name), case .integer(64, _) = found.result.kind else { return nil }
    (self.type, length) = (type, found)
  }

  /// Nil where it does not tell.
  func read(_ view: CallView) -> Int? {
    view.selfObject.flatMap { read($0) }
  }

  /// - Parameter object: a live object of the type.
  func read(_ object: UnsafeRawPointer) -> Int? {
    var object = object
    var count: Int?
    let trouble = withUnsafePointer(to: &object) {
      length.call(on: UnsafeRawPointer($0), .passUnretained(type)) { result, _ in count = result.load(as: Int.self) }
    }
    return trouble == nil ? count : nil
  }
}

/// One function of a collection. Called from any thread.
final class ContainerLayer: @unchecked Sendable {
  // Immutable.
  private let run: GuardRun
  private let selector: String
  private let checks: [BoundsCheck]
  /// Nil where no check asks for it.
  private let elements: ElementCount?
  private let sets: IndexSetAccess?
  private let others: ElementCount?
  private let answer: GuardAnswer?

  init(_ run: GuardRun, _ selector: String, _ checks: [BoundsCheck], _ elements: ElementCount?, _ sets: IndexSetAccess?, _ others: ElementCount?,
    _ answer: GuardAnswer?
  ) {
    (self.run, self.selector, self.checks) = (run, selector, checks)
    (self.elements, self.sets, self.others, self.answer) = (elements, sets, others, answer)
  }

  func spec() -> LayerSpec {
    LayerSpec(containerLayer, keeping: self, phases: UInt32(HKT_ON_AROUND), owner: run.owner, group: "guard containers")
  }

  /// A method with an index is called: one beyond the end is caught.
  fileprivate func call(_ call: UnsafeMutablePointer<HKTCall>) {
    guard run.isOn, let reader = reader(CallView(call)), let (check, problem) = first(reader), run.includes(GuardSite.address(call)) else {
      hkt_call_proceed(call)
      return
    }
    let isContaining = run.settings.mode == .contain
    if isContaining, let answer {
      run.hit(selector, problem, outcome: answer.description, address: GuardSite.address(call))
      return answer.put(call)
    }
    let correction = isContaining ? reader.correct(check, call) : nil
    run.hit(selector, problem, outcome: correction ?? "nothing was changed", address: GuardSite.address(call))
    hkt_call_proceed(call)
  }

  /// Nil where the receiver does not tell how many elements it has.
  private func reader(_ view: CallView) -> BoundsReader? {
    guard let elements else { return BoundsReader(view: view, count: 0, indexSet: sets, others: others) }
    return elements.read(view).map { BoundsReader(view: view, count: $0, indexSet: sets, others: others) }
  }

  private func first(_ reader: BoundsReader) -> (BoundsCheck, String)? {
    for check in checks { if let problem = reader.problem(check) { return (check, problem) } }
    return nil
  }
}

private let containerLayer: HKTLayerFunction = { call, context, _ in
  guard let call, let context else { return HKT_HANDLED }
  // The context is the layer that was retained for this hook.
  Unmanaged<ContainerLayer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.call(call) }
  return HKT_HANDLED
}
