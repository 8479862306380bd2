// How far hooks on a C function reach, in words.

extension Explanation {
  static func text(_ function: ImportedFunction, _ family: Family) -> String {
    let places = family.bodies.compactMap(\.place)
    let refused = places.map { function.refusal(at: $0, safe: false) }
    let open = refused.count { $0 == nil }
    let images = Set(zip(places, refused).compactMap { $1 == nil ? $0.importer.path : nil }).count
    var lines = [family.typedSelector]
    if function.prototype == nil {
      lines.append("  prototype  not known: calls are seen, values are not; spell it, such as C.\(function.name)(int32, cstring) -> int32")
    } else if function.isSpelled {
      lines.append("  prototype  as it was spelled: nothing in a binary tells")
    } else {
      lines.append("  prototype  known here")
    }
    lines.append(
      "  hookable   \(open == 0 ? "no" : "yes"), \(open) of \(counted(places.count, "word")) by import slot, in \(counted(images, "image"))"
    )
    for (place, reason) in zip(places, refused) { lines.append("             " + text(place, reason)) }
    if case .allocation = CFunctions.trait(function.name) {
      lines.append("  layers     \(HookRefusal.allocation)")
    }
    lines.append(
      "  reach      calls \(function.importer.map { "images that match '\($0)'" } ?? "these images") make through their import tables, "
        + "and images that appear later"
    )
    lines.append(
      "  missed     calls inside the library that has the function, calls through pointers that dlsym gave, copies linked into an image")
    let related = CFunctions.symbols(of: function.name)
    if related.count > 1 { lines.append("  symbols    \(related.joined(separator: ", "))") }
    if let reason = ImportedFunction.beforeOnly(function.name) { lines.append("  positions  before only: \(reason)") }
    lines.append("  contain    no, it \(NotContained.cFunction)")
    return lines.joined(separator: "\n")
  }

  private static func text(_ place: ImportPlace, _ reason: HookRefusal?) -> String {
    var text = place.importer.name + ": "
    switch place.slot.kind {
    case .call: text += "calls"
    case .address: text += "address that code loads"
    case .pointer: text += "pointer in data"
    }
    text += " of \(place.slot.symbol)" + (place.slot.version.map { "@\($0)" } ?? "")
    if case .lazy = place.binding { text += ", not called yet" }
    return text + (reason.map { ": refused, \($0)" } ?? "")
  }

  private static func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
}
