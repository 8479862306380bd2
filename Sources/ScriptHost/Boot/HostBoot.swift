// HostBoot — what happens inside a program between the preload stub and its `main`.
//
// Runs on the main thread, before `main`; all constructors have run and the
// program's types are registered. Nothing here may stop the program: what cannot
// be done is one sentence on stderr.

/// The start of the host inside a program.
package enum HostBoot {
  /// Starts what the settings ask for. Called once per process, before `main`.
  package static func start(_ settings: BootSettings) {
    _ = settings
  }
}
