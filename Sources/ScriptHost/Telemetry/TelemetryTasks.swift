// TelemetryTasks — what tracking needs at the start of a program.
internal import Journal

extension BootTask {
  /// The key under which personal values are hashed.
  static let privacy = BootTask("privacy", .records) { context in
    SecretHash.open(in: context.state)
    return .goOn
  }

  /// What was counted is written when the program ends.
  static let metrics = BootTask("metrics", .records) { context in
    let log = context.log
    context.atEnd {
      MetricReporter.finish()
      HookCosts.write(log)
    }
    return .goOn
  }

  /// The program's own code begins behind the last task.
  static let startup = BootTask("startup", .services, priority: -100) { _ in
    StartupStages.reachMain()
    return .goOn
  }
}
