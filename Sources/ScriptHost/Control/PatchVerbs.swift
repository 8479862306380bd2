// PatchVerbs — patches of a running process: listed, loaded, replaced, removed, switched. And the hooks they and others made.
internal import HookRuntime
internal import Journal

extension ControlVerbs {
  static let patches = [
    // The engine frees what no call uses any more, on whatever thread asks it: not on the control thread, which has no descriptors.
    ControlVerb("patches", "every patch, its state and why", on: .observer) { call in
      call.answer([.init("patches", .array(call.host.patches.list.map(PatchVerbs.json)))])
    },
    ControlVerb("load", "load the patch or patches at 'path'; one of the same id is replaced", on: .worker) { call throws(ControlProblem) in
      let what = "an absolute path of a patch or a directory with patches"
      let path = try call.text("path", what)
      guard path.hasPrefix("/") else { throw ControlProblem("'load' needs 'path', \(what); found '\(EventText.printable(path))'") }
      var done: [JSONValue] = []
      var problems: [JSONValue] = []
      for result in call.host.patches.load(RawPath(path)) {
        switch result {
        case .success(let info):
          call.audit("patch load", "\(info.id) \(path)")
          done.append(PatchVerbs.json(info))
        case .failure(let error): problems.append(.string(error.description))
        }
      }
      if done.isEmpty, problems.count == 1, let problem = problems[0].text { return call.fail(problem) }
      call.answer([.init("patches", .array(done)), .init("problems", .array(problems))])
    },
    ControlVerb("reload", "read the file of patch 'patch' again and put it in the place of what runs", on: .worker) { call throws(ControlProblem) in
      try PatchVerbs.change(call, "patch reload") { call.host.patches.reload($0) }
    },
    ControlVerb("unload", "remove patch 'patch' and all it installed", on: .worker) { call throws(ControlProblem) in
      let name = try call.text("patch", "the id of a patch")
      switch call.host.patches.unload(name) {
      case .success:
        call.audit("patch unload", name)
        call.answer()
      case .failure(let error): call.fail(error.description)
      }
    },
    ControlVerb("enable", "switch on what patch 'patch' installed", on: .worker) { call throws(ControlProblem) in
      try PatchVerbs.change(call, "patch enable") { call.host.patches.setEnabled(true, $0, why: "") }
    },
    ControlVerb("disable", "switch off what patch 'patch' installed; it stays loaded", on: .worker) { call throws(ControlProblem) in
      let why = try call.text("why") ?? "switched off from outside"
      try PatchVerbs.change(call, "patch disable") { call.host.patches.setEnabled(false, $0, why: why) }
    },
  ]

  static let hooks = [
    ControlVerb("hooks", "installed hooks and what is waited for; of 'patch' alone, at most 'limit'", on: .observer) { call throws(ControlProblem) in
      let owner = try call.text("patch")
      let limit = try call.limit()
      let hooks = HookEngine.shared.list(owner: owner, settled: true)
      let waits = HookEngine.shared.waits(owner: owner, settled: true)
      // Hooks of the program's own and of consoles have owners that are no patches.
      if let owner, hooks.isEmpty, waits.isEmpty, let problem = call.host.patches.problem(of: owner) { throw ControlProblem(problem.description) }
      call.answer([
        .init("count", JSONValue(hooks.count)), .init("hooks", .array(hooks.prefix(limit).map(PatchVerbs.json))),
        .init(
          "waits",
          .array(
            waits.prefix(limit).map {
              ["selector": .string($0.selector), "owner": .string($0.owner), "landed": JSONValue($0.hooks.count), "waiting": .bool(!$0.hasLanded)]
            })),
      ])
    }
  ]
}

/// How patches and hooks are written.
enum PatchVerbs {
  /// Answers with what became of the patch that the request names.
  static func change(
    _ call: ControlCall, _ act: FieldName, _ body: (String) -> Result<PatchInfo, PatchError>
  ) throws(ControlProblem) {
    switch body(try call.text("patch", "the id of a patch")) {
    case .success(let info):
      call.audit(act, info.id)
      call.answer([.init("patch", json(info))])
    case .failure(let error): call.fail(error.description)
    }
  }

  static func json(_ info: PatchInfo) -> JSONValue {
    [
      "id": .string(info.id), "path": .string(info.path), "version": JSONValue(info.version), "priority": JSONValue(info.priority),
      "state": .string(info.state.word), "why": JSONValue(info.state.why), "problem": JSONValue(info.problem), "loads": JSONValue(info.generation),
      "hooks": JSONValue(info.hooks), "switched_off": JSONValue(info.switchedOff), "waiting": JSONValue(info.waits),
      "memory": JSONValue(info.memory), "load_ns": JSONValue(info.loadTime),
    ]
  }

  static func json(_ info: HookInfo) -> JSONValue {
    [
      "selector": .string(info.selector), "position": .string(info.position), "owner": .string(info.owner), "group": JSONValue(info.group),
      "scope": .string(info.scope.description), "back_end": .string(info.backEnd.rawValue), "why_not_entry": JSONValue(info.whyNotEntry),
      "may_miss": .array(info.mayMiss.map { .string($0) }), "priority": JSONValue(info.priority), "calls": JSONValue(info.calls),
      "once": .bool(info.isOnce), "enabled": .bool(info.isEnabled), "changed_elsewhere": .bool(info.isChangedElsewhere),
      "one_in": JSONValue(info.oneIn), "limited": JSONValue(info.limitation),
    ]
  }
}
