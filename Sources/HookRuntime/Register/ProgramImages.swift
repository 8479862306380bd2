// ProgramImages — a program's own file and the Swift libraries it would load, without running it.
private import Glibc

package enum ProgramImages {
  /// A program's files: its own first, then the libraries it needs, or has mapped.
  package typealias Files = [(path: String, file: ELFFile)]

  /// The program and all libraries it needs, as the loader would find them.
  package static func files(ofProgram path: String) throws(ImageError) -> Files {
    let program = try ELFFile(path: path)
    var found: Files = [(path, program)]
    var seen: Set<String> = [path]
    var queue = [program]
    while !queue.isEmpty {
      let file = queue.removeFirst()
      for name in file.needed {
        guard let library = locate(name, neededBy: file), seen.insert(library).inserted, let image = try? ELFFile(path: library) else {
          continue
        }
        found.append((library, image))
        queue.append(image)
      }
    }
    return found
  }

  /// The files a running process has mapped as code.
  package static func files(ofProcess pid: Int32) throws(ImageError) -> Files {
    let program = try resolve("/proc/\(pid)/exe")
    var paths = [program]
    for path in mappedFiles(pid) where !paths.contains(path) { paths.append(path) }
    return paths.compactMap { path in (try? ELFFile(path: path)).map { (path, $0) } }
  }

  /// The catalogs of those that are Swift; of a program that is none, all the same.
  package static func catalogs(of files: Files, options: SymbolTable.Options = .init()) -> [ImageCatalog] {
    files.enumerated().filter { $0 == 0 || $1.file.isSwift }.map {
      ImageCatalog(path: $1.path, file: $1.file, bias: 0, isMainProgram: $0 == 0, isLoaded: false, options: options)
    }
  }

  /// The catalogs of the program and of the Swift libraries it needs, the program first.
  package static func catalogs(ofProgram path: String, options: SymbolTable.Options = .init()) throws(ImageError) -> [ImageCatalog] {
    catalogs(of: try files(ofProgram: path), options: options)
  }

  private static func resolve(_ path: String) throws(ImageError) -> String {
    guard let real = realpath(path, nil) else { throw errno == ENOENT ? .notFound(path: path) : .unreadable(path: path, code: errno) }
    defer { free(real) }
    return String(cString: real)
  }

  /// Paths of executable mappings.
  private static func mappedFiles(_ pid: Int32) -> [String] {
    guard let stream = fopen("/proc/\(pid)/maps", "re") else { return [] }
    defer { fclose(stream) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    var found: [String] = []
    while getline(&line, &capacity, stream) > 0 {
      let fields = String(cString: line!).split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      guard fields.count == 6, fields[1].contains("x"), fields[5].hasPrefix("/") else { continue }
      found.append(String(fields[5].prefix { $0 != "\n" }))
    }
    return found
  }

  /// Where the loader would find a library: RUNPATH with $ORIGIN, then the system's directories.
  private static func locate(_ name: String, neededBy file: ELFFile) -> String? {
    let origin = (try? resolve(file.path)).map { String($0[..<($0.lastIndex(of: "/") ?? $0.endIndex)]) } ?? "."
    let own = (file.runPath ?? "").split(separator: ":").map {
      $0.replacing("${ORIGIN}", with: origin).replacing("$ORIGIN", with: origin)
    }
    let system = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib", "/lib"]
    for directory in own.map({ String($0) }) + system {
      if access(directory + "/" + name, R_OK) == 0, let real = try? resolve(directory + "/" + name) { return real }
    }
    return nil
  }
}

extension Substring {
  /// Every occurrence of `part` replaced.
  fileprivate func replacing(_ part: String, with other: String) -> Substring {
    var result = Substring()
    var rest = self
    while let first = rest.first {
      if rest.hasPrefix(part) {
        result += other
        rest = rest.dropFirst(part.count)
      } else {
        result.append(first)
        rest = rest.dropFirst()
      }
    }
    return result
  }
}
