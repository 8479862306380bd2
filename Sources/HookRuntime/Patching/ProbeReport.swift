// ProbeReport — what this process permits, as `doctor` tells it.

internal import CHookTrampoline

/// The result of trying on our own memory what diverting needs.
package struct ProbeReport: Sendable {
  /// Why code cannot be written; nil when it can.
  package let codeWriting: InterceptRefusal?
  /// Why there is no room for stubs; nil when there is.
  package let stubSpace: InterceptRefusal?
  /// Why bodies cannot be diverted while other threads run; nil when they can.
  package let liveChange: InterceptRefusal?
  /// Stubs are written through a second view of a memory file; false: like code.
  package let stubsInMemoryFile: Bool
  /// Memory-deny-write-execute is on for this process (it does not hinder us).
  package let denyWriteExecute: Bool
  /// The processor checks return addresses: bodies that start with a call are refused.
  package let shadowStack: Bool
  /// The real-time signal live transactions use; nil before the first one.
  package let rendezvousSignal: Int32?

  init(_ facts: HKTProbe) {
    codeWriting = InterceptRefusal.from(facts.code_write)
    stubSpace = InterceptRefusal.from(facts.stub_space)
    liveChange = InterceptRefusal.from(facts.live)
    stubsInMemoryFile = facts.stubs_in_memfd
    denyWriteExecute = facts.deny_write_execute
    shadowStack = facts.shadow_stack
    rendezvousSignal = facts.rendezvous_signal == 0 ? nil : facts.rendezvous_signal
  }
}
