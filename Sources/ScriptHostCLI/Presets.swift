// Presets — patches that are installed with the command: short Lua files that people read and copy.
internal import Journal
internal import ScriptHost

enum Presets {
  /// Their names; the files are in the folder `presets`.
  static let known = ["argument-parser", "c.connect", "c.dns", "foundation.network", "nio.http", "startup"]

  /// The file of a preset: beside the libraries, or in the sources that this build was made from.
  static func find(_ name: String) throws(Failure) -> RawPath {
    guard known.contains(name) else {
      throw .usage("no preset '\(EventText.printable(name))'; there are \(known.joined(separator: ", "))")
    }
    if let installed = InstalledLibraries.find("presets/\(name).lua") { return installed }
    var directory = RawPath("/proc/self/exe").resolved()?.parent
    for _ in 0..<6 {
      guard let each = directory else { break }
      let file = each.appending("presets/\(name).lua")
      if each.appending("Package.swift").status() != nil, file.status() != nil { return file }
      directory = each.parent
    }
    throw .notStarted("the file of preset '\(name)' is not installed; run scripts/install again")
  }
}
