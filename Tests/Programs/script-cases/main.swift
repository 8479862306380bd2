// Calls everything once and says what came back; waits for a word on standard input first, when it is asked to.
import Glibc
import Kinds
import Other

func show(_ name: String, _ value: Any) { print("\(name): \(value)") }

@inline(never) func work() async {
  show("int8", Echo.int8(-5))
  show("int16", Echo.int16(-500))
  show("int32", Echo.int32(-70_000))
  show("int64", Echo.int64(.max))
  show("int", Echo.int(.min))
  show("uint8", Echo.uint8(200))
  show("uint16", Echo.uint16(60_000))
  show("uint32", Echo.uint32(4_000_000_000))
  show("uint64", Echo.uint64(.max))
  show("float", Echo.float(1.5))
  show("double", Echo.double(-0.1))
  show("nan", Echo.double(.nan))
  show("infinity", Echo.double(-.infinity))
  show("bool", Echo.bool(true))
  show("string", Echo.string("text"))
  show("bytes", Array(Echo.string("a\0b\u{7f}ä").utf8))
  show("character", Echo.character("é"))
  show("maybeInt", Echo.maybeInt(nil) as Any)
  show("maybeBool", Echo.maybeBool(false) as Any)
  show("maybeDouble", Echo.maybeDouble(0) as Any)
  show("maybeString", Echo.maybeString("") as Any)
  show("nested none", Echo.nested(.some(nil)) as Any)
  show("nested nil", Echo.nested(nil) as Any)
  show("pair", Echo.pair((1, "p")))
  show("one", Echo.one(One(a: 1)))
  show("two", Echo.two(Two(a: 1, b: 2)))
  show("three", Echo.three(Three(first: "the first of them, which is long", second: "b", third: "the third of them, which is long")))
  show("four", Echo.four(Four(a: 1, b: 2, c: 3, d: 4)))
  show("mixed", Echo.mixed(Mixed(flag: true, one: One(a: 7), name: "m", list: [1, 2], end: nil)))
  show("wide", Echo.wide(wide(5)).sum)
  show("huge", Echo.huge(Huge(1)).sum)
  show("fruit", Echo.fruit(.pear))
  show("payload", Echo.payload(.text("t", 4)))
  show("list", Echo.list([1, 2, 3]))
  show("maybes", Echo.maybes([1, nil, 0]))
  show("table", Echo.table(["k": 1]))
  show("set", Echo.set([9]))
  show("item", Echo.item(Item("i")).name)
  show("named", Echo.named(Tag("n")).name)
  show("any", Echo.any(5))
  show("any bool", Echo.any(true))
  show("any none", Echo.any(Int?.none as Any))
  show("metatype", Echo.metatype(Item.self))
  Echo.void(())
  show("three of one", Echo.three(nil, 2, nil))
  show("deep", Echo.deep([[[1], [2]], [[3]]]))
  show("sixteen", sixteen(1, 2, true, "d", 5, 6, 7, 8, 9, "j", 11, 12, false, 14, 15, 16))
  show("many", many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
  for n in [5, 50] {
    do { show("check \(n)", try check(n)) } catch { show("check \(n)", "threw \(error)") }
    do throws(Wrong) { show("typed \(n)", try typed(n)) } catch { show("typed \(n)", "threw \(error)") }
  }
  show("deferred", deferred)
  show("later", await later(1))
  do { show("laterOrThrow", try await laterOrThrow(-1)) } catch { show("laterOrThrow", "threw \(error)") }
  let counter = Counter()
  show("actor", await counter.add(2))
  var n = 1
  grow(&n)
  show("grow", n)
  show("eat", eat("four"))
  show("look", look("four"))
  show("total", total(1, 2, 3))
  show("same", same(4))
  show("same text", same("t"))
  show("box", Box(6).get())
  show("value", Kinds.Pick.value(1) + Kinds.Pick.value("x") + Kinds.Pick.value(at: 1) + Other.Pick.value(1))
  show("under", Kinds.Pick.with_under_score(3))
  show("inner", Kinds.Pick.Inner().deep())
  show("money", (Money(1) + Money(2)).cents)
  show("opened", opened(5))
  show("apply", apply(3) { $0 * 2 })
  keep { $0 * 100 }
  show("kept", kept.map { $0(2) })
  show("maker", maker(10)(1))
  show("compose", compose({ $0 + 1 }, { $0 + "!" })("abc"))
  kept = []
  show("alive", Item.alive)
}

/// For sessions of the console, which have no task.
@inline(never) public func workNow() {
  nonisolated(unsafe) var isOver = false
  Task.detached {
    await work()
    isOver = true
  }
  while !isOver { usleep(1000) }
}

setvbuf(stdout, nil, _IOLBF, 0)
if CommandLine.arguments.contains("wait") {
  print("waits")
  _ = readLine()
} else {
  await work()
}
