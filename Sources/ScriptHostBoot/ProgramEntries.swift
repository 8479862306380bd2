// What a program that imports ScriptHost asks the host in its process for; found by name, through the preload stub.
private import ScriptHost

/// Has `run(context)` done once; answers 0 when it never will be. Keep in step with ScriptHost/Boot/ProgramTasks.swift.
@_cdecl("scripthost_add_start_task")
public func scripthost_add_start_task(
  _ name: UnsafePointer<CChar>, _ phase: Int32, _ priority: Int, _ failures: Int,
  _ run: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void, _ context: UnsafeMutableRawPointer
) -> Int32 {
  // The program gave the pointer away until `run` takes it; it says itself that any thread may.
  nonisolated(unsafe) let context = context
  return ProgramSteps.add(String(cString: name), phase: phase, priority: priority, failures: failures) { run(context) } ? 1 : 0
}

/// How many starts failed one after another before this one.
@_cdecl("scripthost_failed_starts")
public func scripthost_failed_starts() -> Int32 { ProgramSteps.failedStarts }

/// This start was good.
@_cdecl("scripthost_up")
public func scripthost_up() {
  BootGuard.up()
  StartupStages.reachStable()
}

/// Notes a path that may be cleared after failed starts; 0 when it was not noted.
@_cdecl("scripthost_register_path")
public func scripthost_register_path(_ path: UnsafePointer<CChar>, _ isData: Int32) -> Int32 {
  ProgramSteps.register(String(cString: path), isData: isData != 0) ? 1 : 0
}
