// CodePatcher — diverts function bodies and undoes it.
//
// The Swift front of CHookTrampoline, which owns every mechanism: moving the
// first instructions, making stubs, writing code, bringing the threads of the
// process together. This file only gives it Swift shapes: typed errors and
// values. It knows nothing of who hooks a body or why.
//
//   let site = try CodePatcher.prepare(body: address, size: n, available: m, fileBytes: bytes).get()
//   site.pointee.handler = …            // before enabling
//   try CodePatcher.install([site])     // calls now pass the stub, and go on to the original
//   CodePatcher.enable(site)            // calls reach the handler
//
// Sites live for ever, and their bodies stay as they are: turning a hook off is `disable`.

package import CHookTrampoline

/// Diverting bodies. All functions may be called from any thread and from hook handlers, except from signal handlers and
/// from hooks on the system calls a transaction itself makes (`open`, `read`, `pwrite`, `mmap`): those would wait for themselves.
package enum CodePatcher {
  /// A diverted body, in memory that is never freed.
  package typealias Site = UnsafeMutablePointer<HKTSite>

  /// Makes the site of a body, or answers the one made before for the same address.
  ///
  /// Nothing in the program changes, and the site is disabled. Costs about a microsecond per 100 instructions of the body.
  /// - Parameters:
  ///   - body: address of the first byte.
  ///   - size: bytes, as the symbol says.
  ///   - available: bytes up to the next symbol or the section's end; less than `size` means `size`.
  ///   - fileBytes: `size` bytes of the body from the image's file, or nil to trust memory.
  package static func prepare(
    body: UInt64, size: Int, available: Int, fileBytes: UnsafeRawPointer?
  ) -> Result<Site, InterceptRefusal> {
    Result { () throws(InterceptRefusal) in try site(of: body, size: size, available: available, fileBytes: fileBytes) }
  }

  /// Makes sites for many bodies: what a refusal takes is only made for one.
  static func site(of body: UInt64, size: Int, available: Int, fileBytes: UnsafeRawPointer?) throws(InterceptRefusal) -> Site {
    var facts = HKTRefusal()
    var request = HKTBody(
      address: body, size: UInt64(max(size, 0)), available: UInt64(max(available, size, 0)),
      file_bytes: fileBytes?.assumingMemoryBound(to: UInt8.self))
    guard let site = hkt_prepare(&request, &facts) else { throw InterceptRefusal(facts) }
    return site
  }

  /// Whether a body could be diverted, judged by its bytes alone: for files that nothing runs.
  /// - Parameter bytes: where the body's bytes are mapped; addresses in refusals are counted from there.
  package static func examine(bytes: UnsafeRawPointer, size: Int, available: Int) -> InterceptRefusal? {
    var facts = HKTRefusal()
    var moved = HKTMovedWindow()
    let address = UInt64(UInt(bitPattern: bytes))
    var request = HKTBody(address: address, size: UInt64(max(size, 0)), available: UInt64(max(available, size, 0)), file_bytes: nil)
    return hkt_move_window(&request, address &- 0x1000_0000, &moved, &facts) ? nil : InterceptRefusal(facts)
  }

  /// The site prepared for the body at this address, if there is one.
  package static func site(of body: UInt64) -> Site? { hkt_find_site(body) }

  /// Writes the diversions of all these sites, or of none. Sites that are installed already stay so.
  @discardableResult
  package static func install(_ sites: [Site]) throws(InterceptRefusal) -> TransactionReport {
    var facts = HKTRefusal()
    var report = HKTTransactionReport()
    let isDone = sites.withUnsafeBytes {
      // A pointer is where it may be none as it is here.
      hkt_install($0.assumingMemoryBound(to: UnsafeMutablePointer<HKTSite>?.self).baseAddress, sites.count, &facts, &report)
    }
    guard isDone else { throw InterceptRefusal(facts) }
    return TransactionReport(report)
  }

  /// Routes calls through the trampoline to `site.pointee.handler`, which must be set. One atomic store.
  package static func enable(_ site: Site) { hkt_enable(site) }

  /// Routes calls to the original. One atomic store; calls already inside the handler finish there.
  package static func disable(_ site: Site) { hkt_disable(site) }

  /// Whether calls reach the handler.
  package static func isEnabled(_ site: Site) -> Bool { hkt_is_enabled(site) }

  /// Whether the body starts with our jump, by our own books.
  package static func isInstalled(_ site: Site) -> Bool { hkt_is_installed(site) }

  /// What someone else made of the first bytes of a body that was diverted; nil when they are ours, or the original's.
  package static func changedElsewhere(_ site: Site) -> InterceptRefusal? {
    var facts = HKTRefusal()
    return hkt_check_site(site, &facts) ? nil : InterceptRefusal(facts)
  }

  /// Tries on our own memory what diverting needs.
  package static func probe() -> ProbeReport {
    var facts = HKTProbe()
    hkt_probe(&facts)
    return ProbeReport(facts)
  }

  /// Why no code can be changed in this process, as it was when somebody asked first; nil when it can.
  static let whyNotWritable: InterceptRefusal? = probe().codeWriting

  /// Totals since the start of the process.
  package static func totals() -> Totals {
    var facts = HKTTotals()
    hkt_totals(&facts)
    return Totals(
      sites: Int(facts.sites), installed: Int(facts.installed), stubBytes: Int(facts.stub_bytes),
      arenas: Int(facts.arenas), recordBytes: Int(facts.record_bytes))
  }
}

extension CodePatcher {
  /// How a transaction went.
  package struct TransactionReport: Sendable {
    /// Other threads existed and were synchronised.
    package let isLive: Bool
    /// Threads that got a rendezvous signal.
    package let threadsSignaled: Int
    /// Threads that were asleep outside every window, and were not disturbed.
    package let threadsAsleep: Int
    /// Program counters that were inside a window and were moved to the copy.
    package let countersMoved: Int
    /// Calls that met a temporary breakpoint, since the start of the process.
    package let traps: Int
    package let nanoseconds: UInt64

    init(_ facts: HKTTransactionReport) {
      isLive = facts.live != 0
      threadsSignaled = Int(facts.threads_signaled)
      threadsAsleep = Int(facts.threads_asleep)
      countersMoved = Int(facts.counters_moved)
      traps = Int(facts.traps)
      nanoseconds = facts.nanoseconds
    }
  }

  /// What the patcher holds, since the start of the process. Nothing of it is ever given back.
  package struct Totals: Sendable {
    package let sites: Int
    package let installed: Int
    package let stubBytes: Int
    package let arenas: Int
    package let recordBytes: Int
  }
}
