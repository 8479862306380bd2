// Presets — patches that are installed with the command: short Lua files that people read and copy.
internal import Journal
internal import ScriptHost

enum Presets {
  static let known = PresetFile.known

  /// The file of a preset: beside the libraries, or in the sources that this build was made from.
  static func find(_ name: String) throws(Failure) -> RawPath {
    guard known.contains(name) else {
      throw .usage("no preset '\(EventText.printable(name))'; there are \(known.joined(separator: ", "))")
    }
    if let installed = InstalledLibraries.find("presets/\(name).lua") { return installed }
    if let own = RawPath("/proc/self/exe").resolved()?.parent, let built = PresetFile.installed(name, own) { return built }
    throw .notStarted("the file of preset '\(name)' is not installed; run scripts/install again")
  }
}
