// ImagePins — keeps images in memory whose code or words are diverted.
private import CHookTrampoline
private import Synchronization

enum ImagePins {
  private static let pinned = Mutex<Set<String>>([])

  /// The image stays, whoever closes it. The program itself does anyway.
  static func pin(_ path: String) {
    let isNew = pinned.withLock { $0.insert(path).inserted }
    if isNew { path.withCString { _ = hkt_pin_image($0) } }
  }

  static func pin(_ importer: Importer?) { if let importer, !importer.isMainProgram { pin(importer.path) } }
  static func pin(_ image: ImageCatalog) { if image.isLoaded, !image.isMainProgram { pin(image.path) } }
}
