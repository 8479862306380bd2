// BootSettings — what the command tells the library that boots inside a program.
//
// The settings travel through one environment variable, SCRIPTHOST_BOOT, as
//
//     1;key=value;key=value;…
//
// where every byte of a value outside the plain printable ones, and '%', ';' and '='
// too, is written %xx (lower case). So any path survives, a key may come several
// times, an empty value differs from a missing one, and the C stub can read it.
//
// Keep in step with Sources/ScriptHostPreload/preload.c: the encoding, and the keys
// boot, target, program, command, preload, follow and close.

/// Settings for one start of a program: keys with values, in order, each key any number of times.
package struct BootSettings: Equatable, Sendable {
  /// The name of a setting: lower-case letters, digits, '.', '-' and '_'.
  package struct Key: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
    package init(_ name: String) { rawValue = name }
  }

  /// One key with one value; values are bytes because paths are.
  package struct Entry: Equatable, Sendable {
    package let key: Key
    package let value: [UInt8]
  }

  /// Everything that was set, in the order it was set.
  package private(set) var entries: [Entry] = []

  package init() {}
}

extension BootSettings.Key {
  /// Path of libScriptHostBoot.so, opened by the preload stub.
  package static let boot = Self("boot")
  /// The program that is meant, "device:inode" in decimal.
  package static let target = Self("target")
  /// The program that is meant, as an absolute path without symbolic links.
  package static let program = Self("program")
  /// The `scripthost` command itself, "device:inode": never booted, also not as a followed child.
  package static let command = Self("command")
  /// LD_PRELOAD as the user had it: no entry when it was not set, an empty value when it was empty.
  package static let preload = Self("preload")
  /// Present when children are followed: the environment then keeps both variables.
  package static let follow = Self("follow")
  /// A descriptor the stub closes: the way to preload a file whose path LD_PRELOAD cannot spell.
  package static let close = Self("close")
  /// A directory with patches; several, in the order of the command line.
  package static let patches = Self("patches")
  /// A file with settings of patches by their ids.
  package static let config = Self("config")
  /// The state directory; the journal is in its folder "journal".
  package static let state = Self("state")
  /// How many bytes the journal of this process keeps.
  package static let journalSize = Self("journal.size")
  /// For how many nanoseconds at least it keeps records.
  package static let journalAge = Self("journal.age")
  /// Where events go besides the journal: "fd:N" or a path.
  package static let events = Self("events")
  /// Present when messages of patches are printed on stderr as they happen.
  package static let verbose = Self("verbose")
  /// "yes" when stderr is a terminal that shows colour, else "no".
  package static let colour = Self("colour")
  /// Width of the terminal on stderr in columns; no entry when it is none.
  package static let columns = Self("columns")
  /// Build-id of the program in hexadecimal, as the command read it.
  package static let buildID = Self("build-id")

  /// A stall of main thread, event loops or pool is one from so many nanoseconds on.
  package static let stalls = Self("stalls")
  /// "off" when the process is not to be controlled from outside.
  package static let control = Self("control")
  /// Present when patches are loaded again as their files change.
  package static let watch = Self("watch")

  /// Threads that run are asked for their stacks so many times a second.
  package static let profile = Self("profile")

  /// Present when requests over the network are recorded.
  package static let network = Self("network")

  /// Present when the program waits before its `main` until it is let go.
  package static let hold = Self("hold")
  /// Where separate debug files are, besides the usual places; several.
  package static let debugDirectory = Self("debug-dir")
  /// The policy file.
  package static let policy = Self("policy")
  /// How much of the process's time a hook may take, such as "5%", where headers name nothing.
  package static let maxShare = Self("max-share")

  /// Options of `trace`, opaque here: "trace.match", "trace.depth" and so on.
  package static func trace(_ option: String) -> Self { Self("trace." + option) }
  /// Present when the program is to be judged and ended before its `main` (`scripthost coverage`).
  package static let coverage = Self("coverage")
  /// A library to judge instead of the program; any number.
  package static let coverageLibrary = Self("coverage.library")
  /// Present when every selector is listed.
  package static let coverageList = Self("coverage.list")
  /// Present when the list tells registers and stack slots.
  package static let coveragePlaces = Self("coverage.places")
  /// Present when JSON is wanted.
  package static let coverageJSON = Self("coverage.json")
  /// Present when the tests of the patches are run and the process ends: "text" or "json".
  package static let test = Self("test")
  /// How patches whose headers say nothing are tried in a child before they go live: "boot" or "test"; "off": none is, whatever headers say.
  package static let canary = Self("canary")
  /// Functions, as patterns, whose calls are recorded for canaries; several.
  package static let recordCalls = Self("record.calls")
  /// Present in such a child: a CanaryKind.
  package static let canaryChild = Self("canary.child")
  /// Path of the preload stub, for processes that are started under the host from inside.
  package static let stub = Self("stub")
  /// Present when the start is a trace.
  package static let trace = Self("trace")
}

// MARK: Reading and writing values

extension BootSettings {
  /// Whether the key is there, with whatever value.
  package func has(_ key: Key) -> Bool { entries.contains { $0.key == key } }

  /// The first value of the key.
  package func bytes(_ key: Key) -> [UInt8]? { entries.first { $0.key == key }?.value }

  /// All values of the key, in order.
  package func allBytes(_ key: Key) -> [[UInt8]] {
    entries.lazy.filter { $0.key == key }.map(\.value)
  }

  /// The first value of the key as text; bytes that are no UTF-8 are shown as U+FFFD, so a path
  /// that is to be opened is read with `bytes` instead.
  package func text(_ key: Key) -> String? { bytes(key).map { String(decoding: $0, as: UTF8.self) } }

  /// All values of the key as text, in order.
  package func texts(_ key: Key) -> [String] {
    allBytes(key).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Adds a value; earlier ones of the same key stay.
  package mutating func add(_ key: Key, _ value: [UInt8] = []) {
    entries.append(Entry(key: key, value: value))
  }

  /// Adds a text; earlier values of the same key stay.
  package mutating func add(_ key: Key, _ value: String) { add(key, Array(value.utf8)) }

  /// Takes all values of the key out.
  package mutating func remove(_ key: Key) { entries.removeAll { $0.key == key } }
}

// MARK: Encoding

/// Why a text is no encoded settings.
package enum BootSettingsError: Error, Equatable, Sendable {
  /// It starts with another version than "1;".
  case otherVersion(found: String)
  /// An entry has no '=', or a name with bytes that names do not have.
  case badEntry(position: Int)
  /// A '%' is not followed by two lower-case hexadecimal digits.
  case badEscape(position: Int)
}

extension BootSettingsError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .otherVersion(let found):
      "SCRIPTHOST_BOOT: expected version '1', found '\(found)'; use the command and the library of one build"
    case .badEntry(let position):
      "SCRIPTHOST_BOOT: no 'key=value' at byte \(position)"
    case .badEscape(let position):
      "SCRIPTHOST_BOOT: '%' at byte \(position) is not followed by two hexadecimal digits"
    }
  }
}

extension BootSettings {
  private static let version: [UInt8] = Array("1;".utf8)
  private static let digits: [UInt8] = Array("0123456789abcdef".utf8)

  /// The text for SCRIPTHOST_BOOT: printable ASCII without a NUL.
  package func encoded() -> String {
    var out = Self.version
    for entry in entries {
      out += entry.key.rawValue.utf8
      out.append(UInt8(ascii: "="))
      for byte in entry.value { Self.append(escaped: byte, to: &out) }
      out.append(UInt8(ascii: ";"))
    }
    return String(decoding: out, as: UTF8.self)
  }

  private static func append(escaped byte: UInt8, to out: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "%"), UInt8(ascii: ";"), UInt8(ascii: "="), 0...0x20, 0x7f...0xff:
      out.append(UInt8(ascii: "%"))
      out.append(digits[Int(byte >> 4)])
      out.append(digits[Int(byte & 15)])
    default:
      out.append(byte)
    }
  }

  /// Reads what `encoded()` wrote.
  package init(decoding text: some Sequence<UInt8>) throws(BootSettingsError) {
    let text = Array(text)
    guard text.starts(with: Self.version) else {
      throw .otherVersion(found: String(decoding: text.prefix { $0 != UInt8(ascii: ";") }.prefix(16), as: UTF8.self))
    }
    var position = Self.version.count
    while position < text.count {
      let end = text[position...].firstIndex(of: UInt8(ascii: ";")) ?? text.count
      guard let equals = text[position..<end].firstIndex(of: UInt8(ascii: "=")), equals > position,
        text[position..<equals].allSatisfy(Self.isNameByte)
      else { throw .badEntry(position: position) }
      let key = Key(String(decoding: text[position..<equals], as: UTF8.self))
      entries.append(Entry(key: key, value: try Self.unescape(text[(equals + 1)..<end])))
      position = end + 1
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func unescape(_ text: ArraySlice<UInt8>) throws(BootSettingsError) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(text.count)
    var position = text.startIndex
    while position < text.endIndex {
      if text[position] != UInt8(ascii: "%") {
        out.append(text[position])
        position += 1
        continue
      }
      guard position + 2 < text.endIndex, let high = digits.firstIndex(of: text[position + 1]),
        let low = digits.firstIndex(of: text[position + 2])
      else { throw .badEscape(position: position) }
      out.append(UInt8(high << 4 | low))
      position += 3
    }
    return out
  }
}
