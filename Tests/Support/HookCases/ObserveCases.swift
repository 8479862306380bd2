// Observation of properties: what is told, once, in order, and what is refused.
import Checks
import ClosureHooks
import HookRuntime
import HookSubjects

/// `old>new`, in the order it is told.
private func telling<Value>(_ change: PropertyChange<Value>) {
  func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "-" }
  Trace.text += "\(text(change.old))>\(text(change.new))\(change.isInPlace ? "*" : "") "
}

private func refusal(_ body: () throws -> Observation) -> String {
  do {
    try body().end()
    return "observed"
  } catch { return "\(error)" }
}

nonisolated(unsafe) let observeCases: [(String, () throws -> Void)] = [
  (
    "observe: a set is told once, by whoever, with old and new",
    {
      let account = Account(owner: "a"), other = Account(owner: "x")
      let seen = try engine.observe(account, "owner") { telling($0 as PropertyChange<String>) }
      account.owner = "b"
      rename(account, "c")
      other.owner = "y"
      rename(other, "z")
      check(Trace.take(), "a>b b>c ", "changes")
      check(seen.end(), true, "end")
      check(seen.end(), false, "ending twice")
      account.owner = "d"
      check(Trace.take(), "", "after the end")
    }
  ),
  (
    "observe: a change in place is told when it is over",
    {
      let account = Account(owner: "a")
      let seen = try engine.observe(account, "history") { telling($0 as PropertyChange<[String]>) }
      account.history.append("one")
      note(account, "two")
      check(Trace.take(), #"[]>["one"]* ["one"]>["one", "two"]* "#, "appended")
      func change(_ list: inout [String]) {
        list = []
        Trace.text += "inside "
      }
      change(&account.history)
      check(Trace.take(), #"inside ["one", "two"]>[]* "#, "inout")
      struct Stop: Error {}
      func fail(_ list: inout [String]) throws {
        list.append("kept")
        throw Stop()
      }
      try? fail(&account.history)
      check(Trace.take(), #"[]>["kept"]* "#, "left by an error")
      seen.end()
    }
  ),
  (
    "observe: didSet runs, and its say is the new value",
    {
      let account = Account(owner: "a")
      let seen = try engine.observe(account, "limit") { telling($0 as PropertyChange<Int>) }
      account.limit = 20
      account.limit = 500
      account.limit += 1
      // `+= 1` is a get and a set, or an access in place, as the compiler likes.
      check(Trace.take().filter { $0 != "*" }, "didSet(10) 10>20 didSet(20) 20>100 didSet(100) 100>100 ", "changes")
      seen.end()
    }
  ),
  (
    "observe: a computed property, set and in place, is told once each",
    {
      let account = Account(owner: "a")
      let seen = try engine.observe(account, "twice") { telling($0 as PropertyChange<Int>) }
      account.twice = 8
      account.twice += 2
      double(account)
      let told = Trace.take().split(separator: " ").map { $0.filter { $0 != "*" } }
      check(told, ["0>8", "8>10", "10>20"], "changes")
      seen.end()
    }
  ),
  (
    "observe: an override that sets its superclass's property is one change",
    {
      let savings = Savings(owner: "a")
      let seen = try engine.observe(savings, "owner") { telling($0 as PropertyChange<String>) }
      savings.owner = "b"
      check(Trace.take(), "a>b! ", "one change")
      savings.owner += "c"
      check(Trace.take().filter { $0 != "*" }, "b!>b!c! ", "in place")
      seen.end()
    }
  ),
  (
    "observe: a path follows what it leads through",
    {
      let account = Account(owner: "a"), first = Account(owner: "f"), second = Account(owner: "s")
      let seen = try engine.observe(account, "child.owner") { telling($0 as PropertyChange<String>) }
      account.child = first
      first.owner = "f2"
      account.child = second
      first.owner = "unseen"
      second.owner = "s2"
      account.child = nil
      second.owner = "unseen"
      check(Trace.take(), "->f f>f2 f2>s s>s2 s2>- ", "changes")
      seen.end()
      account.child = first
      first.owner = "g"
      check(Trace.take(), "", "after the end")
    }
  ),
  (
    "observe: a path through a weak reference and through values",
    {
      let account = Account(owner: "a")
      var partner: Account? = Account(owner: "p")
      let owner = try engine.observe(account, "partner.owner") { telling($0 as PropertyChange<String>) }
      account.partner = partner
      partner!.owner = "q"
      check(Trace.take(), "->p p>q ", "weak")
      partner = nil
      check(account.partner == nil, true, "not kept alive")
      // What it was is gone with it.
      check(Trace.take(), "->- ", "its end is told")
      owner.end()
      let city = try engine.observe(account, "address.city") { telling($0 as PropertyChange<String>) }
      account.address = Address(city: "Ulm", zip: 1)
      move(account, to: "Bonn")
      account.address?.zip = 2
      account.address = nil
      check(Trace.take().filter { $0 != "*" }, "->Ulm Ulm>Bonn Bonn>Bonn Bonn>- ", "values")
      city.end()
    }
  ),
  (
    "observe: all instances of a class, and statics",
    {
      let all = try engine.observe(instancesOf: Account.self, "owner") { telling($0 as PropertyChange<String>) }
      let account = Account(owner: "a"), savings = Savings(owner: "s")
      account.owner = "b"
      savings.owner = "t"
      check(Trace.take(), "a>b s>t! ", "instances")
      all.end()
      let rate = try engine.observe(staticsOf: Account.self, "rate") { telling($0 as PropertyChange<Int>) }
      Account.rate = 5
      Account.rate += 1
      check(Trace.take().filter { $0 != "*" }, "1>5 5>6 ", "static")
      Account.rate = 1
      rate.end()
      _ = Trace.take()
    }
  ),
  (
    "observe: the observed and the owner are not kept alive, and end it",
    {
      var account: Account? = Account(owner: "a")
      weak let gone = account
      var owner: Account? = Account(owner: "o")
      let seen = try engine.observe(account!, "owner", owner: owner) { telling($0 as PropertyChange<String>) }
      account!.owner = "b"
      check(Trace.take(), "a>b ", "owner lives")
      owner = nil
      account!.owner = "c"
      check(Trace.take(), "", "owner is gone")
      check(seen.end(), false, "it ended with its owner")
      let again = try engine.observe(account!, "owner") { telling($0 as PropertyChange<String>) }
      account = nil
      check(gone == nil, true, "the observed is gone")
      again.end()
      // A new object at the old address inherits nothing.
      for _ in 0..<100 { Account(owner: "n").owner = "m" }
      check(Trace.take(), "", "others")
    }
  ),
  (
    "observe: with hooks on the same object, in both orders",
    {
      for observesFirst in [true, false] {
        let account = Account(owner: "a")
        func hook() throws -> ClosureHook {
          try engine.before("\(module).Account.owner.set") { call in
            _ = call.setArgument(0, to: (call.argument(0, as: String.self) ?? "?") + "+")
          }
        }
        let early = observesFirst ? nil : try hook()
        let seen = try engine.observe(account, "owner") { telling($0 as PropertyChange<String>) }
        let late = observesFirst ? try hook() : nil
        account.owner = "b"
        check(Trace.take(), "a>b+ ", "observed \(observesFirst ? "first" : "last")")
        early?.remove()
        account.owner = "c"
        check(Trace.take(), observesFirst ? "b+>c+ " : "b+>c ", "one removed")
        seen.end()
        late?.remove()
        account.owner = "d"
        check(account.owner, "d", "nothing left")
        check(Trace.take(), "", "nothing told")
      }
    }
  ),
  (
    "observe: what a handler writes to the same property is its own affair, to others a change",
    {
      let account = Account(owner: "a")
      let seen = try engine.observe(account, "cents") { (change: PropertyChange<Int>) in telling(change) }
      let first = try engine.observe(account, "owner") { (change: PropertyChange<String>) in
        telling(change)
        (change.object as! Account).owner = "c"
        (change.object as! Account).cents += 1
      }
      account.owner = "b"
      check(Trace.take(), "a>b 0>1* ", "both")
      check(account.owner, "c", "written")
      first.end()
      seen.end()
    }
  ),
  (
    "observe: refusals say what is wrong",
    {
      let account = Account(owner: "a")
      check(
        refusal { try engine.observe(account, "ownr") { (_: PropertyChange<String>) in } }
          .hasPrefix("cannot observe 'ownr': HookSubjects.Account has no property of that name; its stored ones are owner, history, limit"),
        true, "unknown")
      check(
        refusal { try engine.observe(account, "owner") { (_: PropertyChange<Int>) in } },
        "cannot observe 'owner' as Swift.Int: it is Swift.String", "type")
      check(
        refusal { try engine.observe(account, "number") { (_: PropertyChange<Int>) in } },
        "cannot observe 'HookSubjects.Account.number': it is a 'let' and never changes", "let")
      check(
        refusal { try engine.observe(account, "owner..x") { (_: PropertyChange<Int>) in } },
        "cannot observe 'owner..x': a step has no name; write 'user.name'", "empty step")
      check(
        refusal { try engine.observe(account, "address.street") { (_: PropertyChange<Int>) in } }
          .contains("has no stored field 'street'"), true, "no field")
      let seen = try engine.observe(account, "owner") { (_: PropertyChange<String>) in }
      check(seen.explanation.contains("seen     HookSubjects.Account.owner.set"), true, seen.explanation)
      check(seen.explanation.contains("unseen   writes inside HookSubjects"), true, seen.explanation)
      seen.end()
    }
  ),
]
