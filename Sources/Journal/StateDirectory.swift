// StateDirectory — where the journal, crash markers and caches are kept.
internal import Glibc

/// Finds the state directory.
package enum StateDirectory {
  /// The first of: what the user chose, $STATE_DIRECTORY (the first one of a list, as a
  /// service manager sets it), $XDG_STATE_HOME/scripthost, $HOME/.local/state/scripthost. nil when
  /// there is none, as for a service without a home: events then stay in memory.
  package static func resolve(chosen: RawPath? = nil) -> RawPath? {
    if let chosen { return chosen }
    if let path = absolute("STATE_DIRECTORY") { return RawPath(path.bytes.prefix { $0 != UInt8(ascii: ":") }) }
    if let path = absolute("XDG_STATE_HOME") { return path.appending("scripthost") }
    return absolute("HOME")?.appending(".local/state/scripthost")
  }

  /// The journal's folder in a state directory.
  package static func journal(in state: RawPath) -> RawPath { state.appending("journal") }

  private static func absolute(_ variable: String) -> RawPath? {
    guard let value = getenv(variable) else { return nil }
    let path = RawPath(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    return path.isAbsolute ? path : nil
  }
}
