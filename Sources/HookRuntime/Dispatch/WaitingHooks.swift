// WaitingHooks — hooks for selectors that are not there yet, and for what appears of selectors that are.
//
// A rule that asked to wait lands on every function of its selector that an image brings: the first ones of a library that
// was not loaded, specialisations of a generic function in later images, matches of a glob. Hooks on C functions and on
// virtual tables need not ask: their words in later images are part of what they divert.
internal import CHookTrampoline
private import SwiftMangling
private import Synchronization

/// A wish for a selector.
package struct WaitRequest: Sendable {
  package var selector: String
  package var owner: String
  package var group: String?
  package var scope: HookScope
  package var backEnd: BackEnd?
  /// As of `HookRequest`: what landed by another back end is in the report.
  package var mayChoose: Bool
  /// Families that are hooked, or refused, already.
  package var known: Set<FamilyName>
  /// Where a selector does not say what is meant: all that is meant now.
  package var find: (@Sendable () -> [(ImageCatalog, Family)])?
  /// Why a family that appeared is not to be hooked, in a sentence; nil when it is.
  package var check: @Sendable (ImageCatalog, Family) -> String?
  /// Makes the layer for a family that appeared. Any thread.
  package var layer: @Sendable (Family) -> LayerSpec?
  /// What came of it, each time something appeared. Any thread.
  package var landed: @Sendable (HookEngine.Report) -> Void

  package init(
    selector: String, owner: String, group: String? = nil, scope: HookScope = .type, backEnd: BackEnd? = nil, mayChoose: Bool = false,
    known: Set<FamilyName> = [], find: (@Sendable () -> [(ImageCatalog, Family)])? = nil,
    check: @escaping @Sendable (ImageCatalog, Family) -> String? = { _, _ in nil },
    layer: @escaping @Sendable (Family) -> LayerSpec?, landed: @escaping @Sendable (HookEngine.Report) -> Void = { _ in }
  ) {
    self.selector = selector
    self.owner = owner
    self.group = group
    self.scope = scope
    self.backEnd = backEnd
    self.mayChoose = mayChoose
    self.known = known
    self.find = find
    self.check = check
    self.layer = layer
    self.landed = landed
  }
}

/// A selector's functions in one image.
package struct FamilyName: Hashable, Sendable {
  package var image: String
  package var key: String

  package init(_ family: Family) {
    image = family.imagePath
    key = family.key
  }
}

/// A wish that is kept. Removing it twice answers false.
package struct WaitToken: Hashable, Sendable {
  package let id: UInt64
}

/// A wish, as lists show it.
package struct WaitInfo: Sendable {
  package let token: WaitToken
  package let selector: String
  package let owner: String
  package let group: String?
  /// Hooks that it led to, also those that were removed since.
  package let hooks: [HookToken]
  /// Why some of what appeared could not be hooked.
  package let refused: [(selector: String, reason: HookRefusal)]
  /// There are, or were, functions of that name.
  package let hasLanded: Bool
}

extension WaitInfo: CustomStringConvertible {
  package var description: String {
    let state = !hasLanded ? "waiting for it to appear" : "\(hooks.count) appeared"
    return "'\(selector)' by \(owner), \(state)" + (refused.isEmpty ? "" : ", \(refused.count) refused")
  }
}

/// Guarded by the engine's lock.
final class WaitingHook {
  let token: WaitToken
  var request: WaitRequest
  var hooks: [HookToken] = []
  var refused: [(selector: String, reason: HookRefusal)] = []

  /// Some functions were there when the wish was made.
  private let wasThere: Bool

  init(_ request: WaitRequest, _ token: WaitToken) {
    wasThere = !request.known.isEmpty
    self.request = request
    self.token = token
  }

  var info: WaitInfo {
    WaitInfo(
      token: token, selector: request.selector, owner: request.owner, group: request.group, hooks: hooks, refused: refused,
      hasLanded: wasThere || !hooks.isEmpty)
  }
}

extension HookEngine {
  /// Keeps a wish until it is removed, or all of its owner's hooks are. What is there now is looked for at once, but for what
  /// the request knows.
  package func wait(_ request: WaitRequest) -> WaitToken {
    watchImages()
    let wish = lock.withLock {
      let wish = WaitingHook(request, WaitToken(id: nextWait))
      nextWait += 1
      waiting.append(wish)
      return wish
    }
    landNow { land(wish) }
    return wish.token
  }

  /// The selector's hooks stay; nothing lands any more. False when it was removed before.
  @discardableResult
  package func stopWaiting(_ token: WaitToken) -> Bool {
    lock.withLock {
      guard let index = waiting.firstIndex(where: { $0.token == token }) else { return false }
      waiting.remove(at: index)
      return true
    }
  }

  /// All wishes of an owner end.
  package func stopWaiting(owner: String) { lock.withLock { waiting.removeAll { $0.request.owner == owner } } }

  /// The wishes that are kept, in the order in which they were made.
  package func waits(owner: String? = nil, settled: Bool = false) -> [WaitInfo] {
    lock.withLock {
      waiting.filter {
        (owner == nil || $0.request.owner == owner) && !(settled && isUnsettled($0.request.owner, wait: $0.token.id))
      }.map(\.info)
    }
  }
  package func info(_ token: WaitToken) -> WaitInfo? { lock.withLock { waiting.first { $0.token == token }?.info } }

  // MARK: Images

  /// From now on images that appear are looked at before they are used. Answers why not, where that cannot be.
  @discardableResult
  package func watchImages() -> ImageWatch.State { Self.watch }
  private static let watch: ImageWatch.State = {
    let state = ImageWatch.observe { HookEngine.shared.imagesChanged() }
    if case .notWatching(let reason) = state { ImageTrouble.tell("hooks do not reach images that are opened later: \(reason)") }
    return state
  }()

  /// Looks at images that appeared: words that hooks on C functions and tables divert, then selectors that were waited for.
  func imagesChanged() {
    // A forked copy whose hooks are off, or in which they may be half done.
    if ForkedCopy.refusal != nil { return }
    landNow {
      divertNewImages()
      landAll()
    }
  }

  private func landAll() { for each in lock.withLock({ waiting }) { land(each) } }

  /// Runs `body` alone. Whoever is at it may wait for the loader, and the loader for this thread: then they land what this one
  /// would, when they are done.
  private func landNow(_ body: () -> Void) {
    if !hkt_is_opening_image() {
      landing.withLock(body)
    } else if landing.tryWithLock(body) == nil {
      isMoreToLand.store(true, ordering: .sequentiallyConsistent)
    }
    // Nobody is at it, or they look after they are.
    while isMoreToLand.load(ordering: .sequentiallyConsistent) {
      let isDone: Void? = landing.tryWithLock {
        if isMoreToLand.exchange(false, ordering: .sequentiallyConsistent) { landAll() }
      }
      if isDone == nil { return }
    }
  }

  /// Hooks what a wish means and what is not hooked yet. To be called under `landing`, not under `lock`.
  private func land(_ wish: WaitingHook) {
    var known = lock.withLock { wish.request.known }
    let meant = wish.request.find?() ?? ProcessCatalog.shared.families(matching: SelectorPattern(wish.request.selector))
    let found = meant.filter {
      known.insert(FamilyName($0.1)).inserted && $0.0.forbiddenName == nil
    }
    guard !found.isEmpty else { return }
    lock.withLock { wish.request.known = known }
    var requests: [HookRequest] = []
    var unfit: [(selector: String, reason: HookRefusal)] = []
    for (image, family) in found {
      if let reason = wish.request.check(image, family) {
        unfit.append((family.selector, .unfit(reason)))
      } else {
        requests.append(
          HookRequest(
            image: image, family: family, scope: wish.request.scope, backEnd: wish.request.backEnd, mayChoose: wish.request.mayChoose))
      }
    }
    var report = installWanted(requests, layer: wish.request.layer)
    report.refused += unfit
    lock.withLock {
      wish.hooks += report.tokens.map(\.token)
      wish.refused += report.refused
    }
    wish.request.landed(report)
  }
}
