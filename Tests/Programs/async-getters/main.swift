#if !WHOLE
import Shop
#endif

/// As Lua writes an error in one line. An error of a type of its own is not decoded: no name tells of what type it is.
func text(_ error: any Error) -> String {
  switch error {
  case Broken.early: "Broken.early"
  case is Broken: "Broken.late(…)"
  default: "<not decoded>"
  }
}

/// One line for each read, as the patch has it: `returned VALUE`, or `threw ERROR`.
func say<T>(_ name: String, _ read: () async throws -> T) async {
  do { print("\(name) returned \(try await read())") } catch { print("\(name) threw \(text(error))") }
}

func through(_ any: any Stocked) async {
  await say("\(type(of: any)).stock") { await any.stock }
  await say("\(type(of: any)).price") { try await any.price }
  // Plain's is not async: its witness calls a plain getter.
  if !(any is Plain) { await say("\(type(of: any)).label") { await any.label } }
}

func generic<T: Stocked>(_ value: T) async {
  await say("\(T.self).stock") { await value.stock }
  await say("\(T.self).price") { try await value.price }
}

for n in [3, -3, 7] {
  let shelf = Shelf(n)
  let counter = Counter(n)
  await say("Shelf.stock") { await shelf.stock }
  await say("Shelf.price") { try await shelf.price }
  await say("Shelf.label") { await shelf.label }
  await say("Counter.price") { try await counter.price }
  await say("Counter.stock") { await counter.stock }
  await say("Counter.label") { await counter.label }
  await say("Counter.caught") { await counter.caught }
  await say("Counter.box") { await counter.box.text }
  await say("Counter.boxOrError") { try await counter.boxOrError.text }
  await say("Counter.nothing") { try await counter.nothing }
  await say("Counter.flag") { await counter.flag }
  await say("Counter.maybe") { try await counter.maybe ?? "nil" }
  await say("Counter.shared") { try await Counter.shared }
  await say("Typed.code") { try await Typed(n).code }
  await through(shelf)
  await through(counter)
  await through(Plain(n))
  await generic(shelf)
  await generic(counter)
  await generic(Plain(n))
  // Of a caller that looks for no error but to end it.
  let ignored = try? await counter.price
  print("Counter.price", ignored.map { "returned \($0)" } ?? (n == 7 ? "threw Broken.early" : "threw Broken.late(…)"))
}
