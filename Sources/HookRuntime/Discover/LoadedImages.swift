import Glibc

// LoadedImages — what the dynamic loader has mapped into this process.
//
// Owns the walk of the loader's list and the proof that a file on disk is the one
// in memory: code is read from the file and patched in memory, so the two must
// agree. The proof is the build-id; without one the headers are compared.

/// One program or library in this process.
package struct LoadedImage: Sendable {
  /// How the file at `path` relates to what is in memory.
  package enum FileState: Sendable, Equatable {
    /// Build-ids agree, or it was opened through /proc/self/exe.
    case verified
    /// There is no build-id; the headers agree.
    case unverified
    /// Another build lies at the path now; `file` is nil.
    case fileReplaced
    /// There is no readable ELF file at the path.
    case fileMissing
  }

  package let path: String
  package let isMainProgram: Bool
  /// What to add to a virtual address of the file to get an address in this process.
  package let bias: UInt
  /// The addresses it occupies in this process.
  package let range: Range<UInt>
  package let buildID: [UInt8]
  package let fileState: FileState
  package let file: ELFFile?
  /// PT_LOAD segments that may be read, as addresses of this process, ascending.
  let readable: [Range<UInt>]
  /// PT_LOAD segments that hold code.
  let executable: [Range<UInt>]
}

/// Files that hold ScriptHost itself, which are no part of the program.
enum OurImages {
  static func hold(_ path: String) -> Bool {
    let name = path.split(separator: "/").last ?? path[...]
    return name.hasPrefix("libScriptHost") || name.hasPrefix("libscripthost")
  }
}

/// The images of this process at one moment.
package struct LoadedImages: Sendable {
  /// In the loader's order: the main program first.
  package let images: [LoadedImage]
  /// (range, position in `images`) of each image, ascending.
  private let ranges: [(range: Range<UInt>, image: Int)]

  private init(_ images: [LoadedImage]) {
    self.images = images
    ranges = images.enumerated().map { ($1.range, $0) }.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// Reads the loader's list now and opens every image's file.
  package static func snapshot() -> LoadedImages {
    var found: [LoaderEntry] = []
    withUnsafeMutablePointer(to: &found) { found in
      Loader.forEach(found) { information, _, context in
        if let information, let context {
          // `context` is the `found` of the enclosing call, which outlives the walk.
          context.assumingMemoryBound(to: [LoaderEntry].self).pointee.append(LoaderEntry(information))
        }
        return 0
      }
    }
    // Files are opened after the walk: the loader's lock is held during it.
    return LoadedImages(found.enumerated().compactMap { LoadedImage($1, isMainProgram: $0 == 0) })
  }

  /// Grows whenever an image is loaded or unloaded.
  package static var changeCount: UInt64 {
    var count: UInt64 = 0
    withUnsafeMutablePointer(to: &count) { count in
      Loader.forEach(count) { information, size, context in
        guard let information, let context, size >= 48 else { return 1 }
        // dlpi_adds and dlpi_subs are totals, the same in each entry: the first one will do.
        context.assumingMemoryBound(to: UInt64.self).pointee =
          information.load(fromByteOffset: 32, as: UInt64.self) &+ information.load(fromByteOffset: 40, as: UInt64.self)
        return 1
      }
    }
    return count
  }

  /// The image that occupies `address`.
  package func image(containing address: UInt) -> LoadedImage? {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].range.lowerBound <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, ranges[low - 1].range.contains(address) else { return nil }
    return images[ranges[low - 1].image]
  }
}

/// dl_iterate_phdr, which the Glibc module hides because it is a GNU extension.
private enum Loader {
  typealias Callback = @convention(c) (UnsafeRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32

  /// int dl_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *), void *)
  private static let iterate = dlsym(nil, "dl_iterate_phdr").map {
    unsafeBitCast($0, to: (@convention(c) (Callback, UnsafeMutableRawPointer?) -> Int32).self)
  }

  /// Has the loader call back for each image that is open.
  static func forEach(_ context: UnsafeMutableRawPointer, _ callback: Callback) {
    _ = iterate?(callback, context)
  }
}

/// A copy of one struct dl_phdr_info, complete enough to outlive the walk.
private struct LoaderEntry {
  let bias: UInt
  let name: String
  let segments: [ELFFile.Segment]
  /// As it is in memory: read during the walk, for another thread may close the image after it.
  let buildID: [UInt8]

  init(_ information: UnsafeRawPointer) {
    bias = information.load(fromByteOffset: 0, as: UInt.self)
    let text = information.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self)
    name = text.map { String(cString: $0) } ?? ""
    let count = Int(information.load(fromByteOffset: 24, as: UInt16.self))
    if let table = information.load(fromByteOffset: 16, as: UnsafeRawPointer?.self) {
      // The loader's own table of `count` Elf64_Phdr of 56 bytes.
      segments = (0..<count).map { index in
        let row = table + index * 56
        return ELFFile.Segment(
          type: row.load(as: UInt32.self), flags: row.load(fromByteOffset: 4, as: UInt32.self),
          offset: row.load(fromByteOffset: 8, as: UInt64.self), address: row.load(fromByteOffset: 16, as: UInt64.self),
          fileSize: row.load(fromByteOffset: 32, as: UInt64.self), memorySize: row.load(fromByteOffset: 40, as: UInt64.self))
      }
    } else {
      segments = []
    }
    buildID = Self.buildIDInMemory(segments, bias)
  }

  private static func buildIDInMemory(_ segments: [ELFFile.Segment], _ bias: UInt) -> [UInt8] {
    let readable = segments.filter { $0.isLoaded && $0.flags & 4 != 0 }.map { $0.address...($0.address &+ $0.memorySize) }
    for segment in segments where segment.type == 4 && segment.memorySize > 0 {
      let end = segment.address &+ segment.memorySize
      guard readable.contains(where: { $0.contains(segment.address) && $0.contains(end) }),
        let notes = UnsafeRawPointer(bitPattern: bias &+ UInt(segment.address))
      else { continue }
      if let id = ELFFile.buildID(inNotes: ByteView(base: notes, count: Int(segment.memorySize))) { return id }
    }
    return []
  }
}

extension LoadedImage {
  /// Nil for what is not a file: the kernel's vdso.
  fileprivate init?(_ entry: LoaderEntry, isMainProgram: Bool) {
    let loaded = entry.segments.filter(\.isLoaded)
    guard let first = loaded.map(\.address).min(), let last = loaded.map({ $0.address &+ $0.memorySize }).max(), first < last
    else { return nil }
    self.isMainProgram = isMainProgram
    bias = entry.bias
    range = entry.bias &+ UInt(first)..<entry.bias &+ UInt(last)
    func ranges(_ flag: UInt32) -> [Range<UInt>] {
      loaded.filter { $0.flags & flag != 0 && $0.memorySize > 0 }.map {
        let start = entry.bias &+ UInt($0.address)
        return start..<start &+ UInt($0.memorySize)
      }.sorted { $0.lowerBound < $1.lowerBound }
    }
    readable = ranges(4)
    executable = ranges(1)
    guard isMainProgram || entry.name.utf8.contains(UInt8(ascii: "/")) else { return nil }
    buildID = entry.buildID
    path = isMainProgram ? Self.executablePath() : entry.name
    // The magic link opens the running file itself, even where its name was taken by another or removed.
    let opened = try? isMainProgram ? ELFFile(path: "/proc/self/exe", shownAs: path) : ELFFile(path: path)
    guard let opened else {
      fileState = .fileMissing
      file = nil
      return
    }
    if !buildID.isEmpty {
      fileState = opened.buildID == buildID ? .verified : .fileReplaced
    } else if isMainProgram {
      fileState = .verified
    } else {
      fileState = Self.sameSegments(opened.segments, entry.segments) ? .unverified : .fileReplaced
    }
    file = fileState == .fileReplaced ? nil : opened
  }

  private static func sameSegments(_ file: [ELFFile.Segment], _ memory: [ELFFile.Segment]) -> Bool {
    file.count == memory.count
      && zip(file, memory).allSatisfy {
        $0.type == $1.type && $0.offset == $1.offset && $0.address == $1.address && $0.fileSize == $1.fileSize
          && $0.memorySize == $1.memorySize
      }
  }

  /// The path that /proc/self/exe points to.
  private static func executablePath() -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
      let count = readlink("/proc/self/exe", buffer.baseAddress!, Int(PATH_MAX))
      guard count > 0 else { return "/proc/self/exe" }
      buffer[count] = 0
      return String(cString: buffer.baseAddress!)
    }
  }
}
