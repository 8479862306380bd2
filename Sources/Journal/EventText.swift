// EventText — one record as a line: JSON for programs, text for people.
//
// No Foundation: the same code writes `--events FILE` inside programs.

/// Turns records into lines without a line end.
package struct EventText: Sendable {
  /// What every line of a session repeats.
  package struct Source: Sendable {
    package var program: String
    package var pid: Int32
    package var bootID: String
    package var buildID: String

    package init(program: String, pid: Int32, bootID: String, buildID: String) {
      self.program = program
      self.pid = pid
      self.bootID = bootID
      self.buildID = buildID
    }

    package init(_ session: JournalSession) {
      self.init(program: session.programName, pid: session.pid, bootID: session.bootID, buildID: session.buildID)
    }
  }

  /// One JSON object: time (RFC 3339 UTC), mono_ns, boot, program, pid, thread, build, seq, kind,
  /// name, fields; "cut" when fields were left out.
  package static func json(_ record: JournalRecord, _ source: Source) -> String {
    var out = "{\"time\":\"" + rfc3339(record.wall) + "\",\"mono_ns\":\(record.monotonic),\"boot\":"
    append(json: source.bootID, to: &out)
    out += ",\"program\":"
    append(json: source.program, to: &out)
    out += ",\"pid\":\(source.pid),\"thread\":\(record.thread),\"build\":"
    append(json: source.buildID, to: &out)
    out += ",\"seq\":\(record.sequence),\"kind\":\"\(record.kind)\",\"name\":"
    append(json: record.name, to: &out)
    out += ",\"fields\":"
    append(json: .object(record.fields), to: &out)
    if record.isCut { out += ",\"cut\":true" }
    return out + "}"
  }

  /// Time, program[pid], kind unless it is an event, name, and fields as name=value.
  package static func text(_ record: JournalRecord, _ source: Source) -> String {
    var out = rfc3339(record.wall) + " " + printable(source.program) + "[\(source.pid)] "
    if record.kind != .event { out += "\(record.kind): " }
    out += printable(record.name)
    return out + (record.kind.isMeasured ? measured(record.fields) : text(record.fields[...])) + (record.isCut ? " …" : "")
  }

  /// Times of the record's own as people read them, without its start, which the line's time and the duration tell.
  private static func measured(_ fields: [Field]) -> String {
    var out = ""
    for field in fields where field.name != "start_ns" {
      if field.name.hasSuffix("_ns"), let value = nanoseconds(field.value) {
        out += " \(printable(String(field.name.dropLast(3))))=\(time(value))"
      } else {
        out += text([field])
      }
    }
    return out
  }

  /// ` name=value` for each field.
  package static func text(_ fields: ArraySlice<Field>) -> String {
    var out = ""
    for field in fields {
      out += " " + printable(field.name) + "="
      append(text: field.value, to: &out)
    }
    return out
  }

  private static func nanoseconds(_ value: FieldValue) -> UInt64? {
    switch value {
    case .unsigned(let value): value
    case .integer(let value): UInt64(exactly: value)
    default: nil
    }
  }

  // MARK: JSON

  private static func append(json value: FieldValue, to out: inout String) {
    switch value {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    case .integer(let value): out += String(value)
    case .unsigned(let value): out += String(value)
    // JSON has no such numbers; a text keeps the difference.
    case .double(let value): out += value.isFinite ? String(value) : "\"\(value)\""
    case .string(let text, nil): append(json: text, to: &out)
    case .string(let text, let length?):
      append(json: text + cutMark(length), to: &out)
    case .masked: out += "\"" + FieldValue.maskedText + "\""
    case .identifier(let low, let high): out += "\"" + hexadecimal(low, high) + "\""
    case .list(let values):
      append(json: values, between: "[", "]", to: &out) { append(json: $0, to: &$1) }
    case .object(let fields):
      append(json: fields, between: "{", "}", to: &out) {
        append(json: $0.name, to: &$1)
        $1 += ":"
        append(json: $0.value, to: &$1)
      }
    }
  }

  /// Appends the values with commas between them.
  static func append<T>(
    json values: [T], between open: String, _ close: String, to out: inout String,
    _ each: (T, inout String) -> Void
  ) {
    out += open
    for (place, value) in values.enumerated() {
      if place > 0 { out += "," }
      each(value, &out)
    }
    out += close
  }

  /// Appends a JSON string literal; control characters are escaped, so one event stays one line.
  package static func append(json text: String, to out: inout String) {
    out += "\""
    if isPlain(text.utf8) {
      out += text
      out += "\""
      return
    }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      case "\0"..<" ", "\u{7f}"..<"\u{a0}", "\u{2028}", "\u{2029}":
        out += "\\u" + padded(UInt64(scalar.value), 4, radix: 16)
      default: out.unicodeScalars.append(scalar)
      }
    }
    out += "\""
  }

  /// Whether no character of a text needs an escape in JSON: most texts, which are copied whole.
  package static func isPlain(_ text: String.UTF8View) -> Bool {
    // Bytes from 0x80 to 0x9f, and the two separators of lines, begin with 0xc2 and 0xe2.
    text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != 0x7f && $0 != 0xc2 && $0 != 0xe2 }
  }

  // MARK: Text

  private static func append(text value: FieldValue, to out: inout String) {
    switch value {
    case .null: out += "nil"
    case .bool(let value): out += String(value)
    case .integer(let value): out += String(value)
    case .unsigned(let value): out += String(value)
    case .double(let value): out += String(value)
    case .string(let text, let length):
      append(json: text, to: &out)
      if let length { out += cutMark(length) }
    case .masked: out += FieldValue.maskedText
    case .identifier(let low, let high): out += hexadecimal(low, high)
    case .list(let values):
      out += "["
      for (place, value) in values.enumerated() {
        if place > 0 { out += ", " }
        append(text: value, to: &out)
      }
      out += "]"
    case .object(let fields):
      out += "{"
      for (place, field) in fields.enumerated() {
        if place > 0 { out += ", " }
        out += printable(field.name) + ": "
        append(text: field.value, to: &out)
      }
      out += "}"
    }
  }

  /// 16 digits, or 32 with a high word.
  package static func hexadecimal(_ low: UInt64, _ high: UInt64? = nil) -> String {
    (high.map { padded($0, 16, radix: 16) } ?? "") + padded(low, 16, radix: 16)
  }

  private static func cutMark(_ length: Int) -> String { "… (\(length) B)" }

  /// The text with control characters shown, so that an event cannot drive the terminal.
  package static func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0 < " " || $0 >= "\u{7f}" && $0 < "\u{a0}" }) else { return text }
    var out = ""
    append(json: text, to: &out)
    return String(out.dropFirst().dropLast())
  }

  // MARK: Time

  /// A length of time with three digits, as conditions spell it: 750ns, 4.12us, 17.5ms, 2.35s.
  static func time(_ nanoseconds: UInt64) -> String {
    let units: [(Double, String)] = [(1e9, "s"), (1e6, "ms"), (1e3, "us")]
    guard let (length, name) = units.first(where: { Double(nanoseconds) >= $0.0 }) else { return "\(nanoseconds)ns" }
    let value = Double(nanoseconds) / length
    if value >= 100 { return "\(Int(value))\(name)" }
    let steps = value < 10 ? 100.0 : 10.0
    return "\((value * steps).rounded() / steps)\(name)"
  }

  /// RFC 3339 in UTC with microseconds, of nanoseconds since 1970: 2026-01-31T07:05:09.001234Z.
  package static func rfc3339(_ wall: UInt64) -> String {
    let seconds = wall / 1_000_000_000
    let (year, month, day) = date(daysSince1970: Int(seconds / 86_400))
    let time = seconds % 86_400
    return padded(UInt64(year), 4) + "-" + padded(UInt64(month), 2) + "-" + padded(UInt64(day), 2) + "T"
      + padded(time / 3600, 2) + ":" + padded(time / 60 % 60, 2) + ":" + padded(time % 60, 2) + "."
      + padded(wall % 1_000_000_000 / 1000, 6) + "Z"
  }

  /// Nanoseconds since 1970 of an RFC 3339 time; a date alone is its first moment in UTC, seconds
  /// and offset may be left out. nil when it is none.
  package static func nanoseconds(rfc3339 text: String) -> UInt64? {
    let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
      .flatMap { $0.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false) }
    let date = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count <= 2, date.count == 3, let year = date[0], let month = date[1], let day = date[2],
      (1970...2260).contains(year), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    guard let time = parts.count == 2 ? nanosecondsOfDay(parts[1]) : 0 else { return nil }
    let total = days(year, month, day) * 86_400 * 1_000_000_000 + time
    return total >= 0 ? UInt64(total) : nil
  }

  /// HH:MM[:SS[.fraction]][Z|±HH:MM]
  private static func nanosecondsOfDay(_ text: Substring) -> Int? {
    var clock = text
    var offset = 0
    if clock.hasSuffix("Z") || clock.hasSuffix("z") {
      clock.removeLast()
    } else if let sign = clock.lastIndex(where: { $0 == "+" || $0 == "-" }) {
      let zone = clock[clock.index(after: sign)...].split(separator: ":").map { Int($0) }
      guard zone.count == 2, let hours = zone[0], let minutes = zone[1], hours < 24, minutes < 60 else { return nil }
      offset = (hours * 60 + minutes) * 60 * (clock[sign] == "-" ? -1 : 1)
      clock = clock[..<sign]
    }
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let hour = Int(parts[0]), let minute = Int(parts[1]),
      (0..<24).contains(hour), (0..<60).contains(minute),
      let second = parts.count == 3 ? Double(parts[2]) : 0, second >= 0, second < 61
    else { return nil }
    return ((hour * 60 + minute) * 60 - offset) * 1_000_000_000 + Int((second * 1e9).rounded())
  }

  /// Days since 1970 of a date, by counting from March, so that leap days come last.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func padded(_ value: UInt64, _ width: Int, radix: Int = 10) -> String {
    let digits = String(value, radix: radix)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
