// ClassHierarchy — the subclasses of a class in this process, and where their metadata is.
//
// Nothing is run to find out: metadata that lies in an image is found by its symbol, metadata that is made at first use by
// the word in which the runtime keeps it. Which class inherits from which is known by names (for classes that were never
// used) and by the metadata themselves.
private import SwiftMangling

/// A class of one image.
struct ImageClass {
  enum State {
    /// Calls can go through its tables: this is its metadata.
    case used(Metadata)
    /// This will be its metadata when it is first used: the words are there, the superclass is not.
    case unfinished(Metadata)
    /// The runtime makes the metadata when it is first used, with a copy of the superclass's words.
    case notMade
    /// One metadata for each set of generic arguments; which there are the runtime does not tell.
    case generic
    /// Its symbol is gone: its metadata cannot be found without running its accessor.
    case unknown
  }
  let name: String
  let descriptor: TypeDescriptor
  let state: State
}

/// The classes of the images there are now. Made for one question and dropped.
struct ClassHierarchy {
  private let images: [ImageCatalog]
  init(_ images: [ImageCatalog]) { self.images = images }

  /// The class with this metadata's subclasses, without itself.
  func subclasses(of base: Metadata, named name: String) -> [ImageClass] {
    let below = namesBelow(name)
    var found: [ImageClass] = []
    if below.isEmpty { return [] }
    for image in images {
      let classes = image.classesByName
      for record in below.lazy.flatMap({ classes[$0] ?? [] }) {
        let each = ImageClass(record, in: image)
        // Equal names are possible: metadata decide.
        if case .used(let metadata) = each.state, !metadata.isSubclass(of: base) { continue }
        if each.descriptor == base.descriptor { continue }
        found.append(each)
      }
    }
    return found.sorted { $0.name < $1.name }
  }

  /// Names of classes that inherit from the one of this name, directly or not.
  private func namesBelow(_ name: String) -> Set<String> {
    let subclasses = images.map(\.subclasses)
    var found: Set<String> = []
    var queue = [name]
    while let next = queue.popLast() {
      for image in subclasses {
        for child in image[next] ?? [] where found.insert(child.name).inserted { queue.append(child.name) }
      }
    }
    return found
  }
}

extension ImageClass {
  init(_ record: TypeRecord, in image: ImageCatalog) {
    name = record.name
    let at = UInt(record.descriptor &+ image.bias)
    descriptor = TypeDescriptor(UnsafeRawPointer(bitPattern: at)!)  // a descriptor's address is never 0
    switch record.metadataOrigin {
    case .instantiated: state = .generic
    case .firstUse(let cache, let inPlace):
      // The runtime's singleton cache: the metadata in its first word, 0 until it was made.
      let word = UnsafeRawPointer(bitPattern: UInt(cache &+ image.bias))?.load(as: UnsafeRawPointer?.self)
      let unfinished = inPlace.flatMap { UnsafeRawPointer(bitPattern: UInt($0 &+ image.bias)) }
      state = word.map { .used(Metadata($0)) } ?? unfinished.map { .unfinished(Metadata($0)) } ?? .notMade
    case .image: state = image.classMetadata(record).map { .used($0) } ?? .unknown
    case .foreign: state = .unknown
    }
  }
}

extension ImageCatalog {
  /// A class's metadata that lies in the image, by its symbol.
  fileprivate func classMetadata(_ record: TypeRecord) -> Metadata? {
    for name in metadataSymbols.names(at: record.descriptor) where name.hasSuffix("Mn") {
      if let address = metadataSymbols.address(name.dropLast(2) + "N") {
        return UnsafeRawPointer(bitPattern: UInt(address &+ bias)).map(Metadata.init)
      }
    }
    return nil
  }
}
