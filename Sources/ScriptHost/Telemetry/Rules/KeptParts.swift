// KeptParts — what a compiled rule refers to without counting references, in memory that calls read: it ends with the rule, which calls in
// flight keep.

/// Filled while a rule is compiled, by one thread; not changed afterwards.
final class KeptParts {
  private var objects: [AnyObject] = []
  private var blocks: [UnsafeMutableRawPointer] = []

  func object<T: AnyObject>(_ object: T) -> Unmanaged<T> {
    objects.append(object)
    return .passUnretained(object)
  }

  /// Keeps a copy of the elements, which own nothing.
  func list<Element>(_ elements: some Collection<Element>) -> UnsafeBufferPointer<Element> {
    let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
    _ = memory.initialize(from: elements)
    blocks.append(UnsafeMutableRawPointer(memory.baseAddress!))
    return UnsafeBufferPointer(rebasing: memory[..<elements.count])
  }

  func text(_ text: String) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(list(Array(text.utf8))) }

  deinit { for block in blocks { block.deallocate() } }
}
