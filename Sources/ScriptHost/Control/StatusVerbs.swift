// StatusVerbs — what a process says of itself: help, status.
private import Glibc
internal import Journal

extension ControlVerbs {
  static let status = [
    ControlVerb("help", "the requests there are") { call in
      call.answer([
        .init(
          "requests",
          .array(all.map { ["do": .string($0.name), "summary": .string($0.summary)] } + [["do": "stop", "summary": "end a request that streams"]]))
      ])
    },
    ControlVerb("status", "the process, its program and how its patches stand") { call in
      let host = call.host
      let states = host.patches.states
      call.answer([
        .init("protocol", 1), .init("pid", JSONValue(getpid())), .init("program", .string(host.program.description)),
        .init("build", .string(host.buildID)),
        .init("held", .bool(StartHold.isHeld)),
        .init("uptime_ns", JSONValue(clockNanoseconds(CLOCK_MONOTONIC) &- host.started)),
        .init("patches", JSONValue(states.count)),
        .init("loaded", JSONValue(states.count { $0 == "loaded" })), .init("disabled", JSONValue(states.count { $0 == "disabled" })),
        .init("refused", JSONValue(states.count { $0 == "refused" || $0 == "expired" })),
        .init("quarantined", JSONValue(states.count { $0 == "quarantined" })),
        .init("failed_starts", JSONValue(BootGuard.failedStarts)), .init("safe_mode", .array(BootGuard.sentences().map { .string($0) })),
      ])
    },
  ]
}
