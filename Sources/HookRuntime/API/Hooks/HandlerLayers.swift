// HandlerLayers — one closure as the layers of all functions it handles.
private import Synchronization

/// A closure: what it takes, and how it is run. One that waits has an async body.
@usableFromInline
struct HandlerBody: Sendable {
  let signature: HandlerSignature
  let run: Handler.Run
  let asyncBody: AsyncHandlerRun.Body?

  @usableFromInline
  init(
    _ position: HookPosition, _ arguments: [Any.Type], result: Any.Type? = nil, _ run: @escaping @Sendable (RunningHandler) throws -> Void
  ) {
    signature = HandlerSignature(position, arguments, result: result)
    self.run = run
    asyncBody = nil
  }

  init(waiting signature: HandlerSignature, _ body: @escaping AsyncHandlerRun.Body) {
    self.signature = signature
    run = { _ in }
    asyncBody = body
  }
}

struct HandlerLayers: Sendable {
  let body: HandlerBody
  let options: HookOptions

  /// Throws when the closure does not fit what the selector means, or that cannot be hooked.
  func check(_ family: Family, in image: ImageCatalog) throws(HookError) {
    switch plans(family, in: image) {
    case .success(let plans): try body.signature.check(family, plans, waits: body.asyncBody != nil)
    case .failure(let reason): throw HookError(family.selector, reason)
    }
  }

  /// Of what is diverted, or why nothing can be.
  func plans(_ family: Family, in image: ImageCatalog) -> Result<[CallPlan], HookRefusal> {
    HookEngine.shared.plans(
      of: family, in: image, by: options.backEnd ?? .entry, orElseFor: options.backEnd == nil ? options.scope : nil)
  }

  func layer(_ family: Family, group: String? = nil) -> LayerSpec {
    let signature = body.signature
    return LayerSpec(
      body.asyncBody == nil ? Handler.layer : AsyncHandlerRun.layer,
      keeping: Handler(family, signature.position, site: options.site, run: body.run, asyncBody: body.asyncBody),
      phases: signature.position.phases, priority: options.priority, isHostWork: false, canWait: body.asyncBody != nil,
      readsValues: signature.readsValues, owner: options.owner, group: group, isOnce: options.isOnce)
  }

  /// The wish for what the selector means and is not hooked yet.
  func wish(_ selector: String, known: [HookRequest], group: String?, _ record: HookRecord) -> WaitRequest {
    WaitRequest(
      selector: selector, owner: options.owner, group: group, scope: options.scope, backEnd: options.backEnd, mayChoose: true,
      known: Set(known.map { FamilyName($0.family) }),
      check: { image, family in
        do throws(HookError) {
          try check(family, in: image)
          return nil
        } catch { return "\(error)" }
      },
      layer: { layer($0, group: group) },
      landed: { report in
        record.grow(by: report)
        // Whoever made the hook is gone from the stack: told where people look.
        for each in report.refused {
          ErrorOutput.write("\(options.site): a hook waited for '\(each.selector)', which appeared: \(each.reason)")
        }
      })
  }
}
