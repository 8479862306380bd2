// LuaKit — what tests do to a state of Lua that the host does not: add classes and members one by one.
package import CLuaShim
private import Glibc
package import LuaBridge

extension LuaState {
  /// Adds a class of handles; see `SHLClass`. `description.ctx` must outlive the state.
  package func addClass(_ description: SHLClass) throws(LuaFailure) -> UInt32 {
    var description = description
    var id: UInt32 = 0
    let status = shl_class(raw, &description, &id)
    if status != SHL_OK { throw LuaFailure(status, consuming: nil, of: raw) }
    return id
  }
}

/// Adds a method, or a field under a number, to a class of handles. The name is never freed: the state refers to it.
package func addMember(_ state: LuaState, _ cls: UInt32, _ name: String, _ function: SHLFunction? = nil, id: Int32 = -1) -> SHLStatus {
  let member = UnsafeMutablePointer<SHLNamed>.allocate(capacity: 1)
  member.initialize(to: SHLNamed(name: strdup(name), fn: function, id: id))
  return shl_members(state.raw, cls, member, 1, nil)
}
