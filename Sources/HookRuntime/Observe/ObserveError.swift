/// Why a property is not observed. Nothing was changed.
public enum ObserveError: Error, Sendable {
  case noProperty(String, type: String, known: [String])
  case badPath(String, reason: String)
  case unreadable(String, reason: String)
  /// No write to it can be seen.
  case invisible(String, reason: String)
  case wrongType(String, expected: String, found: String)
  case noType(String)
}

extension ObserveError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noProperty(let name, let type, let known):
      "cannot observe '\(name)': \(type) has no property of that name"
        + (known.isEmpty ? "" : "; its stored ones are \(known.prefix(12).joined(separator: ", "))")
    case .badPath(let path, let reason): "cannot observe '\(path)': \(reason)"
    case .unreadable(let name, let reason): "cannot observe '\(name)': \(reason)"
    case .invisible(let name, let reason): "cannot observe '\(name)': \(reason)"
    case .wrongType(let path, let expected, let found): "cannot observe '\(path)' as \(expected): it is \(found)"
    case .noType(let text): text
    }
  }
}
