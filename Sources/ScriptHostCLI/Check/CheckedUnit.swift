// CheckedUnit — the patch that a checked file belongs to: itself, or the directory with its text, its modules and its tests.
internal import Glibc
internal import Journal
internal import ScriptHost

struct CheckedUnit {
  let place: PatchFiles.Place
  /// The header's, or what stands in for it.
  let id: String
  /// What its header asks for.
  let permissions: [Capability]
  /// What its files assign, which run in one state.
  let globals: Set<String>

  /// The files of a patch, its header where that is right, and the patch.
  static func read(_ place: PatchFiles.Place) throws(Failure) -> (texts: [(path: RawPath, bytes: [UInt8])], header: PatchHeader?, unit: CheckedUnit) {
    var texts: [(path: RawPath, bytes: [UInt8])] = []
    for path in place.directory.map(PatchFiles.scripts(of:)) ?? [place.path] { texts.append((path, try PatchFile.read(path))) }
    // All files of a patch run in one state.
    let globals = texts.count > 1 ? PatchCheck.globals(of: texts.map(\.bytes)) : []
    let header = try? PatchHeader(source: texts.first { $0.path == place.path }?.bytes ?? [], fileName: "")
    let unit = CheckedUnit(place: place, id: header?.id ?? place.name, permissions: header?.permissions ?? [], globals: globals)
    return (texts, header, unit)
  }

  /// Why `require` finds no module of that name; nil when it does.
  func whyNoModule(_ name: String) -> String? {
    guard let directory = place.directory else {
      return "'require' finds modules in the directory of a patch that has one: a directory with patch.lua"
    }
    do throws(PatchError) { _ = try PatchModules.path(of: name, in: directory) } catch { return "module '\(name)': \(error)" }
    return nil
  }

  /// A preset beside the patch, as `use` finds it.
  func hasPreset(_ name: String) -> Bool { place.path.parent.appending(name + ".lua").status() != nil }
}
