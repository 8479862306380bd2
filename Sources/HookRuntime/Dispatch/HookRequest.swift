// HookRequest — one selector to be hooked, and how.

/// What to hook.
package struct HookRequest {
  /// Where the family's bodies are.
  package var image: ImageCatalog
  package var family: Family
  package var scope: HookScope
  /// Which back end diverts the calls; nil: the engine chooses.
  package var backEnd: BackEnd?
  /// Where entries cannot be used and no back end is asked for, another one may be taken; whoever asks lets people know.
  var mayChoose = false
  /// Makes the layer where several wishes are installed as one; nil: whoever installs does.
  var layer: ((Family) -> LayerSpec?)?
  /// Tells such wishes apart.
  var wish = 0

  package init(image: ImageCatalog, family: Family, scope: HookScope = .type, backEnd: BackEnd? = nil, mayChoose: Bool = false) {
    self.image = image
    self.family = family
    self.scope = scope
    self.backEnd = backEnd
    self.mayChoose = mayChoose
  }
}
