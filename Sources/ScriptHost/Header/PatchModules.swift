// PatchModules — where `require "lib.money"` finds a module: in the patch's own directory, and nowhere else.
private import Glibc
package import Journal

package enum PatchModules {
  /// `lib.money` as `lib/money.lua`.
  static func fileName(_ module: String) -> String { module.replacing(".", with: "/") + ".lua" }

  /// The file of a module: no name leads out of the directory, and no symbolic link does.
  package static func path(of module: String, in directory: RawPath) throws(PatchError) -> RawPath {
    let parts = module.split(separator: ".", omittingEmptySubsequences: false)
    let isName = (1...8).contains(parts.count) && parts.allSatisfy { part in
      !part.isEmpty && part.utf8.count <= 64
        && part.utf8.allSatisfy { (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 95 || $0 == 45 }
    }
    guard isName else {
      throw .failed("a module's name has letters, digits, '_' and '-', with a dot between folders; it is found in the patch's own directory only")
    }
    var path = directory
    for (index, part) in parts.enumerated() {
      path = path.appending(index == parts.count - 1 ? part + ".lua" : String(part))
      var status = stat()
      guard path.withCString({ lstat($0, &status) }) == 0 else {
        throw .failed("there is no file '\(fileName(module))' in the patch's directory")
      }
      if status.st_mode & S_IFMT == S_IFLNK { throw .failed("'\(path)' is a symbolic link; modules are files of the patch's own directory") }
    }
    return path
  }
}
