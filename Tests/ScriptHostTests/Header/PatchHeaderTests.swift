import Journal
import Testing

@testable import ScriptHost

@Suite("patch headers")
struct PatchHeaderTests {
  private func header(_ text: String) throws -> PatchHeader { try PatchHeader(source: Array(text.utf8), fileName: "p.lua") }

  @Test("the first statement is read without running the file")
  func reading() throws {
    let text = """
      #!/usr/bin/env lua
      -- a comment
      --[[ a long
      one ]]
      patch { id = "rounding", version = '1.2.0', api = 1; priority = -3,
              target = { program = "storefront" }, }
      error("never run")
      """
    let found = try header(text)
    #expect(found.id == "rounding")
    #expect(found.version == "1.2.0")
    #expect(found.priority == -3)
    #expect(found.program == "storefront")
  }

  @Test("no header is an empty one")
  func none() throws {
    #expect(try header("print(1)") == PatchHeader())
    #expect(try header("") == PatchHeader())
    #expect(try header("patches = 1") == PatchHeader())
  }

  static let mistakes = [
    ("patch { id = name }", "p.lua:1: 'name' is not a literal; the patch header holds literals only"),
    ("patch {\n  idd = \"x\" }", "p.lua:2: unknown field 'idd' in patch; known are id, version, api, target, priority, phase, expires, canary, canary_limit, canary_changes, canary_arguments, config, permissions, max_share, over_share"),
    ("patch { permissions = { \"fly\" } }", "p.lua:1: unknown word 'fly' in permissions; known are call, write, types, guards, presets, notifications, delegates, network, stacks, timers, control, files, secrets"),
    ("patch { permissions = \"call\" }", "p.lua:1: 'permissions' is a list of words, such as { \"call\" }, found the text 'call'"),
    ("patch { max_share = \"5\" }", "p.lua:1: 'max_share' is a percentage of the process's time, such as \"5%\", found '5'"),
    ("patch { canary = \"both\" }", "p.lua:1: 'canary' is \"boot\", \"test\", \"replay\" or \"self-test\", found 'both'"),
    ("patch { canary_limit = 0 }", "p.lua:1: 'canary_limit' is 1 to 50 seconds, found 0"),
    ("patch { api = 2 }", "p.lua:1: this host knows api 1, the patch asks for 2"),
    ("patch { priority = \"high\" }", "p.lua:1: 'priority' is a whole number, such as 10, found the text 'high'"),
    ("patch { version = 1 }", "p.lua:1: 'version' is a text, such as \"1.0.0\", found the number 1"),
    ("patch { api = true }", "p.lua:1: 'api' is the number 1, found true"),
    ("patch { id = \"a\", id = \"b\" }", "p.lua:1: 'id' is given twice; the patch header holds literals only"),
    ("patch { id = \"a", "p.lua:1: unfinished string; the patch header holds literals only"),
    ("patch \"x\"", "p.lua:1: expected a table after 'patch'; the patch header holds literals only"),
    ("patch { expires = \"2026-02-30\" }", "p.lua:1: 'expires' is a day or a time in UTC, such as \"2027-01-31\" or \"2027-01-31T12:00:00Z\", found '2026-02-30'"),
    ("patch { phase = \"late\" }", "p.lua:1: 'phase' is \"boot\", \"up\" or \"idle\", found 'late'"),
    ("patch { target = { build_ids = { \"xyz\" } } }", "p.lua:1: 'target.build_ids' has build-ids in hexadecimal, at least 8 digits of each, found 'xyz'"),
    ("patch { config = 5 }", "p.lua:1: 'config' is a table of settings, such as { digits = 2 }, found the number 5"),
    ("patch { config = { 1 } }", "p.lua:1: the settings in 'config' are named, such as config = { digits = 2 }"),
    ("patch { priority = 1.5 }", "p.lua:1: 'priority' is a whole number, such as 10, found the number 1.5"),
    ("patch { target = { build = \"x\" } }", "p.lua:1: unknown target field 'build'; known are 'program', 'build_ids', 'swift', 'selectors', 'bodies'"),
  ]

  @Test("builds, Swift, selectors, phase and end")
  func conditions() throws {
    let found = try header(
      "patch { target = { build_ids = { \"0123ABCD\" }, swift = \"6.3\", selectors = { \"A.b()\", \"A.c\" } }, phase = \"idle\", expires = \"2024-02-29T01:02:03Z\" }")
    #expect(found.buildIDs == ["0123abcd"])
    #expect(found.swift == "6.3")
    #expect(found.selectors == ["A.b()", "A.c"])
    #expect(found.phase == .idle)
    #expect(found.expires == 1_709_168_523)
    #expect(try header("patch { expires = \"1970-01-02\" }").expires == 86_400)
  }

  @Test("settings with their defaults")
  func settings() throws {
    let found = try header("patch { config = { digits = 2, rate = 0.5, on = true, names = { \"a\" }, deep = { text = \"t\" } } }")
    let expected: JSONValue = .object([
      .init("digits", 2), .init("rate", .number(0.5)), .init("on", true), .init("names", ["a"]), .init("deep", .object([.init("text", "t")])),
    ])
    #expect(found.config == expected)
    #expect(try header("patch { }").config == nil)
  }

  @Test("a mistake is told with its place", arguments: mistakes)
  func mistake(_ text: String, _ sentence: String) {
    do {
      _ = try header(text)
      Issue.record("no error")
    } catch { #expect("\(error)" == sentence) }
  }
}
