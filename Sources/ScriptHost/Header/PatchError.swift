// PatchError — why a patch is not loaded.

package enum PatchError: Error, Sendable {
  case noLua(String)
  case unreadable(path: String, why: String)
  case header(String)
  case failed(String)
  case otherTarget(String)
  case expired(String)
  case quarantined(String)
  /// The policy does not let it load.
  case denied(String)
}

extension PatchError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noLua(let why): "Lua cannot be used: \(why)"
    case .unreadable(let path, let why): "\(path): \(why)"
    case .header(let text): text
    case .failed(let text): text
    case .otherTarget(let text): text
    case .expired(let text): text
    case .quarantined(let text): text
    case .denied(let text): text
    }
  }
}
