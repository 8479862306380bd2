// HandleClass — what handles of one kind can do, said once by the file of the kind.
internal import CLuaShim

/// Functions of the shim, none of which knows a state: they get their environment as context.
struct HandleClass: Sendable {
  /// What messages call the handles.
  let name: String
  var isUnique = false
  var index: SHLFunction?
  var newindex: SHLFunction?
  var invoke: SHLFunction?
  var tostring: SHLFunction?
  var call: SHLFunction?
  var equal: SHLFunction?
  var less: SHLFunction?
  var lessEqual: SHLFunction?
  var length: SHLFunction?
  var pairs: SHLFunction?
  var release: KeptHandles.Release?

  init(
    _ name: String, isUnique: Bool = false, index: SHLFunction? = nil, newindex: SHLFunction? = nil, invoke: SHLFunction? = nil,
    tostring: SHLFunction? = nil, call: SHLFunction? = nil, equal: SHLFunction? = nil, less: SHLFunction? = nil, lessEqual: SHLFunction? = nil,
    length: SHLFunction? = nil, pairs: SHLFunction? = nil, release: KeptHandles.Release? = nil
  ) {
    self.name = name
    self.isUnique = isUnique
    self.index = index
    self.newindex = newindex
    self.invoke = invoke
    self.tostring = tostring
    self.call = call
    self.equal = equal
    self.less = less
    self.lessEqual = lessEqual
    self.length = length
    self.pairs = pairs
    self.release = release
  }

  /// Adds the class to the state of an environment; answers its number there.
  /// - Parameters:
  ///   - other: the class whose live handles are given out instead of new ones; 0: none.
  ///   - release: what ends what a handle owns, where that differs within the kind.
  func add(to patch: Environment, standsInFor other: UInt32, release: KeptHandles.Release?) -> (SHLStatus, UInt32) {
    var description = SHLClass()
    description.flags = isUnique ? UInt32(SHL_UNIQUE) : 0
    description.stands_in_for = other
    description.ctx = Unmanaged.passUnretained(patch).toOpaque()
    description.index = index
    description.newindex = newindex
    description.invoke = invoke
    description.tostring = tostring
    description.call = call
    description.equal = equal
    description.less = less
    description.less_equal = lessEqual
    description.length = length
    description.pairs = pairs
    description.words = Uncaught.words
    description.release = release ?? self.release
    var id: UInt32 = 0
    let status = name.withCString {
      description.name = $0
      return shl_class(patch.state, &description, &id)
    }
    return (status, id)
  }
}
