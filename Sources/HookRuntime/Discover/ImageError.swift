/// Why a file cannot be read as an image: facts only, the sentence is `description`.
package enum ImageError: Error, Equatable, Sendable {
  /// No file has this path.
  case notFound(path: String)
  /// The path names a directory.
  case directory(path: String)
  /// The system refused to open or map the file; `code` is an errno value.
  case unreadable(path: String, code: Int32)
  /// The file is a script that starts with `#!`.
  case script(path: String, interpreter: String)
  /// The file does not start with the ELF magic number.
  case notELF(path: String)
  /// ELF, but not 64-bit little-endian x86-64; `found` says what it is ("32-bit", "machine 183").
  case wrongClass(path: String, found: String)
  /// A table the header promises lies outside the file; `what` names the table.
  case truncated(path: String, what: String)
}

extension ImageError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notFound(let path): "no file '\(path)'"
    case .directory(let path): "'\(path)' is a directory, expected a program or library"
    case .unreadable(let path, let code): "cannot read '\(path)' (errno \(code))"
    case .script(let path, let interpreter):
      "'\(path)' is a script for '\(interpreter)', expected a compiled program"
    case .notELF(let path): "'\(path)' is not an ELF file"
    case .wrongClass(let path, let found): "'\(path)' is \(found), expected 64-bit x86-64"
    case .truncated(let path, let what): "'\(path)' is damaged: its \(what) lies outside the file"
    }
  }
}
