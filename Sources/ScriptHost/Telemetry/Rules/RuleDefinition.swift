// RuleDefinition — a rule as somebody wrote it: names, paths and limits as data, nothing of the program.
//
// A definition is held against a function where it is compiled for it (`CompiledRule`). Every verb (`track`, `metric`, `span`) has these
// fields in common.

internal import HookRuntime

/// One rule. Durations are nanoseconds.
package struct RuleDefinition: Sendable, Equatable {
  /// What becomes of a value that is about a person.
  package enum Privacy: String, Sendable, CaseIterable {
    /// It is not recorded, and neither is its name.
    case drop
    /// A keyed hash takes its place: equal values have equal hashes on one machine.
    case hash
    /// `<masked>` takes its place.
    case mask
  }

  /// A name in the record and the path whose value it gets.
  package struct Field: Sendable, Equatable {
    package var name: String
    package var path: String
    package var privacy: Privacy?
    /// What is recorded instead of a value, by its text: numbers of an enum's cases. Others are recorded as they are.
    package var map: [String: Int64]
    /// The value is a URL or the target of a request, of which this is recorded.
    package var part: URLPart?

    package init(name: String, path: String, privacy: Privacy? = nil, map: [String: Int64] = [:], part: URLPart? = nil) {
      self.name = name
      self.path = path
      self.privacy = privacy
      self.map = map
      self.part = part
    }
  }

  /// What is recorded of a URL.
  package enum URLPart: String, Sendable, CaseIterable {
    /// The URL loses query and fragment.
    case path
    /// What is behind the '?', with values masked whose names are those of secrets; nothing where there is none.
    case query
  }

  /// At most `count` events are recorded in each `period`.
  package struct Rate: Sendable, Equatable {
    package var count: Int
    package var period: UInt64
  }

  /// What `once_per` counts by.
  package enum OncePer: Sendable, Equatable {
    /// The run of the program.
    case process
    case thread
    case path(String)
  }

  /// "track", "metric" or "span": the word that messages begin with.
  package var verb: String
  package var name: String
  package var selector: String
  package var atExit = false
  package var waits = false
  /// What is not there is passed over without a word: presets meet programs of all kinds.
  package var isOptional = false
  package var fields: [Field] = []
  /// Fields that everything recorded below the call inherits.
  package var context: [Field] = []
  package var condition: String?
  /// The share that is kept, 0 to 1.
  package var sample = 1.0
  package var rate: Rate?
  /// An equal record within this time is left out.
  package var dedupe: UInt64?
  package var oncePer: OncePer?
  /// Paths whose values tell one action, whichever rule of the name sees it; empty: all fields do.
  package var same: [String] = []

  /// Within this time what two rules of a name see is one action, unless `dedupe` says otherwise.
  package static let sameAction: UInt64 = 100_000_000

  package init(verb: String, name: String, selector: String) {
    self.verb = verb
    self.name = name
    self.selector = selector
  }

  /// How messages name the rule: `track 'checkout'`.
  package var title: String { "\(verb) '\(name)'" }
}

extension RuleUnits {
  /// "50/s", "3/min", "10/500ms".
  package static func rate(_ text: String) -> RuleDefinition.Rate? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let count = Int(parts[0]), count > 0 else { return nil }
    let starts = parts[1].first.map { $0.isNumber } ?? false
    guard let period = duration(starts ? parts[1] : "1" + parts[1]), period > 0 else { return nil }
    return RuleDefinition.Rate(count: count, period: period)
  }
}
