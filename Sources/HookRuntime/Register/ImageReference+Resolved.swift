// ImageReference — found in the images there are.

extension ImageReference {
  /// The image that has it, and where in its file.
  func resolved(in image: ImageCatalog) -> (image: ImageCatalog, address: UInt64)? {
    switch self {
    case .address(let address): return (image, address)
    case .symbol(let name):
      for other in ProcessCatalog.shared.current() {
        if let address = other.metadataSymbols.address(name) { return (other, address) }
      }
      return nil
    }
  }
}
