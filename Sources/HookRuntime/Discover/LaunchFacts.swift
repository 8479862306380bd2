import Glibc

/// What the system will do with a file when it is run: reasons why a preload would be ignored.
package struct LaunchFacts: Sendable, Equatable {
  package let isSetUserID: Bool
  package let isSetGroupID: Bool
  /// Has the extended attribute security.capability.
  package let hasFileCapabilities: Bool
  /// This process may execute it.
  package let isExecutable: Bool
  /// The program after `#!`, for scripts.
  package let scriptInterpreter: String?

  /// The loader strips LD_PRELOAD from programs that gain rights.
  package var gainsRights: Bool { isSetUserID || isSetGroupID || hasFileCapabilities }

  package init(path: String) throws(ImageError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw errno == ENOENT || errno == ENOTDIR ? .notFound(path: path) : .unreadable(path: path, code: errno)
    }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw .directory(path: path) }
    isSetUserID = status.st_mode & S_ISUID != 0
    isSetGroupID = status.st_mode & S_ISGID != 0 && status.st_mode & S_IXGRP != 0
    isExecutable = access(path, X_OK) == 0
    hasFileCapabilities = Self.attributeSize(path, "security.capability") > 0
    do {
      _ = try ELFFile(path: path)
      scriptInterpreter = nil
    } catch .script(_, let interpreter) {
      scriptInterpreter = interpreter
    } catch {
      scriptInterpreter = nil
    }
  }

  /// getxattr's size answer; 0 when the attribute is absent or cannot be asked for.
  private static func attributeSize(_ path: String, _ name: String) -> Int {
    typealias GetAttribute = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
    // The Glibc module leaves <sys/xattr.h> out, so the function is looked up by name.
    guard let symbol = dlsym(nil, "getxattr") else { return 0 }
    // getxattr(2) is ssize_t (const char *, const char *, void *, size_t).
    let getAttribute = unsafeBitCast(symbol, to: GetAttribute.self)
    return max(0, getAttribute(path, name, nil, 0))
  }
}
