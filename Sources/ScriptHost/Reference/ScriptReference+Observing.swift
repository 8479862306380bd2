// The entries of what watches a program as a whole: stalls, a profile, its requests.

extension ScriptReference {
  static let observing: [ScriptEntry] = [
    ScriptEntry(
      "", "stalls", .function, "stalls(settings: table)",
      options: [
        ScriptOption("main", "string", "The threshold of the main thread: `250ms`; at least 10ms, as all of these."),
        ScriptOption("loops", "string", "That of other threads that wait for events."),
        ScriptOption("queues", "table", "Those of dispatch queues, by their labels."),
        ScriptOption("pool", "string", "That of the threads on which tasks run."),
        ScriptOption("stacks", "boolean", "false: without the stack of the stalled thread."),
        ScriptOption("end_after", "string", "Ends the process when the main thread has not gone on for so long."),
      ],
      "Records where the program does not go on, with the stack and the length. See docs/apm.md.",
      example: "stalls { main = \"250ms\", pool = \"500ms\" }"),
    ScriptEntry(
      "", "profile", .function, "profile(settings: table|boolean)",
      options: [ScriptOption("hz", "integer", "Looks per second, 1 to 1000.")],
      "Samples the stacks of the threads that use the processor; `profile(false)` ends it. See docs/apm.md.",
      example: """
        profile { hz = 99 }
        profile(false)
        """),
    ScriptEntry(
      "", "network", .function, "network(settings: table)",
      options: [
        ScriptOption("traceparent", "boolean", "Puts the W3C header into requests."),
        ScriptOption("hosts", "string", "A glob: the hosts whose requests get the header."),
      ],
      "Records each request of Foundation's URLSession with its phases. See docs/apm.md."),
  ]
}
