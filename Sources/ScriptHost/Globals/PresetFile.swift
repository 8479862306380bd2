// PresetFile — where the file of a preset is: beside the patch that uses it, or among those that come with ScriptHost.
//
// A preset is a patch of a few lines that people read and copy: a copy beside a patch takes the place of ours.
private import Glibc
package import Journal
private import Synchronization

package enum PresetFile {
  /// Those that come with ScriptHost; the files are in the folder `presets`.
  package static let known = [
    "argument-parser", "c.accept", "c.connect", "c.dns", "foundation.network", "lsp", "nio.http", "startup", "stalls",
  ]

  /// Where the host's libraries are in this process; nil where that is not known.
  private static let libraries = Mutex<RawPath?>(nil)
  static func look(beside library: RawPath?) { libraries.withLock { $0 = library?.parent } }

  /// The file of one of ours.
  /// - Parameter directory: where the libraries are, or a folder of the sources that they were built from.
  package static func installed(_ name: String, _ directory: RawPath) -> RawPath? {
    let beside = directory.appending("presets/\(name).lua")
    if beside.status() != nil { return beside }
    var each = directory
    for _ in 0..<6 {
      let file = each.appending("presets/\(name).lua")
      if each.appending("Package.swift").status() != nil, file.status() != nil { return file }
      each = each.parent
    }
    return nil
  }

  /// The file that `use "name"` means.
  /// - Parameter folder: where the patch is that uses it; nil for a script that has no file.
  static func find(_ name: String, beside folder: RawPath?) throws(PatchError) -> RawPath {
    guard isName(name) else {
      throw .failed("the name of a preset has letters, digits, '.', '_' and '-', as in \"nio.http\"; found '\(EventText.printable(name))'")
    }
    if let own = folder?.appending("\(name).lua") {
      var status = stat()
      if own.withCString({ lstat($0, &status) }) == 0 {
        if status.st_mode & S_IFMT == S_IFLNK { throw .failed("'\(own)' is a symbolic link; a preset beside a patch is a file") }
        return own
      }
    }
    if known.contains(name), let directory = libraries.withLock({ $0 }), let file = installed(name, directory) { return file }
    if known.contains(name) { throw .failed("the file of preset '\(name)' is not installed; run scripts/install again") }
    let near = RuleNames.nearest(to: name, known).map { "; did you mean '\($0)'?" } ?? "; there are \(known.joined(separator: ", "))"
    throw .failed("no preset '\(name)'\(folder.map { ", and no file '\(name).lua' in '\($0)'" } ?? "")\(near)")
  }

  private static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, first != UInt8(ascii: "."), name.utf8.count <= 64 else { return false }
    return name.utf8.allSatisfy { (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || [45, 46, 95].contains($0) }
  }
}
