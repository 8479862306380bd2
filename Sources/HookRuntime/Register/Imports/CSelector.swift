// CSelector — the names of C functions that images import, as people type them.
//
//     C.connect                                    every image that imports it
//     C.connect in libcurl.so.*                    some images, by their file names
//     C.pthread_mutex_*                            a glob
//     C.sqlite3_step(statement: pointer) -> int32  with the prototype, where none is known here

package struct CSelector: Sendable {
  package let text: String
  /// `connect`, `pthread_mutex_*`
  package let name: String
  package let prototype: CPrototype?
  /// What is wrong with the prototype.
  package let problem: String?
  /// A glob for file names of importing images; nil for all.
  package let importer: String?
  private let pattern: SelectorPattern

  package var isGlob: Bool { pattern.isGlob }

  /// Nil when the text is no name of a C function: those begin with `C.`.
  package init?(_ text: String) {
    let trimmed = text.trimmed()
    guard trimmed.hasPrefix("C."), trimmed.count > 2 else { return nil }
    self.text = text
    var body = trimmed.dropFirst(2)
    if let mark = Self.lastMark(" in ", in: body) {
      importer = String(body[mark.upperBound...].trimmed())
      body = body[..<mark.lowerBound].trimmed()
    } else {
      importer = nil
    }
    if body.contains("(") {
      do throws(CPrototypeError) {
        let found = try CPrototype("C." + String(body))
        (prototype, problem, name) = (found, nil, found.name)
      } catch { (prototype, problem, name) = (nil, error.description, String(body.prefix { $0 != "(" })) }
    } else {
      (prototype, problem, name) = (nil, nil, String(body))
    }
    pattern = SelectorPattern("C." + name)
  }

  private static func lastMark(_ mark: String, in text: Substring) -> Range<Substring.Index>? {
    var found: Range<Substring.Index>?
    for start in text.indices where text[start...].hasPrefix(mark) { found = start..<text.index(start, offsetBy: mark.count) }
    return found
  }

  /// - Parameter function: without the `C.`
  package func matches(_ function: String) -> Bool {
    isGlob ? pattern.matches("C." + function, isStatic: false, typed: { [] }) : function == name
  }

  package func includes(_ importer: Importer) -> Bool { importer.matches(self.importer) }
}
