import Throwing

func shown(_ e: any Error) -> String {
  switch e {
  case let e as Large: "Large \(e.a) \(e.b) \(e.c) \(e.d) \(e.owner.id)"
  case let e as Loaded: if case .object(let o) = e { "object \(o.id)" } else { "\(e)" }
  default: "\(e)"
  }
}
func attempt<R, E: Error>(_ name: String, _ body: () throws(E) -> R) {
  do throws(E) { print(name, "returned", { $0 is Owner ? "\(($0 as! Owner).id)" : $0 is Large ? "\(($0 as! Large).a)" : "\($0)" }(try body())) } catch { print(name, "threw", shown(error)) }
}
func attempt<R, E: Error>(_ name: String, _ body: () async throws(E) -> R) async {
  do throws(E) { print(name, "returned", try await body()) } catch { print(name, "threw", shown(error)) }
}

@main struct Main {
  static func once(_ n: Int) async {
    attempt("plain") { () throws(Plain) in try plain(n) }
    attempt("nothing") { () throws(Plain) in try nothing(n) }
    attempt("loaded") { () throws(Loaded) in try loaded(n) }
    attempt("words") { () throws(Words) in try words(n) }
    attempt("floating") { () throws(Floating) in try floating(n) }
    attempt("large") { () throws(Large) in try large(n) }
    attempt("inMemory") { () throws(Words) in try inMemory(n) }
    attempt("wide") { () throws(Plain) in try wide(n) }
    attempt("empty") { () throws(Empty) in try empty(n) }
    attempt("owned") { () throws(Loaded) in try owned(Owner(n), n) }
    attempt("generic") { () throws(Words) in try generic("x", Words(n, "given"), n) }
    attempt("genericLarge") { () throws(Large) in try generic(n, Large(n), n) }
    attempt("untyped") { () throws(any Error) in try untyped(n) }
    var counter = Counter("counter")
    attempt("add") { () throws(Words) in try counter.add(n) }
    print("counter", counter.n)
    await attempt("later") { () async throws(Words) in try await later(n) }
    await attempt("laterLarge") { () async throws(Large) in try await laterLarge(n) }
  }
  static func main() async {
    for n in [1, -1, 2, -2, 3, -3, 4, 5] { print("--", n); await once(n) }
    settle()
    print("alive", alive)
  }
}
