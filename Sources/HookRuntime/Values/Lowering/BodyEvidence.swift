// BodyEvidence — what the machine code of a body, and of its callers, says where its name is silent.

/// All optional: nil is "not known", never "no". Data flow over the code fills it, the planner reads it.
package struct BodyEvidence: Hashable, Sendable {
  /// The body takes `self` by its address (true), or as words behind the arguments (false). Methods of structs and enums
  /// do not tell in their names whether they are mutating.
  package var takesSelfByAddress: Bool?
  /// Whether the code agrees with the convention that the body's type stands for; asked of bodies whose convention the
  /// optimiser may change (private functions, closures).
  package var isVerified: Bool?
  /// What contradicts, when `isVerified` is false.
  package var contradiction: String?
  /// What the body does with the values it is entered with.
  package var entry: EntryUse?

  package init() {}
}

/// Registers and stack slots at entry that the body reads before it writes them.
package struct EntryUse: Hashable, Sendable {
  /// Bit i: rdi rsi rdx rcx r8 r9.
  package var integers: UInt8 = 0
  /// Bit i: xmm0-7.
  package var floats: UInt8 = 0
  /// 8-byte slots above the return address.
  package var stackSlots: Set<Int> = []
  package var selfRegister = false
  package var indirectResult = false
  /// Those of `integers` whose value is used as an address.
  package var addresses: UInt8 = 0
  package var selfIsAddress = false

  package init() {}
}
