import Testing

@testable import HookRuntime

/// How a call by name is spelled as a selector.
@Suite struct MessageNameTests {
  @Test("labels become the selector's, missing ones underscores")
  func selectors() {
    #expect(Message.selector("add", ["": 1, "price": 2, "quantity": 3]) == "add(_:price:quantity:)")
    #expect(Message.selector("title", [:]) == "title()")
    #expect(Message.selector("init", ["title": "x"]) == "init(title:)")
  }

  @Test("labels are found by position")
  func labels() {
    #expect(Message.label("add(_:price:quantity:)", 0) == nil)
    #expect(Message.label("add(_:price:quantity:)", 1) == "price")
    #expect(Message.label("add(_:price:quantity:)", 2) == "quantity")
    #expect(Message.label("add(_:price:quantity:)", 3) == nil)
    #expect(Message.label("title.get", 0) == nil)
  }
}
