// The one C function of the library that is opened inside programs; called by
// Sources/ScriptHostPreload/preload.c before `main`.
private import Glibc
private import ScriptHost

/// Starts the host with encoded settings; answers 0, or 1 after one sentence on stderr.
/// The text is copied, argv is the program's own.
@_cdecl("scripthost_boot")
public func scripthost_boot(
  _ settings: UnsafePointer<CChar>, _ argc: Int32,
  _ argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  let text = UnsafeRawBufferPointer(start: settings, count: strlen(settings))
  do {
    HostBoot.start(try BootSettings(decoding: text))
    return 0
  } catch {
    let line = "scripthost: \(error); the program runs without patches\n"
    _ = line.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    return 1
  }
}
