// HookEngine+Images — what installed hooks divert in images that appear later.
internal import CHookTrampoline
private import SwiftMangling

extension HookEngine {
  /// Words of new images that are part of what installed hooks divert. To be called under the lock.
  func divertNewImages() {
    divertNewImports()
    divertNewTables()
  }

  /// Tables of classes and conformances that were not there when the hooks were made.
  private func divertNewTables() {
    for family in families.values {
      for diversion in family.diversions {
        if let reason = diversion.refresh() { missedWords.append((family.family.selector, reason)) }
      }
      if !family.diversions.isEmpty { family.updateSites() }
    }
  }

  /// Import slots of images that were not there when the hooks were made.
  private func divertNewImports() {
    let hooked = families.values.filter { $0.family.imported != nil && !$0.sets.isEmpty }
    guard !hooked.isEmpty else { return }
    let imports = ProcessCatalog.shared.currentImports()
    let new = imports.importers.filter { !knownImporters.contains($0.place) }
    knownImporters = Set(imports.importers.map(\.place))
    guard !new.isEmpty else { return }
    for family in hooked {
      guard let function = family.family.imported else { continue }
      let bodies = imports.bodies(of: function, in: new)
      if bodies.isEmpty { continue }
      for hook in hooks.values where hook.family === family {
        // Words that cannot be written are missed; `isChangedElsewhere` cannot tell of them, the log of whoever asks can.
        if let reason = family.extend(hook.layer, by: bodies) { missedWords.append((family.family.selector, .code(reason))) }
      }
      family.updateSites()
    }
  }

  /// What hooks on C functions could not divert in images that appeared since they were made; answers it once.
  package func takeMissedWords() -> [(selector: String, reason: HookRefusal)] {
    lock.withLock {
      defer { missedWords = [] }
      return missedWords
    }
  }

  /// The images that hooks on C functions have looked at; images that come later are new. To be called under the lock.
  func noteImporters() {
    if knownImporters.isEmpty { knownImporters = Set(ProcessCatalog.shared.currentImports().importers.map(\.place)) }
  }
}
