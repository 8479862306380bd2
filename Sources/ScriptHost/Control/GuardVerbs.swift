// GuardVerbs — the guards of a running process, and what they caught.
internal import Journal

extension ControlVerbs {
  static let guards = [
    ControlVerb("guards", "the guards at work, with their hits by function") { call in call.answer(GuardRegistry.shared.json) }
  ]
}
