// Absence — why a name that the program's source has may be no function of its images: every call was inlined, an image is
// stripped and its names are gone, or no image has the module.
//
// What is inlined is known from the debug information alone, which is read for names that are spelled out, where that takes moments
// or somebody asked for an explanation.
private import SwiftMangling

package enum Absence: Sendable, Equatable {
  /// No body is left; so many copies are in other functions of the image.
  case inlined(copies: Int, image: String)
  /// Of functions that no other image uses, these images have no names.
  case stripped([String])
  /// No image has functions of the module that a glob begins with.
  case noModule(String)

  /// What is known of why none of these images has the function.
  package static func reason(_ text: String, in images: [ImageCatalog], depth: DoubtDepth = .quick) -> Absence? {
    if CSelector(text) != nil { return nil }
    let pattern = SelectorPattern(text)
    // The module's own library; without one, it can only be in the program.
    let own = images.filter { image in pattern.module.map { image.isLibrary(of: $0) } ?? false }
    let holders = own.isEmpty ? images.filter(\.isMainProgram) : own
    if !pattern.isGlob {
      for image in holders {
        let copies = image.inlinedCopies(of: pattern, depth)
        if copies > 0 { return .inlined(copies: copies, image: image.shortName) }
      }
    }
    let stripped = holders.filter { !$0.symbols.hasLocalSymbols }.map(\.shortName).uniqued()
    if !stripped.isEmpty { return .stripped(stripped) }
    guard pattern.isGlob, let module = pattern.module, !images.contains(where: { $0.hasFunctions(of: module) }) else { return nil }
    return .noModule(module)
  }
}

extension Absence: CustomStringConvertible {
  package var description: String {
    switch self {
    case .inlined(let copies, let image):
      "every call of it was inlined: \(image) has \(copies) \(copies == 1 ? "copy" : "copies") of it in other functions, "
        + "and no function of its own is left"
    case .stripped(let images):
      "\(images.prefix(3).joined(separator: ", ")) \(images.count == 1 ? "is" : "are") stripped, "
        + "and functions that no other image uses have no names there"
    case .noModule(let module): "no module '\(module)' is in it; 'scripthost types' lists its types with their modules"
    }
  }
}

extension ImageCatalog {
  fileprivate func isLibrary(of module: String) -> Bool {
    if isMainProgram { return false }
    let ofToolchain = "libswift" + (module == "Swift" ? "Core" : module) + "."
    return shortName == module || shortName.hasPrefix("lib" + module + ".") || shortName.hasPrefix(ofToolchain)
  }

  fileprivate func hasFunctions(of module: String) -> Bool {
    isLibrary(of: module) || !symbols.candidates(prefix: Array("$s\(module.utf8.count)\(module)".utf8)).isEmpty
  }

  /// Inlined copies of functions that the pattern spells out.
  fileprivate func inlinedCopies(of pattern: SelectorPattern, _ depth: DoubtDepth) -> Int {
    guard depth == .full || isQuicklyRead || inlineTable.isAtHand else { return 0 }
    // Of extensions of other modules' types the names begin otherwise.
    let prefix = depth == .full ? "$s" : pattern.module.map { "$s\($0.utf8.count)\($0)" }
    guard let prefix else { return 0 }
    return lock.withLock {
      inlineTable.copies(prefix: Array(prefix.utf8)).reduce(0) { sum, copy in
        guard let declaration = nameParser.declaration(copy.name), declaration.kind.isSourceFunction || declaration.kind.isHookableAccessor,
          pattern.matches(
            PrivateNames.stripped(declaration.selectorName), isStatic: declaration.isStatic,
            typed: {
              [PrivateNames.stripped(declaration.typedName(qualified: false)), PrivateNames.stripped(declaration.typedName(qualified: true))]
            })
        else { return sum }
        return sum + copy.count
      }
    }
  }
}
