// Capability — what a patch may do beside hooking: the words of `permissions` in headers and of `capabilities` in policies.

package enum Capability: String, Sendable, CaseIterable {
  /// Calls functions of the program: methods, initialisers, computed properties, closures.
  case call
  /// Writes stored properties of the program's objects.
  case write
  /// Makes classes and implementations, forwards messages.
  case types
  /// Switches guards on.
  case guards
  /// Puts presets into the program.
  case presets
  /// Subscribes to Foundation's notifications.
  case notifications
  /// Puts itself between the program's objects and their delegates.
  case delegates
  /// Records requests of URLSession, and may add a header to them.
  case network
  /// Asks threads for their stacks at times of its own: stalls, profiles.
  case stacks
  /// Runs functions at times of its own.
  case timers
  /// Steers the start of the program: start tasks, the word that it is up.
  case control
  /// Names files that safe mode may clear.
  case files
  /// Records values whose names say that they are secrets.
  case secrets

  /// All of them, for sentences.
  package static let words = allCases.map(\.rawValue)

  /// What an act of a script needs; nil: hooks and rules, which the selectors of a policy are about, and reading.
  init?(act: String) {
    switch act {
    case "a call", "a call of a closure", "an error's message": self = .call
    case "a write": self = .write
    case "a class made here", "an object made here", "a forwarding": self = .types
    case "a guard": self = .guards
    case "a preset": self = .presets
    case "a subscription": self = .notifications
    case "a watch of delegates": self = .delegates
    case "a watch of requests": self = .network
    case "a watch of stalls", "a profile": self = .stacks
    case "a timer": self = .timers
    case "a start task", "the word that the program is up", "an end of the process": self = .control
    case "a path for safe mode": self = .files
    default: return nil
    }
  }

  /// What a function that scripts name needs, as far as its name tells.
  package init?(function: String) {
    switch function {
    case "swift.call", "swift.send", "swift.new", "swift.try", "notification.post": self = .call
    case "class.define", "implement", "swift.forward": self = .types
    case "guard": self = .guards
    case "use": self = .presets
    case "notification.on": self = .notifications
    case "delegates", "delegate": self = .delegates
    case "network": self = .network
    case "stalls", "profile": self = .stacks
    case "timer.after", "timer.every": self = .timers
    case "boot.task", "scripthost.up": self = .control
    case "boot.cache", "boot.data": self = .files
    default: return nil
    }
  }
}
