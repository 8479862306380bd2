import Glibc

/// Where the debug information of a stripped image may lie: by build-id, then by .gnu_debuglink.
enum DebugFiles {
  static let systemDirectory = "/usr/lib/debug"

  /// The debug file that belongs to `file`, looked for in `directories` and then in /usr/lib/debug.
  static func find(for file: ELFFile, in directories: [String]) -> ELFFile? {
    let roots = directories + [systemDirectory]
    if file.buildID.count > 1 {
      let hex = file.buildIDHex
      let name = "/.build-id/" + hex.prefix(2) + "/" + hex.dropFirst(2) + ".debug"
      for root in roots {
        if let found = open(root + name, for: file, crc: nil) { return found }
      }
    }
    guard let link = file.view(section: ".gnu_debuglink"), let name = link.string(at: 0), !name.isEmpty else { return nil }
    // The CRC follows the name, aligned to four.
    let crc: UInt32? = link.load((name.utf8.count + 4) & ~3)
    let directory = directory(of: file.path)
    let places = [directory + "/" + name, directory + "/.debug/" + name] + roots.map { $0 + directory + "/" + name }
    for place in places {
      if let found = open(place, for: file, crc: crc) { return found }
    }
    return nil
  }

  /// Opens a candidate and checks that it was made with `file`: same build-id, or the CRC the link promised.
  private static func open(_ path: String, for file: ELFFile, crc: UInt32?) -> ELFFile? {
    guard let candidate = try? ELFFile(path: path), candidate.inode != file.inode || candidate.device != file.device
    else { return nil }
    if !file.buildID.isEmpty, !candidate.buildID.isEmpty {
      return candidate.buildID == file.buildID ? candidate : nil
    }
    return crc == debugLinkCRC(candidate.view.raw) ? candidate : nil
  }

  private static func directory(of path: String) -> String {
    var resolved = path
    if let real = realpath(path, nil) {
      resolved = String(cString: real)
      free(real)
    }
    guard let slash = resolved.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return String(resolved[..<slash])
  }
}
