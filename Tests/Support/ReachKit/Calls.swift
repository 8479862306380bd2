// Calls — every way to call every kind of function, three times each. Compiled into Kit and, by a link, into the program:
// "same module" and "other module".
#if REACH_OUTSIDE
  import ReachKit
#endif

/// Overrides that go on to their superclass's.
private class Sub: Heir, @unchecked Sendable {
  override func opened(_ n: Int) -> Int { super.opened(n) }
  override func changed(_ n: Int) -> Int { super.changed(n) }
  override class func classed(_ n: Int) -> Int { super.classed(n) }
  override func takes<T>(_ value: T) -> Int { super.takes(value) }
  override func later(_ n: Int) async -> Int { await super.later(n) }
  override func act(_ n: Int) -> Int { super.act(n) }
  override var level: Int {
    get { super.level }
    set { super.level = newValue }
  }
}

#if REACH_OUTSIDE
  let sitesOutside = makeSites()
#else
  public let sitesInside = makeSites()
#endif

private func makeSites() -> [Site] {
  var sites: [Site] = [
    Site("open method", "direct") { _ in Base(number: 1).opened(1) },
    Site("open method", "virtual") { hide($0).opened(1) },
    Site("open method", "super") { _ in Sub(number: 1).opened(1) },
    Site("open method", "protocol") { (hide($0) as any Opens).opened(1) },
    Site("open method", "closure") { hide(hide($0).opened)(1) },

    Site("final method", "direct") { $0.fixed(1) },
    Site("final method", "protocol") { hide(hide($0) as any Fixes).fixed(1) },
    Site("final method", "closure") { hide(hide($0).fixed)(1) },

    Site("override", "direct") { _ in Heir(number: 1).changed(1) },
    Site("override", "virtual") { hide($0).changed(1) },
    Site("override", "super") { _ in Sub(number: 1).changed(1) },
    Site("override", "protocol") { hide(hide($0) as any Changes).changed(1) },
    Site("override", "closure") { hide(hide($0).changed)(1) },

    Site("struct method", "direct") { _ in Value(number: 2).method(1) },
    Site("struct method", "protocol") { _ in hide(Value(number: 2) as any Methods).method(1) },
    Site("struct method", "closure") { _ in hide(Value(number: 2).method)(1) },

    Site("static method", "direct") { _ in Value.made(1) },
    Site("static method", "protocol") { _ in (hide(Value.self) as any Makes.Type).made(1) },
    Site("static method", "closure") { _ in hide(Value.made)(1) },

    Site("class method", "direct") { _ in Base.classed(1) },
    Site("class method", "virtual") { type(of: hide($0)).classed(1) },
    Site("class method", "super") { _ in Sub.classed(1) },
    Site("class method", "protocol") { (hide(type(of: $0)) as any Classes.Type).classed(1) },
    Site("class method", "closure") { hide(type(of: hide($0)).classed)(1) },

    Site("initialiser", "direct") { _ in Base(number: 1).number },
    Site("initialiser", "virtual") { type(of: hide($0)).init(number: 1).number },
    Site("initialiser", "super") { _ in Sub(number: 1).number },
    Site("initialiser", "protocol") { _ in ((hide(Base.self) as any Starts.Type).init(number: 1) as! Base).number },
    Site("initialiser", "closure") { _ in hide(Base.init(number:))(1).number },

    Site("getter", "direct") { _ in Base(number: 1).level },
    Site("getter", "virtual") { hide($0).level },
    Site("getter", "super") { _ in Sub(number: 1).level },
    Site("getter", "protocol") { hide(hide($0) as any Levels).level },
    Site("getter", "key-path") { hide($0)[keyPath: hide(\Base.level)] },

    Site("setter", "direct") {
      let object = Base(number: 1)
      object.level = 2
      return $0.number
    },
    Site("setter", "virtual") {
      hide($0).level = 2
      return $0.number
    },
    Site("setter", "super") {
      let object = Sub(number: 1)
      object.level = 2
      return $0.number
    },
    Site("setter", "protocol") {
      hide(hide($0) as any Levels).level = 2
      return $0.number
    },
    Site("setter", "key-path") {
      hide($0)[keyPath: hide(\Base.level)] = 2
      return $0.number
    },

    Site("modify", "direct") {
      let object = Base(number: 1)
      object.place += 2
      return $0.number
    },
    Site("modify", "virtual") {
      hide($0).place += 2
      return $0.number
    },
    Site("modify", "key-path") {
      hide($0)[keyPath: hide(\Base.place)] += 2
      return $0.number
    },

    Site("generic method", "direct") { _ in Base(number: 1).takes("text") },
    Site("generic method", "virtual") { hide($0).takes("text") },
    Site("generic method", "super") { _ in Sub(number: 1).takes("text") },
    Site("generic method", "protocol") { hide(hide($0) as any Takes).takes("text") },

    Site("free function", "direct") { _ in free(1) },
    Site("free function", "closure") { _ in hide(free)(1) },

    Site("dynamic function", "direct") { _ in swapped(1) },
    Site("dynamic function", "closure") { _ in hide(swapped)(1) },

    Site("dynamic method", "direct") { _ in Base(number: 1).swappedMethod(1) },
    Site("dynamic method", "virtual") { hide($0).swappedMethod(1) },
    Site("dynamic method", "protocol") { hide(hide($0) as any Swaps).swappedMethod(1) },
    Site("dynamic method", "closure") { hide(hide($0).swappedMethod)(1) },

    Site("async method", "direct") { _ in await Base(number: 1).later(1) },
    Site("async method", "virtual") { await hide($0).later(1) },
    Site("async method", "super") { _ in await Sub(number: 1).later(1) },
    Site("async method", "protocol") { await hide(hide($0) as any Waits).later(1) },

    Site("requirement", "direct") { _ in Value(number: 2).act(1) + Base(number: 1).act(1) },
    Site("requirement", "virtual") { hide($0).act(1) },
    Site("requirement", "super") { _ in Sub(number: 1).act(1) },
    Site("requirement", "protocol") { hide(Value(number: 2) as any Acts).act(1) + hide(hide($0) as any Acts).act(1) },
    Site("requirement", "closure") { hide(hide(hide($0) as any Acts).act)(1) },
  ]
  #if !REACH_OUTSIDE
    sites += [
      Site("internal method", "direct") { _ in Base(number: 1).inner(1) },
      Site("internal method", "virtual") { hide($0).inner(1) },
      Site("internal method", "closure") { hide(hide($0).inner)(1) },
    ]
  #endif
  return sites
}
