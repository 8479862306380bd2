// ImagePins — keeps images in memory whose code or words are diverted.
private import CHookTrampoline
private import Synchronization

enum ImagePins {
  /// Where pinned images are, by their paths.
  private static let pinned = Mutex<[String: UInt64]>([:])

  /// The image stays, whoever closes it. The program itself does anyway. Answers its bias, nil when it is gone.
  @discardableResult
  static func pin(_ path: String) -> UInt64? {
    if let known = pinned.withLock({ $0[path] }) { return known }
    var bias: UInt64 = 0
    guard path.withCString({ hkt_pin_image($0, &bias) }) else { return nil }
    pinned.withLock { $0[path] = bias }
    return bias
  }

  /// False when the image is gone, or was opened again elsewhere since it was read.
  static func pin(_ importer: Importer) -> Bool { importer.isMainProgram || pin(importer.path) == importer.bias }
  /// False when the image is gone, or was opened again elsewhere since it was read.
  static func pin(_ image: ImageCatalog) -> Bool { !image.isLoaded || image.isMainProgram || pin(image.path) == image.bias }
}
