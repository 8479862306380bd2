// GrowingStack — what calls of one thread keep until they end, innermost last. Grows when it is full and never shrinks; its elements own nothing.

/// Of one thread, and used by it alone. Never freed: records of threads are used again.
struct GrowingStack<Element> {
  private var elements: UnsafeMutablePointer<Element>?
  private var room = 0
  /// How many there are; those from here on are given up by making it less.
  var count = 0
  /// No more than these.
  private let most: Int

  init(most: Int) { self.most = most }

  /// - Parameter index: below `count`.
  @inline(__always)
  subscript(index: Int) -> Element {
    get { elements.unsafelyUnwrapped[index] }
    nonmutating set { elements.unsafelyUnwrapped[index] = newValue }
  }

  /// Makes room for one more; false where there are as many as there may be.
  mutating func hasRoom() -> Bool {
    if count < room { return true }
    guard room < most else { return false }
    let more = max(32, 2 * room)
    let made = UnsafeMutablePointer<Element>.allocate(capacity: more)
    if let elements {
      made.moveInitialize(from: elements, count: count)
      elements.deallocate()
    }
    elements = made
    room = more
    return true
  }

  /// Adds one; `hasRoom` was asked.
  mutating func push(_ element: Element) {
    (elements.unsafelyUnwrapped + count).initialize(to: element)
    count += 1
  }
}
