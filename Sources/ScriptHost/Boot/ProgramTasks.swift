// ProgramTasks — what a program that imports ScriptHost says of its own start: steps, repairs after failed starts, caches and data that
// may be cleared, and that it is up.
//
// The program has its own copy of this library; the host that `scripthost run` starts is another one. They meet in C functions, which
// the preload stub finds (`scripthost_host_symbol`). Without the host nothing is done: a program's start does not depend on it.
private import Glibc

/// When a step of the program's start is done.
public enum BootTaskPhase: Int32, Sendable {
  /// In the call that asks for it, on its thread: at the beginning of `main` before the program's work.
  case now = 0
  /// 100 ms after the start, on a thread of the host.
  case launched = 1
  /// When the program used less than a tenth of a processor for half a second, or 10 s after the start; on a thread of the host.
  case idle = 2
}

/// Has a step of the program's start done once: always, or as a repair after starts that failed. Any thread.
///
///     ScriptHost.bootTask("rebuild the index", phase: .now, afterFailedStarts: 2) { try? FileManager.default.removeItem(at: index) }
///
/// A step that crashes makes the start a failed one, and leads to the next level of safe mode.
/// - Parameters:
///   - name: for records and crash reports.
///   - priority: within a phase higher ones are done first, and those alike in the order of the calls; nothing to `.now`.
///   - afterFailedStarts: it is done only when so many starts failed one after another.
/// - Returns: whether it was or will be done. False: fewer starts failed, the phase is over, or the program was not started by `scripthost run`.
@discardableResult
public func bootTask(
  _ name: String, phase: BootTaskPhase = .launched, priority: Int = 0, afterFailedStarts: Int = 0, run: @escaping @Sendable () -> Void
) -> Bool {
  guard let symbol = hostSymbol("scripthost_add_start_task") else { return false }
  // The host's function has this type (ScriptHostBoot/ProgramEntries.swift).
  let add = unsafeBitCast(symbol, to: AddStartTask.self)
  let step = Unmanaged.passRetained(StepBox(run))
  // The host calls it at most once, and not when it answers 0: then nobody else has the box.
  let isTaken = name.withCString { name in
    add(name, phase.rawValue, priority, afterFailedStarts, { Unmanaged<StepBox>.fromOpaque($0).takeRetainedValue().run() }, step.toOpaque())
  }
  if isTaken == 0 { step.release() }
  return isTaken != 0
}

/// How many starts of the program failed one after another before this one; 0 without the host. Any thread.
public var failedStarts: Int {
  guard let symbol = hostSymbol("scripthost_failed_starts") else { return 0 }
  // The host's function has this type.
  return Int(unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)())
}

/// Says that the program is up: this start was a good one. Any thread, any number of times; nothing without the host.
public func up() {
  guard let symbol = hostSymbol("scripthost_up") else { return }
  // The host's function has this type.
  unsafeBitCast(symbol, to: (@convention(c) () -> Void).self)()
}

/// Registers a file, or a directory whose contents, may be removed: a cache after two failed starts. Any thread.
/// - Parameter path: absolute.
/// - Returns: false when it was not noted: it is no such path, there is no state directory, or no host.
@discardableResult
public func bootCache(_ path: String) -> Bool { registerPath(path, isData: false) }

/// Registers a file, or a directory whose contents, may be removed: data after five failed starts. Any thread.
/// - Parameter path: absolute.
/// - Returns: false when it was not noted: it is no such path, there is no state directory, or no host.
@discardableResult
public func bootData(_ path: String) -> Bool { registerPath(path, isData: true) }

// MARK: The host

private typealias AddStartTask = @convention(c) (
  UnsafePointer<CChar>, Int32, Int, Int, @convention(c) (UnsafeMutableRawPointer) -> Void, UnsafeMutableRawPointer
) -> Int32

/// A closure on its way through C.
private final class StepBox: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func registerPath(_ path: String, isData: Bool) -> Bool {
  guard let symbol = hostSymbol("scripthost_register_path") else { return false }
  // The host's function has this type.
  let register = unsafeBitCast(symbol, to: (@convention(c) (UnsafePointer<CChar>, Int32) -> Int32).self)
  return path.withCString { register($0, isData ? 1 : 0) } != 0
}

/// A C function of the host in this process; nil when there is none.
private func hostSymbol(_ name: String) -> UnsafeMutableRawPointer? {
  guard let find = dlsym(nil, "scripthost_host_symbol") else { return nil }
  // The stub's function has this type (ScriptHostPreload/preload.c).
  return name.withCString { unsafeBitCast(find, to: (@convention(c) (UnsafePointer<CChar>) -> UnsafeMutableRawPointer?).self)($0) }
}
