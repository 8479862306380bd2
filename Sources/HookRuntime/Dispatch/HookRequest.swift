// HookRequest — one selector to be hooked, and how.

/// What to hook.
package struct HookRequest {
  /// Where the family's bodies are.
  package var image: ImageCatalog
  package var family: Family
  package var scope: HookScope
  /// Which back end diverts the calls; nil: the engine chooses.
  package var backEnd: BackEnd?

  package init(image: ImageCatalog, family: Family, scope: HookScope = .type, backEnd: BackEnd? = nil) {
    self.image = image
    self.family = family
    self.scope = scope
    self.backEnd = backEnd
  }
}
