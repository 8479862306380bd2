// HostWork — program code that runs for ScriptHost's own purposes: equality, hashing, descriptions. No hook sees it.
internal import CHookTrampoline

enum HostWork {
  static func run<R>(_ body: () -> R) -> R {
    guard let thread = hkt_thread() else { return body() }
    hkt_host_begin(thread)
    defer { hkt_host_end(thread) }
    return body()
  }
}
