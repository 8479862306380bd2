// Demangler — reads a mangled name into a tree of nodes.
//
// A mangled name is a program for a stack machine: operands (identifiers, types) come first, an
// operator letter takes them from the stack and leaves the node it made. This file owns the machine:
// the cursor, the stack, the substitutions. What each operator means is written in the extensions
// beside it, one file per family; the grammar is in the toolchain's "Mangling" document.
//
// Must stay true:
//   1. No input makes it trap, loop or recurse without bound: every step consumes a byte, `limit…`
//      bounds memory and depth, reading past the end yields byte 0, which no operator accepts.
//   2. A failed step returns node 0; passing 0 on is safe and yields 0 again.
//   3. Symbolic references (bytes 1…31) are rejected unless the caller says how to follow them: they are only good
//      inside metadata, where the name lies.
import Glibc

struct Demangler: ~Copyable {
  var arena = NodeArena()

  // The cursor.
  private(set) var text = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
  var position = 0

  // The operands.
  private var stack: UnsafeMutablePointer<NodeIndex>
  private var stackCapacity = 128
  private(set) var stackCount = 0

  // What `A…` refers to.
  private var substitutions: UnsafeMutablePointer<NodeIndex>
  private var substitutionCapacity = 128
  private(set) var substitutionCount = 0

  // What word substitutions in identifiers refer to, the mangling allows 26 words.
  var words: UnsafeMutablePointer<UnsafeBufferPointer<UInt8>>
  var wordCount = 0

  /// What a symbolic reference at an address refers to; nil where names come from symbols, which hold none.
  var resolveReference: ReferenceResolver?

  /// Guards the few operators that call themselves.
  var depth = 0

  /// A `some P` result was read that no entity claimed yet.
  var hasOpenOpaqueResult = false

  /// Position after the last byte of the entity at the bottom of the stack; 0 when there is none.
  private(set) var entityEnd = 0
  /// Where the first operator stands (after `$s`).
  private(set) var bodyStart = 0

  static var limitLength: Int { 1 << 18 }
  static var limitNodes: Int { 1 << 20 }
  static var limitStack: Int { 1 << 18 }
  static var limitText: Int { 1 << 22 }
  static var limitDepth: Int { 128 }
  static var limitWords: Int { 26 }
  /// The mangler never asks for more copies of a substitution at once.
  static var limitRepeat: Int { 2048 }

  var builtTextSize = 0

  init() {
    stack = .allocate(capacity: stackCapacity)
    substitutions = .allocate(capacity: substitutionCapacity)
    words = .allocate(capacity: Demangler.limitWords)
  }

  deinit {
    stack.deallocate()
    substitutions.deallocate()
    words.deallocate()
  }

  // MARK: entry points

  /// Reads a symbol (`$s…`, `$S…`, `$e…`, with or without a leading underscore).
  /// - Returns: The `global` node, or 0. Good until the next call, while `name`'s memory lives.
  mutating func parseSymbol(_ name: UnsafeBufferPointer<UInt8>) -> NodeIndex {
    let prefix = Demangler.prefixLength(name)
    guard prefix > 0, begin(name, at: prefix), runAll() else { return 0 }
    let global = arena.make(.global)
    let suffix = pop(.suffix)
    var parent = global
    while let attribute = popAttribute() {
      arena.append(attribute, to: parent)
      let kind = arena.kind(attribute)
      if kind == .partialApplyForwarder || kind == .partialApplyObjCForwarder { parent = attribute }
    }
    for index in 0..<stackCount {
      let node = stack[index]
      arena.append(arena.kind(node) == .type ? arena.first(node) : node, to: parent)
    }
    addIfPresent(suffix, to: global)
    return arena.childCount(global) > 0 ? global : 0
  }

  /// Reads a bare type mangling.
  mutating func parseType(_ name: UnsafeBufferPointer<UInt8>) -> NodeIndex {
    guard begin(name, at: 0), runAll(), stackCount == 1 else { return 0 }
    return stack[0]
  }

  /// Bytes of the prefix that marks a Swift symbol, 0 when there is none.
  static func prefixLength(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    let underscore = name.count > 2 && Letter(name[0]) == "_" ? 1 : 0
    guard name.count > underscore + 1, Letter(name[underscore]) == "$" else { return 0 }
    switch Letter(name[underscore + 1]) {
    case "s", "S", "e": return underscore + 2
    default: return 0
    }
  }

  /// Begins with another name. The bytes must stay until the tree has been read.
  private mutating func begin(_ name: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
    arena.reset()
    text = name
    position = start
    bodyStart = start
    stackCount = 0
    substitutionCount = 0
    wordCount = 0
    depth = 0
    entityEnd = 0
    builtTextSize = 0
    hasOpenOpaqueResult = false
    return name.count > start && name.count <= Demangler.limitLength
  }

  private mutating func runAll() -> Bool {
    while position < text.count {
      let node = readOperator()
      guard node != 0, arena.count < Demangler.limitNodes, push(node) else { return false }
      if stackCount == 1, arena.kind(node).isContext { entityEnd = position }
    }
    return true
  }

  // MARK: the cursor

  /// The next byte without consuming it; 0 at the end.
  @inline(__always) var peeked: Letter {
    Letter(position < text.count ? text[position] : 0)
  }

  @inline(__always) mutating func next() -> Letter {
    guard position < text.count else { return Letter(0) }
    position += 1
    return Letter(text[position - 1])
  }

  /// Consumes the byte if it is the given one.
  @inline(__always) mutating func skip(_ letter: Letter) -> Bool {
    guard peeked == letter, position < text.count else { return false }
    position += 1
    return true
  }

  /// Undoes one `next()` that returned a byte.
  @inline(__always) mutating func back() { position -= 1 }

  /// Reads a decimal number; nil when there is none or it is beyond 2³¹.
  mutating func readNatural() -> Int? {
    guard peeked.isDigit else { return nil }
    var value = 0
    while peeked.isDigit {
      value = value * 10 + Int(next().byte &- 0x30)
      if value > Int(Int32.max) { return nil }
    }
    return value
  }

  /// Reads `_` as 0 and `<n>_` as n + 1; nil for anything else.
  mutating func readIndex() -> Int? {
    if skip("_") { return 0 }
    guard let value = readNatural(), skip("_") else { return nil }
    return value + 1
  }

  /// `readIndex()` as a node of the given kind.
  mutating func readIndexNode(_ kind: NodeKind = .number) -> NodeIndex {
    guard let index = readIndex() else { return 0 }
    return arena.make(kind, number: UInt64(index))
  }

  // MARK: the stack

  @inline(__always) mutating func push(_ node: NodeIndex) -> Bool {
    if stackCount == stackCapacity {
      guard stackCapacity < Demangler.limitStack else { return false }
      stack = Demangler.grown(stack, &stackCapacity)
    }
    stack[stackCount] = node
    stackCount += 1
    return true
  }

  /// Takes the top node, whatever it is; 0 when the stack is empty.
  @inline(__always) mutating func pop() -> NodeIndex {
    guard stackCount > 0 else { return 0 }
    stackCount -= 1
    return stack[stackCount]
  }

  /// Takes the top node if it is of the given kind, else 0.
  @inline(__always) mutating func pop(_ kind: NodeKind) -> NodeIndex {
    guard stackCount > 0, arena.kind(stack[stackCount - 1]) == kind else { return 0 }
    stackCount -= 1
    return stack[stackCount]
  }

  /// The kind of the top node, nil when the stack is empty.
  @inline(__always) var topKind: NodeKind? {
    stackCount > 0 ? arena.kind(stack[stackCount - 1]) : nil
  }

  mutating func popDeclarationName() -> NodeIndex { topKind?.isDeclarationName == true ? pop() : 0 }
  mutating func popEntity() -> NodeIndex { topKind?.isEntity == true ? pop() : 0 }
  mutating func popRequirement() -> NodeIndex { topKind?.isRequirement == true ? pop() : 0 }
  private mutating func popAttribute() -> NodeIndex? {
    topKind?.isFunctionAttribute == true ? pop() : nil
  }

  // MARK: substitutions

  mutating func addSubstitution(_ node: NodeIndex) {
    guard node != 0 else { return }
    if substitutionCount == substitutionCapacity {
      substitutions = Demangler.grown(substitutions, &substitutionCapacity)
    }
    substitutions[substitutionCount] = node
    substitutionCount += 1
  }

  /// The contents in twice the memory; frees the former.
  private static func grown(
    _ memory: UnsafeMutablePointer<NodeIndex>, _ capacity: inout Int
  ) -> UnsafeMutablePointer<NodeIndex> {
    let larger = UnsafeMutablePointer<NodeIndex>.allocate(capacity: capacity * 2)
    larger.update(from: memory, count: capacity)
    memory.deallocate()
    capacity *= 2
    return larger
  }

  /// `A…`: one or more references to earlier nodes; all but the last go to the stack.
  mutating func readSubstitutions() -> NodeIndex {
    var repeats: Int?
    while true {
      let letter = next()
      if letter.isLower {
        let node = substitution(Int(letter.byte &- 0x61), repeats: repeats)
        guard node != 0, push(node) else { return 0 }
        repeats = nil
      } else if letter.isUpper {
        return substitution(Int(letter.byte &- 0x41), repeats: repeats)
      } else if letter == "_" {
        return substitution((repeats ?? -1) + 27, repeats: nil)
      } else {
        guard letter.isDigit else { return 0 }
        back()
        guard let number = readNatural() else { return 0 }
        repeats = number
      }
    }
  }

  /// The node behind a reference; a repeat count of n pushes n - 1 more of it.
  private mutating func substitution(_ index: Int, repeats: Int?) -> NodeIndex {
    guard index < substitutionCount, (repeats ?? 0) <= Demangler.limitRepeat else { return 0 }
    return pushCopies(of: substitutions[index], repeats: repeats)
  }

  mutating func pushCopies(of node: NodeIndex, repeats: Int?) -> NodeIndex {
    for _ in 1..<max(repeats ?? 1, 1) where !push(node) { return 0 }
    return node
  }

  // MARK: building nodes

  /// A node with one child; 0 when the child failed.
  @inline(__always) mutating func make(_ kind: NodeKind, _ first: NodeIndex) -> NodeIndex {
    guard first != 0 else { return 0 }
    let node = arena.make(kind)
    arena.append(first, to: node)
    return node
  }

  @inline(__always) mutating func make(_ kind: NodeKind, _ first: NodeIndex, _ second: NodeIndex) -> NodeIndex {
    guard first != 0, second != 0 else { return 0 }
    let node = arena.make(kind)
    arena.append(first, to: node)
    arena.append(second, to: node)
    return node
  }

  mutating func make(
    _ kind: NodeKind, _ first: NodeIndex, _ second: NodeIndex, _ third: NodeIndex
  ) -> NodeIndex {
    guard third != 0 else { return 0 }
    return adding(third, to: make(kind, first, second))
  }

  /// Attaches a child that must be there; 0 when either is missing.
  mutating func adding(_ child: NodeIndex, to parent: NodeIndex) -> NodeIndex {
    guard child != 0, parent != 0 else { return 0 }
    arena.append(child, to: parent)
    return parent
  }

  /// Attaches a child if there is one.
  mutating func addIfPresent(_ child: NodeIndex, to parent: NodeIndex) {
    if child != 0, parent != 0 { arena.append(child, to: parent) }
  }

  /// Wraps a node as a type; 0 stays 0.
  @inline(__always) mutating func makeType(_ node: NodeIndex) -> NodeIndex { make(.type, node) }

  /// Takes nodes from the stack until the one that stands before a first-element marker, or none when
  /// an empty-list mark is on top, and attaches them in written order.
  mutating func popList(into parent: NodeIndex, _ element: (inout Demangler) -> NodeIndex) -> NodeIndex {
    if pop(.emptyList) != 0 { return parent }
    let start = arena.childCount(parent)
    while true {
      let isFirst = pop(.firstElementMarker) != 0
      let node = element(&self)
      guard node != 0 else { return 0 }
      arena.append(node, to: parent)
      if isFirst { break }
    }
    arena.reverseChildren(parent, from: start)
    return parent
  }

  /// `popList` of plain types under a `TypeList`.
  mutating func popTypeList() -> NodeIndex {
    popList(into: arena.make(.typeList)) { $0.pop(.type) }
  }
}
