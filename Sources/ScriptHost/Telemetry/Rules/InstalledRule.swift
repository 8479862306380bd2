// InstalledRule — one rule in the program: the hooks it led to, now and as images bring more, and what became of its calls.
private import CCrash
internal import HookRuntime
internal import Journal
internal import Synchronization

/// Made by `RuleInstaller`; grows on any thread.
final class InstalledRule: Sendable {
  let definition: RuleDefinition
  let gate: RuleGate
  let facts: RuleFacts
  /// Calls that came to it by no hook, through proxies of delegates, and what they took; nil where memory ran out.
  let seen = Meter()
  /// Asked by what is no hook.
  let isOn = Atomic<Bool>(true)
  private let state = Mutex(State())

  private struct State {
    var tokens: [HookToken] = []
    var waits: [WaitToken] = []
    /// Take out what is no hook; answer whether it was there.
    var ends: [@Sendable () -> Bool] = []
    /// Rules that are there for this one alone.
    var parts: [InstalledRule] = []
    var isRemoved = false
    var isEnabled = true
  }

  init(_ definition: RuleDefinition) {
    self.definition = definition
    gate = RuleGate(definition)
    facts = RuleFacts(definition, gate)
  }

  /// Takes note of hooks that were installed.
  func add(_ tokens: [HookToken]) {
    let (isRemoved, isEnabled) = state.withLock { state in
      state.tokens += tokens
      return (state.isRemoved, state.isEnabled)
    }
    if isRemoved { HookEngine.shared.remove(tokens) } else if !isEnabled { for token in tokens { HookEngine.shared.setEnabled(false, token) } }
  }

  /// Rules that are removed and switched with this one.
  func add(parts: [InstalledRule]) { state.withLock { $0.parts += parts } }

  func setWait(_ wait: WaitToken) { state.withLock { $0.waits.append(wait) } }

  /// Takes note of what is no hook.
  /// - Parameter end: takes it out; answers whether it was there.
  func add(_ end: @escaping @Sendable () -> Bool) { state.withLock { $0.ends.append(end) } }

  var isRemoved: Bool { state.withLock { $0.isRemoved } }
  var tokens: [HookToken] { state.withLock { $0.tokens } }
  var isWaiting: Bool { definition.waits && state.withLock { !$0.waits.isEmpty } }

  /// Takes the rule out of the program; calls in flight finish with it. False when it was out.
  func remove() -> Bool {
    let former = state.withLock { state in
      defer {
        state.isRemoved = true
        state.waits = []
        state.ends = []
      }
      return state
    }
    isOn.store(false, ordering: .relaxed)
    for part in former.parts { _ = part.remove() }
    let waited = former.waits.map { HookEngine.shared.stopWaiting($0) }.contains(true)
    let ended = former.ends.map { $0() }.contains(true)
    return HookEngine.shared.remove(former.tokens) > 0 || waited || ended
  }

  /// Switches it; false when it is not in the program.
  func setEnabled(_ isEnabled: Bool) -> Bool {
    let (tokens, waits, parts) = state.withLock { state in
      state.isEnabled = isEnabled
      return (state.tokens, !state.waits.isEmpty || !state.ends.isEmpty, state.parts)
    }
    isOn.store(isEnabled, ordering: .relaxed)
    for part in parts { _ = part.setEnabled(isEnabled) }
    return tokens.map { HookEngine.shared.setEnabled(isEnabled, $0) }.contains(true) || waits
  }

  /// What it came to so far.
  struct Figures {
    /// Calls that it was asked about.
    var calls: UInt64
    /// Those that were left out: by `where`, by `sample`, by `rate`, as repeats.
    var byCondition, bySample, byRate, asRepeat: UInt64
    /// Mean time that the rule itself takes of a call; nil before one was measured.
    var costNanoseconds: Double?
    var recorded: UInt64 { calls &- min(calls, byCondition + bySample + byRate + asRepeat) }
  }

  var figures: Figures {
    let hooks = tokens.compactMap { HookEngine.shared.figures(of: $0) }
    let seen = seen?.reading
    let readings = hooks.map(\.took) + (seen.map { [$0] } ?? [])
    let runs = readings.reduce(0) { $0 + $1.runs }, time = readings.reduce(0) { $0 + $1.time }
    return Figures(
      calls: hooks.reduce(seen?.runs ?? 0) { $0 + $1.info.calls }, byCondition: gate.byCondition.load(ordering: .relaxed),
      bySample: gate.bySample.load(ordering: .relaxed), byRate: gate.byRate.load(ordering: .relaxed),
      asRepeat: gate.asRepeat.load(ordering: .relaxed),
      costNanoseconds: runs == 0 ? nil : Double(time) / Double(runs) * (hooks.contains(where: \.info.runsTwice) ? 2 : 1))
  }
}

/// What lists tell of a rule's hooks; the same for all of them.
final class RuleFacts: LayerFacts {
  let title: String
  let verb: String
  private let gate: RuleGate

  init(_ definition: RuleDefinition, _ gate: RuleGate) {
    title = definition.title
    verb = definition.verb
    self.gate = gate
  }

  /// No script runs, and what cannot be read is recorded as such.
  var failures: UInt64 { 0 }
  /// Left out by `sample` and `rate`.
  var skipped: UInt64 { gate.bySample.load(ordering: .relaxed) + gate.byRate.load(ordering: .relaxed) }
}

/// From a definition to hooks, all or nothing for a selector that is spelled out.
enum RuleInstaller {
  /// Makes the layer of one function.
  typealias Maker = @Sendable (CompiledRule, Family) throws(RuleProblem) -> LayerSpec

  private static let plannedAtOnce = 32

  /// All functions that a rule means now, where its selector does not tell them.
  typealias Source = @Sendable () -> [(ImageCatalog, Family)]

  /// Installs the rule for its patch.
  /// - Parameters:
  ///   - source: what is meant, all or nothing; nil: what the selector means.
  ///   - now: what the source answered.
  ///   - known: a rule that is installed in part, whose hooks these become.
  static func install(
    _ definition: RuleDefinition, _ patch: Environment, from source: Source? = nil, now: [(ImageCatalog, Family)] = [],
    as known: InstalledRule? = nil, _ make: @escaping Maker
  ) throws(RuleProblem) -> InstalledRule {
    // Of many rules it takes longer than a script may, which does nothing meanwhile.
    try patch.asHost { Result { () throws(RuleProblem) in try installNow(definition, patch, from: source, now: now, as: known, make) } }.get()
  }

  private static func installNow(
    _ definition: RuleDefinition, _ patch: Environment, from source: Source?, now: [(ImageCatalog, Family)], as known: InstalledRule?,
    _ make: @escaping Maker
  ) throws(RuleProblem) -> InstalledRule {
    var found = now
    if source == nil {
      // What nobody is notified about is not compared with all names of the program.
      switch SelectorLookup.resolve(definition.selector, suggesting: !definition.waits && !definition.isOptional) {
      case .failure(let problem):
        guard definition.waits && problem.mayAppear || definition.isOptional else { throw RuleProblem("\(definition.title): \(problem)") }
      case .success(let families): found = families
      }
    }
    let rule = known ?? InstalledRule(definition)
    if known == nil { HookCosts.note(rule, owner: patch.id) }
    let isGlob = SelectorPattern(definition.selector).isGlob
    var layers = try layers(for: &found, rule, definition, isGlob: isGlob, patch, make)
    // Of a few, how they are called is found out now, not at a call of the program; of many, most are never called.
    let readsValues = found.count <= Self.plannedAtOnce
    // Those that were not installed are ours to let go.
    defer { for layer in layers.values.joined() { layer.release?(layer.context) } }
    let requests = found.map { HookRequest(image: $0, family: $1, mayChoose: true) }
    let report = HookEngine.shared.install(requests) {
      var layer = layers[FamilyName($0)]!.removeLast()
      layer.readsValues = readsValues
      return layer
    }
    note(report, rule, definition, patch, isGlob: isGlob)
    if source != nil, !report.tokens.isEmpty { tell(report.refused, definition, patch) }
    if !isGlob, !definition.isOptional, report.tokens.isEmpty, let (name, reason) = report.refused.first {
      throw RuleProblem("cannot \(definition.verb) '\(name)': \(reason)")
    }
    if source == nil, !isGlob {
      for (name, reason) in report.refused {
        patch.log.note("rule left out", "\(patch.fileName): \(definition.title): '\(name)' is not hooked, its calls are missed: \(reason)")
      }
    }
    // A protocol's requirement means types that conform later, too.
    if definition.waits || source == nil && found.contains(where: { $0.1.requirement != nil }) {
      wait(rule, definition, besides: found.map { FamilyName($0.1) }, from: source, isGlob: isGlob, patch, make)
    }
    return rule
  }

  /// Checked for all before anything is installed; an image may be loaded twice. What a pattern matches and the rule does not fit is left out.
  private static func layers(
    for found: inout [(ImageCatalog, Family)], _ rule: InstalledRule, _ definition: RuleDefinition, isGlob: Bool, _ patch: Environment,
    _ make: Maker
  ) throws(RuleProblem) -> [FamilyName: [LayerSpec]] {
    var layers: [FamilyName: [LayerSpec]] = [:]
    var unfit: [(String, RuleProblem)] = []
    var fit: [(ImageCatalog, Family)] = []
    for (image, family) in found {
      do throws(RuleProblem) {
        layers[FamilyName(family), default: []].append(try layer(rule, definition, family, patch, make))
        fit.append((image, family))
      } catch { unfit.append((family.selector, error)) }
    }
    if let (_, problem) = unfit.first, !isGlob || fit.isEmpty {
      for layer in layers.values.joined() { layer.release?(layer.context) }
      if definition.isOptional {
        patch.log.note("rule left out", "\(patch.fileName): \(definition.title): \(problem.text)")
        found = []
        return [:]
      }
      throw RuleProblem("\(definition.title): \(problem.text)")
    }
    if let (name, problem) = unfit.first {
      patch.log.note(
        "rule left out",
        "\(patch.fileName): \(definition.title) does not fit \(unfit.count) of \(found.count) functions, such as '\(name)': \(problem.text)")
    }
    found = fit
    return layers
  }

  /// Some of many functions are not hooked: their calls are missed, unless an override above them is called.
  private static func tell(_ refused: [(selector: String, reason: HookRefusal)], _ definition: RuleDefinition, _ patch: Environment) {
    for (name, reason) in refused {
      patch.log.say("\(patch.fileName): \(definition.title): '\(name)' is not hooked, its calls are missed: \(reason)")
    }
  }

  private static func layer(
    _ rule: InstalledRule, _ definition: RuleDefinition, _ family: Family, _ patch: Environment, _ make: Maker
  ) throws(RuleProblem) -> LayerSpec {
    let crashOwner = ccrash_add_owner(patch.id, family.selector, rule.definition.verb, patch.fileName, 0)
    let compiled = try CompiledRule(
      definition, rule.gate, for: family, rights: patch.rights, showsSecrets: patch.recordsSecrets, crashOwner: crashOwner)
    var spec = try make(compiled, family)
    spec.startsDisabled = patch.installation.startsDisabled
    spec.facts = rule.facts
    // A crash report names the rule of each call it was in.
    ccrash_own(spec.context, crashOwner)
    return spec
  }

  private static func note(
    _ report: HookEngine.Report, _ rule: InstalledRule, _ definition: RuleDefinition, _ patch: Environment, isGlob: Bool
  ) {
    let tokens = report.tokens.map(\.token)
    rule.add(tokens)
    // Not all screens and controls of a program are used in a run.
    let isTree = ["screen", "control", "exposure"].contains(definition.verb)
    patch.add(tokens, areExact: !isGlob && !isTree && !definition.isOptional)
    guard isGlob else { return report.tellReach(patch) }
    if !report.refused.isEmpty || report.partialCount > 0 {
      patch.log.note("hooked in part", "\(patch.fileName): \(definition.title): \(tokens.count) hooks\(report.rest)")
    }
    report.tellUnproven(patch)
  }

  /// The rule lands on what images bring of the selector from now on.
  private static func wait(
    _ rule: InstalledRule, _ definition: RuleDefinition, besides known: [FamilyName], from source: Source?, isGlob: Bool,
    _ patch: Environment, _ make: @escaping Maker
  ) {
    let token = HookEngine.shared.wait(
      WaitRequest(selector: definition.selector, owner: patch.id, mayChoose: true, known: Set(known), find: source) { family in
        if patch.installation.isRemoved { return nil }
        do throws(RuleProblem) { return try layer(rule, definition, family, patch, make) } catch {
          patch.log.say("\(patch.fileName): cannot \(definition.verb) '\(definition.name)' of '\(family.selector)', which appeared: \(error.text)")
          return nil
        }
      } landed: { report in
        patch.log.note(
          "rule landed", "\(patch.fileName): '\(definition.selector)' appeared: \(report.tokens.count) tracked as '\(definition.name)'")
        if source != nil { tell(report.refused, definition, patch) }
        note(report, rule, definition, patch, isGlob: isGlob)
      })
    rule.setWait(token)
    patch.installation.add(token, isOptional: definition.isOptional)
  }
}
