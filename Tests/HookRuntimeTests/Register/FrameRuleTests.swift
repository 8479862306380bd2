import CHookTrampoline
import HookRuntime
import Testing

/// Rules of call frame information, held against what `readelf` says of the same tables.
@Suite struct FrameRuleTests {
  /// What `readelf` says of the instructions from an address on.
  struct Row {
    let function: Range<UInt64>
    let address: UInt64
    /// The caller's stack pointer, as `rsp+8`, and where its rbp and its return address are, as `c-16`, or `u`.
    let base, pointer, back: String
  }

  @Test("every rule of a library is as readelf says", arguments: ["libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"])
  func library(_ name: String) throws {
    let path = "/lib/x86_64-linux-gnu/\(name)"
    let file = try ELFFile(path: path)
    let rows = Self.rows(try Program.run(path: "/usr/bin/readelf", ["-wF", path]).output)
    #expect(rows.count > 500)
    var wrong: [String] = []
    for (row, next) in zip(rows, rows.dropFirst()) {
      // The row holds up to the next one of the function.
      let last = (next.function == row.function ? next.address : row.function.upperBound) - 1
      for counter in [row.address, last] {
        let found = Self.rule(file, counter).map(Self.text) ?? "none"
        // Of frames that are found by expressions or other registers nothing is said.
        let isPlain = ["rsp", "rbp"].contains(row.base.prefix(3)) && row.back == "c-8" && (row.pointer == "u" || row.pointer.hasPrefix("c"))
        let expected = isPlain ? "\(row.base) \(row.pointer)" : "none"
        if found != expected { wrong.append("\(String(counter, radix: 16)): \(found), not \(expected)") }
      }
    }
    #expect(wrong.isEmpty, "\(wrong.count) of \(rows.count): \(wrong.prefix(5))")
  }

  @Test("damaged tables are read to no end but their own")
  func damaged() throws {
    var random = SeededGenerator(seed: makeSeed("damaged frame tables"))
    let file = try ELFFile(path: "/lib/x86_64-linux-gnu/libm.so.6")
    let sections = try [".eh_frame_hdr", ".eh_frame"].map { try #require(file.section(named: $0)) }
    let whole = try sections.map { Array(try #require(file.bytes(of: $0))) }
    for _ in 0..<300 {
      var bytes = whole
      for _ in 0..<50 {
        let which = Int.random(in: 0...1, using: &random)
        bytes[which][Int.random(in: 0..<bytes[which].count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let ends = bytes.map { Int.random(in: 0...$0.count, using: &random) }
      // Copies that end where their memory does, for the address sanitizer to see what is read behind them.
      let copies = zip(bytes, ends).map { Array($0[..<$1]) }
      copies[0].withUnsafeBufferPointer { first in
        copies[1].withUnsafeBufferPointer { second in
          var index = HKTSection(bytes: first.baseAddress, size: UInt64(first.count), address: sections[0].address)
          var frames = HKTSection(bytes: second.baseAddress, size: UInt64(second.count), address: sections[1].address)
          var rule = HKTFrameRule()
          for _ in 0..<200 { _ = hkt_frame_rule(&index, &frames, UInt64.random(in: 0..<0x10_0000, using: &random), &rule) }
        }
      }
    }
  }

  private static func rule(_ file: ELFFile, _ counter: UInt64) -> HKTFrameRule? {
    func section(_ name: String) -> HKTSection? {
      guard let section = file.section(named: name), let bytes = file.bytes(of: section)?.bindMemory(to: UInt8.self) else { return nil }
      return HKTSection(bytes: bytes.baseAddress, size: UInt64(bytes.count), address: section.address)
    }
    guard var index = section(".eh_frame_hdr"), var frames = section(".eh_frame") else { return nil }
    var rule = HKTFrameRule()
    return hkt_frame_rule(&index, &frames, counter, &rule) ? rule : nil
  }

  private static func text(_ rule: HKTFrameRule) -> String {
    func signed(_ number: Int64) -> String { (number < 0 ? "" : "+") + String(number) }
    return (rule.is_from_frame_pointer ? "rbp" : "rsp") + signed(rule.distance) + " "
      + (rule.is_frame_pointer_saved ? "c" + signed(rule.frame_pointer) : "u")
  }

  private static func rows(_ text: String) -> [Row] {
    var function: Range<UInt64>?
    var columns: (pointer: Int?, back: Int?) = (nil, nil)
    var rows: [Row] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.split(separator: " ")
      if let range = words.last, range.hasPrefix("pc="), words.contains("FDE") {
        let ends = range.dropFirst(3).split(separator: ".").compactMap { UInt64($0, radix: 16) }
        function = ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
      } else if words.isEmpty {
        function = nil
      } else if words[0] == "LOC" {
        columns = (words.firstIndex(of: "rbp"), words.firstIndex(of: "ra"))
      } else if let function, let address = UInt64(words[0], radix: 16), words.count > 2 {
        func word(_ column: Int?) -> String { column.map { String(words[$0]) } ?? "u" }
        rows.append(Row(function: function, address: address, base: String(words[1]), pointer: word(columns.pointer), back: word(columns.back)))
      }
    }
    return rows
  }
}
