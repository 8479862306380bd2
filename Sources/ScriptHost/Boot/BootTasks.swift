// BootTasks — the list of what is done inside a program before its `main`.

/// All tasks of the start.
enum BootTasks {
  /// Unordered but for those of equal phase and priority.
  static let all: [BootTask] = [
    .room, .crashSignals, .engine,
    .survey, .crashFile, .journal, .index, .privacy, .metrics, .guards,
    .canaryBegin, .callReplay, .wantTests, .callRecorder, .patches, .tests, .canary,
    .trace,
    .stalls, .profile, .network, .control, .startup, .bootLoaded, .hold,
  ]

  /// The tasks in the order in which they run.
  static let ordered = all.enumerated().sorted {
    ($0.element.phase.rawValue, $1.element.priority, $0.offset) < ($1.element.phase.rawValue, $0.element.priority, $1.offset)
  }.map(\.element)
}
