// Async functions whose calls go through several bodies: overrides with another convention, initialisers, functions without some of their arguments.
// They count their own calls.
nonisolated(unsafe) var counts: [String: Int] = [:]
@inline(never) func count(_ name: String) { counts[name, default: 0] += 1 }
@inline(never) func other(_ number: Int) async -> Int { number &+ counts.count }

struct Gone: Error {}
protocol Source: Sendable {
  func fetch(_ key: Int, _ unused: Int, _ text: String) async throws -> Int?
  var size: Int { get async throws }
}
class Store: Source, @unchecked Sendable {
  let id: Int
  @inline(never) init(id: Int) async {
    count("Chain.Store.init(id:)")
    self.id = id
    await Task.yield()
  }
  @inline(never) convenience init?(checked id: Int) async {
    if id < 0 { return nil }
    await self.init(id: id)
  }
  @inline(never) func fetch(_ key: Int, _ unused: Int, _ text: String) async throws -> Int? {
    count("Chain.Store.fetch(_:_:_:)")
    return text.isEmpty ? nil : key
  }
  var size: Int {
    @inline(never) get async throws {
      count("Chain.Store.size.get")
      return id
    }
  }
}
class Cache: Store, @unchecked Sendable {
  @inline(never) override init(id: Int) async {
    count("Chain.Cache.init(id:)")
    await super.init(id: id &+ 1)
  }
  @inline(never) override func fetch(_ key: Int, _ unused: Int, _ text: String) async throws -> Int {
    count("Chain.Cache.fetch(_:_:_:)")
    if key < 0 { throw Gone() }
    return text.utf8.count
  }
  override var size: Int {
    @inline(never) get async {
      count("Chain.Cache.size.get")
      return id &* 2
    }
  }
}
@inline(never) func sizes(_ store: Store) async -> String { "\(await other(1)) \((try? await store.size) as Any) \(await other(2))" }
@inline(never) func sizes(any source: any Source) async -> String { "\(await other(3)) \((try? await source.size) as Any) \(await other(4))" }
@inline(never) func sizes<S: Source>(generic source: S) async -> String { "\(await other(5)) \((try? await source.size) as Any) \(await other(6))" }
@inline(never) func fetched(_ source: any Source, _ key: Int) async -> Int { ((try? await source.fetch(key, 1, "text")) as? Int) ?? -9 }
@inline(never) func fetched(store: Store, _ key: Int) async -> Int { ((try? await store.fetch(key, 1, "text")) as? Int) ?? -9 }
@inline(never) func fetched(cache: Cache, _ key: Int) async -> Int { (try? await cache.fetch(key, 1, "text")) ?? -9 }

@main struct Main {
  static func main() async {
    for round in 0..<3 {
      let store = await Store(id: round), cache = await Cache(id: 2)
      print(store.id, cache.id, await Store(checked: 3)!.id, await Store(checked: -3)?.id as Any)
      print(await fetched(cache, 1), await fetched(store: cache, 2), await fetched(cache: cache, -3), await fetched(store: store, 4))
      for each in [store, cache] { print(await sizes(each), await sizes(any: each)) }
      print(await sizes(generic: store), await sizes(generic: cache), await cache.size)
    }
    for (name, number) in counts.sorted(by: { $0.key < $1.key }) { print("COUNT \(name) \(number)") }
  }
}
