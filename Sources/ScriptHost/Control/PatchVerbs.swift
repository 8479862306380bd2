// PatchVerbs — patches of a running process: listed, loaded, replaced, removed, switched. And the hooks they and others made.
internal import HookRuntime
internal import Journal

extension ControlVerbs {
  static let patches = [
    // The engine frees what no call uses any more, on whatever thread asks it: not on the control thread, which has no descriptors.
    ControlVerb("patches", "every patch, its state and why", on: .observer) { call in
      call.answer([.init("patches", .array(call.host.patches.list.map(PatchVerbs.json)))])
    },
    ControlVerb("load", "load the patch or patches at 'path'; one of the same id is replaced", on: .worker) { call in
      guard let path = call.text("path"), path.hasPrefix("/") else {
        return call.fail("'load' needs 'path', an absolute path of a patch or a directory with patches")
      }
      var done: [JSONValue] = []
      var problems: [JSONValue] = []
      for result in call.host.patches.load(RawPath(path)) {
        switch result {
        case .success(let info): done.append(PatchVerbs.json(info))
        case .failure(let error): problems.append(.string(error.description))
        }
      }
      if done.isEmpty, problems.count == 1, let problem = problems[0].text { return call.fail(problem) }
      call.answer([.init("patches", .array(done)), .init("problems", .array(problems))])
    },
    ControlVerb("reload", "read the file of patch 'patch' again and put it in the place of what runs", on: .worker) { call in
      PatchVerbs.change(call) { call.host.patches.reload($0) }
    },
    ControlVerb("unload", "remove patch 'patch' and all it installed", on: .worker) { call in
      guard let name = call.text("patch") else { return call.fail("'unload' needs 'patch', the id of a patch") }
      switch call.host.patches.unload(name) {
      case .success: call.answer()
      case .failure(let error): call.fail(error.description)
      }
    },
    ControlVerb("enable", "switch on what patch 'patch' installed", on: .worker) { call in
      PatchVerbs.change(call) { call.host.patches.setEnabled(true, $0, why: "") }
    },
    ControlVerb("disable", "switch off what patch 'patch' installed; it stays loaded", on: .worker) { call in
      PatchVerbs.change(call) { call.host.patches.setEnabled(false, $0, why: call.text("why") ?? "switched off from outside") }
    },
  ]

  static let hooks = [
    ControlVerb("hooks", "installed hooks and what is waited for; of 'patch' alone, at most 'limit'", on: .observer) { call in
      let owner = call.text("patch")
      let limit = Int(clamping: max(0, call.request["limit"]?.int ?? 1000))
      let hooks = HookEngine.shared.list(owner: owner, settled: true)
      let waits = HookEngine.shared.waits(owner: owner, settled: true)
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
  static func change(_ call: ControlCall, _ body: (String) -> Result<PatchInfo, PatchError>) {
    guard let name = call.text("patch") else { return call.fail("this request needs 'patch', the id of a patch") }
    switch body(name) {
    case .success(let info): call.answer([.init("patch", json(info))])
    case .failure(let error): call.fail(error.description)
    }
  }

  static func json(_ info: PatchInfo) -> JSONValue {
    [
      "id": .string(info.id), "path": .string(info.path), "version": JSONValue(info.version), "priority": JSONValue(info.priority),
      "state": .string(info.state.word), "why": JSONValue(info.state.why), "problem": JSONValue(info.problem), "loads": JSONValue(info.generation),
      "hooks": JSONValue(info.hooks), "waiting": JSONValue(info.waits), "memory": JSONValue(info.memory), "load_ns": JSONValue(info.loadTime),
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
