import HookRuntime
import Testing

/// What people read when a hook is refused, a handler asks for too much, or a call does not fit.
@Suite struct SentenceTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let sentence: String
    init(_ name: String, _ error: some Error & CustomStringConvertible, _ sentence: String) {
      self.name = name
      text = error.description
      self.sentence = sentence
    }
    var testDescription: String { name }
  }

  static let total = "Shop.Cart.total(tax:)"

  static let hooks = [
    Case(
      "a near miss", HookError.notFound(selector: "Shop.ad()", type: nil, nearest: ["Shop.add()"]),
      "no selector 'Shop.ad()' in this program; did you mean 'Shop.add()'?"),
    Case(
      "no near miss, no guess", HookError.notFound(selector: "Nope.f()", type: nil, nearest: []), "no selector 'Nope.f()' in this program"),
    Case("in a type", HookError.notFound(selector: "f()", type: "Shop.Cart", nearest: []), "no selector 'f()' in Shop.Cart"),
    Case(
      "no type", HookError.typeNotFound("Shop.Carp", nearest: ["Shop.Cart"]),
      "no type 'Shop.Carp' in this program; did you mean 'Shop.Cart'?"),
    Case(
      "ambiguous", HookError.ambiguous(selector: "f", candidates: ["f(_: Int)", "f(_: String)"]),
      "'f' is ambiguous: 'f(_: Int)', 'f(_: String)'; spell the types"),
    Case("refused", HookError.refused(selector: total, code: "no-body", reason: "none is left"), "cannot hook '\(total)': none is left"),
    Case(
      "too many", HookError.tooManyArguments(selector: total, takes: 1, asked: 2), "'\(total)' takes 1 argument, the handler asked for 2"),
    Case(
      "type of an argument",
      HookError.wrongArgument(selector: total, position: 0, label: "tax", expected: "Swift.Double", found: "Swift.Int"),
      "argument 1 'tax' of '\(total)': expected Swift.Double, found Swift.Int in the handler"),
    Case(
      "an argument that is not there",
      HookError.argumentNotReadable(selector: total, position: 0, label: nil, reason: "the optimiser removed it from this body"),
      "argument 1 of '\(total)' cannot be given to the handler: the optimiser removed it from this body"),
    Case(
      "type of the result", HookError.wrongResult(selector: total, expected: "Swift.Double", found: "Swift.Int"),
      "the result of '\(total)': expected Swift.Double, found Swift.Int in the handler"),
    Case(
      "may throw", HookError.resultMayBeMissing(selector: total, advice: "Result<Swift.Double, any Error>"),
      "'\(total)' may throw and have no result; take 'Result<Swift.Double, any Error>' in the handler"),
    Case(
      "async", HookError.wrongEffect(selector: total, isAsync: true),
      "'\(total)' is async: the handler around it is async, too, and awaits the original: 'try await call.original()'"),
    Case(
      "not async", HookError.wrongEffect(selector: total, isAsync: false),
      "'\(total)' is not async, so the handler around it cannot wait; leave 'await' out"),
  ]
  @Test(arguments: hooks) func hookErrors(_ c: Case) { #expect(c.text == c.sentence) }

  static let handlers = [
    Case(
      "no label", HandlerError.noArgument(selector: total, asked: "'rate'", known: ["1 'tax'"]),
      "'\(total)' has no argument 'rate'; it has 1 'tax'"),
    Case(
      "no argument at all", HandlerError.noArgument(selector: total, asked: "at position 0", known: []),
      "'\(total)' has no argument at position 0; it has none"),
    Case(
      "type", HandlerError.wrongArgument(selector: total, position: 0, label: "tax", expected: "Swift.Double", found: "Swift.Int"),
      "argument 1 'tax' of '\(total)': expected Swift.Double, found Swift.Int"),
    Case("late", HandlerError.tooLate(selector: total), "the original of '\(total)' has run; its arguments cannot be changed any more"),
    Case("over", HandlerError.callIsOver, "this call is over, or belongs to another thread; copy what you need while its handler runs"),
    Case(
      "left out", HandlerError.leftOut(selector: total, returning: "Swift.Double"),
      "the handler around '\(total)' neither ran the original nor returned a value; call 'call.original()', or return Swift.Double"),
    Case(
      "in a frame", HandlerError.inFrame(type: "Shop.Cart"),
      "a value of type Shop.Cart cannot be kept: the optimiser put it into the frame of the call's caller; copy what you need of it"),
  ]
  @Test(arguments: handlers) func handlerErrors(_ c: Case) { #expect(c.text == c.sentence) }

  static let calls = [
    Case("nobody answers", CallError.noMember(selector: "fly()", type: "Shop.Cart", nearest: []), "no selector 'fly()' in Shop.Cart"),
    Case("circle", CallError.forwardedInCircles(selector: "fly()", through: ["A", "B"]), "'fly()' is forwarded in circles, by A, then B"),
    Case("count", CallError.wrongCount(selector: total, expected: 1, found: 0), "'\(total)' takes 1 argument, got 0"),
  ]
  @Test(arguments: calls) func callErrors(_ c: Case) { #expect(c.text == c.sentence) }
}
