// NodeArena — owns every node, child list and built text of one parsed name.
//
// A node is 16 bytes and is named by its index; index 0 means "no node", so a failed
// step flows through the next ones without optionals. Nodes may be shared: the result
// is a graph without cycles, not always a tree, so walkers bound their work.
//
// Invariants:
//   1. A child's index names a node that was complete, or at least created, before it was attached;
//      no node is ever attached to itself or to one of its descendants.
//   2. Text pointers lead into the parsed name, into `chunks` or into constants; they are good until
//      the next `reset()` and only while the parsed name's memory is.
import Glibc

/// A node's index in its arena; 0 is "none".
typealias NodeIndex = UInt32

/// One node: a kind and either a text, a number, or children.
struct Node {
  enum Payload: UInt8 { case none, text, number, children }

  var kind: NodeKind
  var payload: Payload
  /// Text length in bytes, or the number of children.
  var count: UInt32
  /// Text address, number, up to two children in place, or the position of the child list.
  var value: UInt64

  init(kind: NodeKind) {
    self.kind = kind
    payload = .none
    count = 0
    value = 0
  }
}

struct NodeArena: ~Copyable {
  private var nodes: UnsafeMutablePointer<Node>
  private var nodeCapacity = 256
  /// Number of nodes in use, including the reserved first one.
  private(set) var count = 1
  private var lists: UnsafeMutablePointer<NodeIndex>
  private var listCapacity = 256
  private var listCount = 0
  /// Memory for texts that are not a slice of the parsed name. The last chunk is the one being filled.
  private var chunks: [UnsafeMutablePointer<UInt8>] = []
  private var chunkSize = 0
  private var chunkUsed = 0

  init() {
    nodes = .allocate(capacity: nodeCapacity)
    nodes.initialize(to: Node(kind: .global))
    lists = .allocate(capacity: listCapacity)
  }

  deinit {
    nodes.deallocate()
    lists.deallocate()
    for chunk in chunks { chunk.deallocate() }
  }

  /// Forgets all nodes and texts, keeps the memory.
  mutating func reset() {
    count = 1
    listCount = 0
    while chunks.count > 1 { chunks.removeFirst().deallocate() }
    chunkUsed = 0
  }

  // MARK: making nodes

  mutating func make(_ kind: NodeKind) -> NodeIndex {
    if count == nodeCapacity { growNodes() }
    (nodes + count).initialize(to: Node(kind: kind))
    count += 1
    return NodeIndex(truncatingIfNeeded: count - 1)
  }

  /// Makes a node that refers to a text, which must live as long as the arena uses it.
  mutating func make(_ kind: NodeKind, text: UnsafeBufferPointer<UInt8>) -> NodeIndex {
    let index = make(kind)
    nodes[Int(index)].payload = .text
    nodes[Int(index)].count = UInt32(truncatingIfNeeded: text.count)
    nodes[Int(index)].value = UInt64(UInt(bitPattern: text.baseAddress))
    return index
  }

  mutating func make(_ kind: NodeKind, text: StaticString) -> NodeIndex {
    make(kind, text: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func make(_ kind: NodeKind, number: UInt64) -> NodeIndex {
    let index = make(kind)
    nodes[Int(index)].payload = .number
    nodes[Int(index)].value = number
    return index
  }

  /// A copy of a node under another kind; the copies share their children.
  mutating func copy(_ node: NodeIndex, as kind: NodeKind) -> NodeIndex {
    let original = nodes[Int(node)]
    // A list in the arena is appended to in place, so two nodes must not own the same one.
    if original.payload == .children, original.count > 2 {
      let result = make(kind)
      for position in 0..<Int(original.count) { append(child(node, position), to: result) }
      return result
    }
    let result = make(kind)
    nodes[Int(result)] = original
    nodes[Int(result)].kind = kind
    return result
  }

  // MARK: children

  /// Attaches a child at the end. The parent has no text and no number.
  mutating func append(_ child: NodeIndex, to parent: NodeIndex) {
    var node = nodes[Int(parent)]
    switch node.count {
    case 0:
      node.payload = .children
      node.value = UInt64(child)
    case 1:
      node.value |= UInt64(child) << 32
    case 2:
      let start = reserveList(4)
      lists[start] = NodeIndex(truncatingIfNeeded: node.value)
      lists[start + 1] = NodeIndex(truncatingIfNeeded: node.value >> 32)
      lists[start + 2] = child
      node.value = UInt64(start)
    default:
      let used = Int(node.count)
      // Lists hold a power of two; a full one moves to twice its size.
      if used & (used - 1) == 0, used >= 4 {
        let start = reserveList(used * 2)
        (lists + start).update(from: lists + Int(node.value), count: used)
        node.value = UInt64(start)
      }
      lists[Int(node.value) + used] = child
    }
    node.count += 1
    nodes[Int(parent)] = node
  }

  func child(_ node: NodeIndex, _ position: Int) -> NodeIndex {
    let node = nodes[Int(node)]
    guard node.payload == .children, position < Int(node.count) else { return 0 }
    if node.count <= 2 {
      return NodeIndex(truncatingIfNeeded: position == 0 ? node.value : node.value >> 32)
    }
    return lists[Int(node.value) + position]
  }

  mutating func setChild(_ node: NodeIndex, _ position: Int, to child: NodeIndex) {
    guard childCount(node) > position else { return }
    if nodes[Int(node)].count > 2 {
      lists[Int(nodes[Int(node)].value) + position] = child
    } else if position == 0 {
      nodes[Int(node)].value = nodes[Int(node)].value & ~0xFFFF_FFFF | UInt64(child)
    } else {
      nodes[Int(node)].value = nodes[Int(node)].value & 0xFFFF_FFFF | UInt64(child) << 32
    }
  }

  /// Turns the order of the children from `start` on around.
  mutating func reverseChildren(_ node: NodeIndex, from start: Int = 0) {
    var low = start
    var high = childCount(node) - 1
    while low < high {
      let first = child(node, low)
      setChild(node, low, to: child(node, high))
      setChild(node, high, to: first)
      low += 1
      high -= 1
    }
  }

  // MARK: reading

  func kind(_ node: NodeIndex) -> NodeKind { nodes[Int(node)].kind }

  func childCount(_ node: NodeIndex) -> Int {
    nodes[Int(node)].payload == .children ? Int(nodes[Int(node)].count) : 0
  }

  func first(_ node: NodeIndex) -> NodeIndex { child(node, 0) }

  /// The node's number, nil when it has none.
  func number(_ node: NodeIndex) -> UInt64? {
    nodes[Int(node)].payload == .number ? nodes[Int(node)].value : nil
  }

  /// The node's text, nil when it has none. Good until the next `reset()`.
  func text(_ node: NodeIndex) -> UnsafeBufferPointer<UInt8>? {
    let node = nodes[Int(node)]
    guard node.payload == .text else { return nil }
    return UnsafeBufferPointer(
      start: UnsafePointer(bitPattern: UInt(node.value)), count: Int(node.count))
  }

  /// The node's text as a string; empty when it has none.
  func string(_ node: NodeIndex) -> String {
    guard let text = text(node) else { return "" }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: memory

  /// Room for a built text of up to `size` bytes; the caller fills it and says how much it used
  /// with `commitText(_:)` before it asks again.
  mutating func reserveText(_ size: Int) -> UnsafeMutablePointer<UInt8> {
    if chunks.isEmpty || chunkSize - chunkUsed < size {
      chunkSize = max(size, 4096)
      chunks.append(.allocate(capacity: chunkSize))
      chunkUsed = 0
    }
    return chunks[chunks.count - 1] + chunkUsed
  }

  mutating func commitText(_ size: Int) { chunkUsed += size }

  private mutating func growNodes() {
    let larger = UnsafeMutablePointer<Node>.allocate(capacity: nodeCapacity * 2)
    larger.moveInitialize(from: nodes, count: count)
    nodes.deallocate()
    nodes = larger
    nodeCapacity *= 2
  }

  private mutating func reserveList(_ size: Int) -> Int {
    while listCount + size > listCapacity {
      let larger = UnsafeMutablePointer<NodeIndex>.allocate(capacity: listCapacity * 2)
      larger.update(from: lists, count: listCount)
      lists.deallocate()
      lists = larger
      listCapacity *= 2
    }
    listCount += size
    return listCount - size
  }
}
