// ProgramStanding — how a program that does not run ended the last time, and what safe mode and the canary keep out of it: for status
// and safe-mode.
internal import Journal
internal import ScriptHost

struct ProgramStanding {
  /// The program's file name.
  let program: String
  private let end: (number: Int, file: CrashFile)?
  private let mode: SafeMode?
  /// What its next start does.
  private let plan: [String]
  private let quarantined: [String]

  /// Of all programs that a state directory knows something of; with a number only the one whose process had it.
  static func all(in state: RawPath, process: Int32?) -> [ProgramStanding] {
    let isOff = BootGuard.offSwitch(state).status() != nil
    let books = CanaryBook.all(in: state)
    let known = BootGuard.known(in: state).filter { process == nil || $0.end?.file.process == process }
    let names = Set(known.map { stem($0.name) })
    // What failed in children of a program that never failed itself.
    let others = process == nil ? books.map(\.lastComponent).filter { !names.contains(stem($0)) }.map { BootGuard.Known(name: Array($0)) } : []
    return (known + others).map { each in
      let book = books.first { stem($0.lastComponent) == stem(each.name) }
      return ProgramStanding(
        program: program(each.name), end: each.end, mode: each.mode,
        plan: isOff ? ["off, the next start loads all patches"] : each.mode?.planned(namesOut: false) ?? [], quarantined: book.map(quarantined) ?? [])
    }.filter { !$0.lines.isEmpty }
  }

  /// In words, without the program's name.
  var lines: [String] {
    var lines: [String] = []
    if let end {
      lines.append(
        "the last crash or kill: \(CrashText.time(end.file)), process \(end.file.process): \(CrashText.endingAndSuspect(end.file)); "
          + "scripthost crashes show \(end.number) has more")
    }
    for line in (mode?.sentences() ?? []) + plan { lines.append("safe mode: \(EventText.printable(line))") }
    return lines + quarantined
  }

  var json: JSONValue {
    var members: [JSONValue.Member] = [.init("program", .string(program)), .init("running", .bool(false))]
    if let end {
      members.append(
        .init(
          "last_end",
          [
            "number": JSONValue(end.number), "pid": JSONValue(Int(end.file.process)), "time": .string(CrashText.time(end.file)),
            "how": .string(CrashText.endingAndSuspect(end.file)),
          ]))
    }
    members.append(.init("failed_starts", JSONValue(mode?.failures ?? 0)))
    members.append(.init("safe_mode", .array(((mode?.sentences() ?? []) + plan).map { .string($0) })))
    members.append(.init("quarantined", .array(quarantined.map { .string($0) })))
    return .object(members)
  }

  /// The program's name in that of a file of its: "swift-format-1a2b.boot".
  static func program(_ name: some Collection<UInt8>) -> String {
    EventText.printable(String(decoding: name, as: UTF8.self).split(separator: "-").dropLast().joined(separator: "-"))
  }

  private static func stem(_ name: some Collection<UInt8>) -> [UInt8] {
    Array(name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropLast().joined(separator: [UInt8(ascii: ".")]))
  }

  /// What failed in children of one program.
  static func quarantined(_ path: RawPath) -> [String] {
    CanaryBook(reading: path).failed.map { "'\(EventText.printable($0.path))' is quarantined: \(EventText.printable($0.why))" }
  }
}
