// Explanation — how far a hook reaches. Claims only what is proven.
private import SwiftMangling

package enum Explanation {
  package static func text(_ found: [(ImageCatalog, Family)]) -> String {
    found.map { text($0.1, $0.0) }.joined(separator: "\n")
  }

  package static func text(_ family: Family, _ image: ImageCatalog) -> String {
    var lines = [image.fullName(family, typed: true)]
    lines.append("  in         \(image.path)")
    let states = family.bodies.map { ($0, bodyState($0, family, image)) }
    let reachable = states.count { $0.1 == nil }
    lines.append(
      "  hookable   \(reachable == 0 ? "no" : "yes"), \(reachable) of \(states.count) bod\(states.count == 1 ? "y" : "ies") by entry patch")
    for (body, reason) in states {
      lines.append("             \(body.form.words), \(body.size) bytes" + (reason.map { ": refused, \($0)" } ?? ""))
    }
    lines.append("  family     " + (reachable == states.count ? "covered" : "covered in part: calls that go to a refused body are missed"))
    lines.append(
      "  reach      direct, virtual and protocol calls that enter \(reachable == 1 ? "this body" : "these bodies"); not inlined copies")
    lines.append("  inlined    " + inlined(family, image))
    let sharers = SharedCode.selectors(atAddressesOf: family, image)
    if !sharers.isEmpty {
      let names = sharers.prefix(3).joined(separator: ", ") + (sharers.count > 3 ? " and \(sharers.count - 3) more" : "")
      lines.append("  shared     its code is also that of \(names): a hook sees their calls too, and only one of them can be hooked")
    }
    if let shared = SharedCode.target(of: family, image) {
      lines.append("  shared     its code is only a jump to \(shared): same-module callers may go there directly")
    }
    if family.declaration.isCoroutine || family.declaration.functionType.isAsync {
      lines.append(
        "  positions  before only: "
          + (family.declaration.isCoroutine
            ? "a coroutine accessor yields in the middle" : "an async function returns through its continuation"))
    } else if !family.declaration.functionType.result.isVoid {
      lines.append(
        "  result     a replaced result may be ignored by callers in module \(family.declaration.module) that the compiler optimised together with it"
      )
    }
    if let reason = CallPlanner.distrust(family.declaration) {
      lines.append("  arguments  not decoded: \(reason)")
    }
    return lines.joined(separator: "\n")
  }

  private static func inlined(_ family: Family, _ image: ImageCatalog) -> String {
    switch image.inlinedCopies(of: family) {
    case 0?: "no inlined copy in the debug information"
    case let count?: "\(count) inlined cop\(count == 1 ? "y" : "ies") known from the debug information; they are missed"
    case nil: "inlined copies cannot be excluded (no debug information)"
    }
  }

  private static func bodyState(_ body: Body, _ family: Family, _ image: ImageCatalog) -> String? {
    image.refusal(of: body, in: family)?.description
  }
}

/// Bodies that are, or only jump to, another function's body.
enum SharedCode {
  /// Other selectors whose bodies lie at the same addresses.
  static func selectors(atAddressesOf family: Family, _ image: ImageCatalog) -> [String] {
    let own = Set(family.bodies.map(\.mangledName))
    var parser = SymbolParser()
    return family.bodies.flatMap { body in image.symbols.symbols(at: body.address - image.bias) }
      .map { String(decoding: $0.name, as: UTF8.self) }
      .filter { !own.contains($0) }
      .compactMap { parser.declaration($0) }
      .filter { $0.kind.isSourceFunction || $0.kind.isHookableAccessor }
      .map { PrivateNames.stripped($0.selectorName) }
      .filter { $0 != family.selector }
      .uniqued()
  }

  static func target(of family: Family, _ image: ImageCatalog) -> String? {
    guard let base = family.bodies.first(where: { $0.form == .base }), let bytes = image.fileBytes(of: base, count: 5),
      bytes.load(as: UInt8.self) == 0xE9
    else { return nil }
    let target = Int64(base.address - image.bias) + 5 + Int64(bytes.loadUnaligned(fromByteOffset: 1, as: Int32.self))
    guard let symbol = image.symbols.symbol(containing: UInt64(target)), symbol.address == UInt64(target) else { return nil }
    let mangled = String(decoding: symbol.name, as: UTF8.self)
    if family.bodies.contains(where: { $0.mangledName == mangled }) { return nil }
    var parser = SymbolParser()
    return parser.declaration(mangled)?.selectorName ?? mangled
  }
}
