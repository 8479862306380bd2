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
  static let ordered: [BootTask] = {
    // `sorted` is stable.
    all.sorted { (a: BootTask, b: BootTask) -> Bool in
      a.phase == b.phase ? a.priority > b.priority : a.phase.rawValue < b.phase.rawValue
    }
  }()
}
