// Explanation — how far a hook reaches. Claims only what is proven.
private import SwiftMangling

package enum Explanation {
  /// - Parameter images: the program's; this process's when nil.
  package static func text(_ found: [(ImageCatalog, Family)], among images: [ImageCatalog]? = nil) -> String {
    var texts: [String] = []
    for (image, family) in found where !LimitedWork.isOver { texts.append(text(family, image, among: images)) }
    return texts.joined(separator: "\n")
  }

  package static func text(_ family: Family, _ image: ImageCatalog, among images: [ImageCatalog]? = nil) -> String {
    if let imported = family.imported { return text(imported, family) }
    var lines = [image.fullName(family, typed: true)]
    lines.append("  in         \(image.path)")
    if let requirement = family.requirement {
      lines.append("  carries out \(PrivateNames.stripped(requirement.selectorName)); types that conform later are hooked as they appear")
    }
    if family.bodies.isEmpty {
      lines.append("  hookable   no, \(HookRefusal.noBody)")
      return lines.joined(separator: "\n")
    }
    let states = family.bodies.map { ($0, bodyState($0, family, image)) }
    let reachable = states.count { $0.1 == nil }
    lines.append(
      "  hookable   \(reachable == 0 ? "no" : "yes"), \(reachable) of \(states.count) bod\(states.count == 1 ? "y" : "ies") by entry patch")
    for (body, reason) in states {
      lines.append("             \(body.form.words), \(body.size) bytes" + (reason.map { ": refused, \($0)" } ?? ""))
    }
    let images = images ?? ProcessCatalog.shared.current()
    let doubts = image.doubts(about: family, among: images)
    if reachable > 0 {
      lines.append("  family     " + covered(reachable == states.count, doubts))
      lines.append(
        "  reach      direct, virtual and protocol calls that enter \(reachable == 1 ? "this body" : "these bodies"); not inlined copies")
    }
    lines.append("  inlined    " + inlined(family, image))
    let sharers = image.sharedCode.selectors(atAddressesOf: family)
    if !sharers.isEmpty {
      lines.append(
        "  shared     its code is also that of \(listed(sharers)): a hook sees their calls too, and only one of them can be hooked by entry"
      )
    }
    if let shared = image.sharedCode.target(of: family) {
      lines.append("  shared     its code is only a jump to \(shared): same-module callers may go there directly")
    }
    let jumpers = image.sharedCode.selectors(jumpingTo: family)
    if !jumpers.isEmpty {
      lines.append(
        "  shared     \(listed(jumpers)) only jump\(jumpers.count == 1 ? "s" : "") here: their calls are seen as calls of this selector")
    }
    let callers = image.sharedCode.selectors(onlyCalling: family)
    if !callers.isEmpty {
      lines.append(
        "  shared     \(listed(callers)) only call\(callers.count == 1 ? "s" : "") this: seen as calls of this selector, unless they are another class's")
    }
    if family.declaration.isCoroutine {
      lines.append("  positions  before and after: after runs when the access has begun and sees what is yielded; it cannot be replaced")
    } else if family.isBeforeOnly || image.isKnownNotToReturn(family) {
      lines.append("  positions  before only: it \(NotContained.neverReturns)")
    } else if !family.declaration.functionType.result.isVoid {
      lines.append(
        "  result     a replaced result may be ignored by callers in module \(family.declaration.module) that the compiler optimised together with it"
      )
    }
    if image.isLoaded { lines += contained(family, image) }
    for (index, line) in image.callers(of: family).enumerated() { lines.append((index == 0 ? "  callers    " : "             ") + line) }
    lines += conventions(family, image)
    if let end = endOfSelf(family, image) { lines.append("  self       \(end)") }
    let reaches = Reach(family, in: image, among: images).all()
    lines.append("  chosen     \(choice(reaches, image))")
    for each in reaches { lines.append("  by \(each.backEnd.rawValue): \(each)") }
    return lines.joined(separator: "\n")
  }

  /// Whether a trap below it may be answered, and where not.
  private static func contained(_ family: Family, _ image: ImageCatalog) -> [String] {
    if let reason = image.whyNotContained(family) { return ["  contain    no, it \(reason)"] }
    let limits = image.limitsOfContaining(family)
    return ["  contain    yes" + (limits.isEmpty ? "" : ", but not \(limits[0])")] + limits.dropFirst().map { "             nor \($0)" }
  }

  /// The back end that the engine takes when none is asked for, and why.
  private static func choice(_ reaches: [BackEndReach], _ image: ImageCatalog) -> String {
    guard let chosen = reaches.first(where: \.isChosen) else { return "none: nothing can divert its calls" }
    guard chosen.backEnd != .entry, let entry = reaches.first(where: { $0.backEnd == .entry })?.refusal else {
      let isStripped = !image.symbols.hasLocalSymbols
      return "entry: calls of every kind enter the function, and only copies that were inlined do not"
        + (isStripped ? ", nor calls that go to clones, which have no names in \(image.shortName): it is stripped" : "")
    }
    return "\(chosen.backEnd.rawValue): it cannot be hooked by entry, \(entry.reason)"
  }

  /// Whether the bodies that are hooked are all that calls go to.
  private static func covered(_ isWhole: Bool, _ doubts: [Doubt]) -> String {
    if !isWhole { return "covered in part: calls that go to a refused body are missed" }
    for doubt in doubts {
      switch doubt {
      case .inlinedElsewhere, .stripped, .notEntered, .elsewhere, .nameless, .looped: return "not known to be covered: a hook may miss \(doubt)"
      case .othersCalls: return "covered, and more: a hook \(doubt.sentence)"
      case .mergingUnknown: return "not known to be covered: a hook may miss \(doubt)"
      case .inlined, .inliningUnknown: break
      }
    }
    return "covered"
  }

  /// For bodies that do not have to keep to their type: what shows that they do, or that nothing does.
  private static func conventions(_ family: Family, _ image: ImageCatalog) -> [String] {
    family.bodies.flatMap { body -> [String] in
      let plan = image.plan(of: body, in: family)
      if let reason = plan.opaqueBecause { return ["\(body.form.words): not decoded: \(reason)"] }
      var said = [image.whyTrusted(body)]
      // Which types there are is known of the process alone that has them.
      if image.isLoaded, let reason = plan.obstacle { said.append("not decoded whole: \(reason)") }
      return said.compactMap { $0 }.map { "\(body.form.words): \($0)" }
    }
    .uniqued().map { "  arguments  \($0)" }
  }

  /// What a call by name knows of the end of the copy that a method of a struct or enum runs on; nil where nothing is asked.
  private static func endOfSelf(_ family: Family, _ image: ImageCatalog) -> String? {
    // Types are known of this process alone; and the base body is what is called.
    guard image.isLoaded, let body = family.bodies.first(where: { $0.declaration.specialization.isEmpty }),
      let report = image.selfReport(of: body, by: image.planToCall(body, in: family)), report.form != .object
    else { return nil }
    switch report.use {
    case .kept: return "kept, so that a call by name ends the copy that it is made on"
    case .consumed: return "consumed, the copy that a call by name is made on, too"
    case .unknown:
      return "its code does not tell whether it is consumed; a script's call needs swift.allow_leak(\"\(image.fullName(family))\")"
    }
  }

  private static func listed(_ names: [String]) -> String {
    names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
  }

  private static func inlined(_ family: Family, _ image: ImageCatalog) -> String {
    switch image.inlined(family) {
    case .known(0): "no inlined copy in the debug information"
    case .known(let count): "\(count) inlined cop\(count == 1 ? "y" : "ies") known from the debug information; they are missed"
    case .notKnown(let why): "inlined copies cannot be excluded: \(image.shortName) \(why)"
    }
  }

  private static func bodyState(_ body: Body, _ family: Family, _ image: ImageCatalog) -> String? {
    image.refusal(of: body, in: family)?.description
  }
}
