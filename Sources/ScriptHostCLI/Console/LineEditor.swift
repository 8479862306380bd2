// LineEditor — one line of input on a terminal: cursor keys, history, completion, colours. Lines that go on are joined by the caller.
internal import Glibc
internal import Journal
internal import LuaSyntax

/// The terminal in raw mode; as it was when the editor goes.
final class LineEditor {
  enum Input: Equatable {
    case line(String)
    /// Ctrl-C.
    case interrupt
    /// Ctrl-D on an empty line.
    case end
    /// There is nobody any more whom a line would go to.
    case gone
  }

  private var former = termios()
  private let isRaw: Bool
  private let hasColour: Bool
  /// Oldest first.
  private(set) var history: [String] = []
  /// Asked for the text before the cursor; answers words and where the word begins, in bytes.
  var complete: (String) -> (words: [String], start: Int) = { _ in ([], 0) }

  /// What else is written on the terminal, above the line that is edited.
  var beside: [any LiveText] = []
  /// Nobody is there any more whom a line would go to. Asked again when something came from those beside.
  var isOver: () -> Bool = { false }
  /// Receives what went into the history.
  var entered: (String) -> Void = { _ in }

  private var line: [Character] = []
  private var cursor = 0
  private var prompt = ""
  private var pending: [UInt8] = []

  init(history: [String]) {
    self.history = history
    isRaw = tcgetattr(STDIN_FILENO, &former) == 0
    hasColour = getenv("NO_COLOR") == nil && getenv("TERM").map { String(cString: $0) } != "dumb"
  }

  private func enterRaw() {
    guard isRaw else { return }
    var mode = former
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    mode.c_iflag &= ~tcflag_t(IXON | ICRNL | BRKINT)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
  }

  private func leaveRaw() { if isRaw { tcsetattr(STDIN_FILENO, TCSADRAIN, &former) } }

  /// Reads one line; the terminal is raw meanwhile.
  func read(_ prompt: String) -> Input {
    self.prompt = prompt
    line = []
    cursor = 0
    var place = history.count
    var kept: [Character] = []
    enterRaw()
    defer { leaveRaw() }
    draw()
    while let key = key() {
      switch key {
      case .character(let character): insert(character)
      case .enter:
        cursor = line.count
        draw()
        put("\r\n")
        return .line(String(line))
      case .interrupt:
        put("^C\r\n")
        return .interrupt
      case .end:
        if line.isEmpty {
          put("\r\n")
          return .end
        }
        if cursor < line.count { line.remove(at: cursor) }
      case .backspace: if cursor > 0 { cursor -= 1; line.remove(at: cursor) }
      case .delete: if cursor < line.count { line.remove(at: cursor) }
      case .left: cursor = max(0, cursor - 1)
      case .right: cursor = min(line.count, cursor + 1)
      case .home: cursor = 0
      case .toEnd: cursor = line.count
      case .up, .down:
        let next = place + (key == .up ? -1 : 1)
        guard (0...history.count).contains(next) else { break }
        if place == history.count { kept = line }
        place = next
        line = place == history.count ? kept : Array(history[place])
        cursor = line.count
      case .wordBack:
        while cursor > 0, line[cursor - 1].isWhitespace { cursor -= 1; line.remove(at: cursor) }
        while cursor > 0, !line[cursor - 1].isWhitespace { cursor -= 1; line.remove(at: cursor) }
      case .killLine: line.removeSubrange(cursor...)
      case .killAll:
        line.removeSubrange(..<cursor)
        cursor = 0
      case .clear: put("\u{1B}[2J\u{1B}[H")
      case .tab: completeWord()
      case .other: break
      }
      draw()
    }
    guard isOver() else { return .end }
    // What was typed stays on the screen.
    put(line.isEmpty ? "\r\u{1B}[K" : "\r\n")
    return .gone
  }

  /// Puts an input into the history, as one entry even when it has several lines.
  func remember(_ text: String) {
    guard !text.allSatisfy(\.isWhitespace), history.last != text else { return }
    history.append(text)
    entered(text)
  }

  private func insert(_ character: Character) {
    line.insert(character, at: cursor)
    cursor += 1
  }

  // MARK: Completion

  private func completeWord() {
    let before = String(line[..<cursor])
    if before.allSatisfy(\.isWhitespace) {
      insert(" ")
      return insert(" ")
    }
    let (words, start) = complete(before)
    guard let first = words.first else { return }
    let typed = String(decoding: Array(before.utf8).dropFirst(start), as: UTF8.self)
    var common = first
    for word in words { common = String(zip(common, word).prefix { $0 == $1 }.map(\.0)) }
    if common.count > typed.count {
      for character in common.dropFirst(typed.count) { insert(character) }
    } else if words.count > 1 {
      put("\r\n" + columns(words) + "\r\n")
    }
  }

  private func columns(_ words: [String]) -> String {
    let shown = words.prefix(60)
    let width = min(76, (shown.map(\.count).max() ?? 0) + 2)
    let perLine = max(1, columnsOfTerminal / width)
    var text = ""
    for (index, word) in shown.enumerated() {
      if index > 0, index % perLine == 0 { text += "\r\n" }
      text += word.padded(to: width, least: 1)
    }
    return text + (words.count > shown.count ? "\r\n… \(words.count - shown.count) more" : "")
  }

  private var columnsOfTerminal: Int {
    var size = winsize()
    return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  // MARK: Drawing

  /// Draws the line; one that is wider than the terminal is shown around the cursor.
  private func draw() {
    let room = max(10, columnsOfTerminal - prompt.count - 1)
    let first = max(0, cursor - room + 1)
    let shown = String(line[first...].prefix(room))
    // An input of several lines from the history stands in one.
    put("\r\u{1B}[K" + prompt + (hasColour ? Colours.coloured(shown) : shown).replacing("\n", with: "↵") + "\r")
    let column = prompt.count + cursor - first
    if column > 0 { put("\u{1B}[\(column)C") }
  }

  private func put(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = write(STDOUT_FILENO, bytes.baseAddress! + done, bytes.count - done)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return }
        done += count
      }
    }
  }

  // MARK: Keys

  private enum Key: Equatable {
    case character(Character)
    case enter, interrupt, end, backspace, delete, left, right, home, toEnd, up, down, wordBack, killLine, killAll, clear, tab, other
  }

  private func byte() -> UInt8? {
    if !pending.isEmpty { return pending.removeFirst() }
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      if isOver() { return nil }
      if !beside.isEmpty, !waitForInput() { continue }
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      pending = Array(buffer[1..<count])
      return buffer[0]
    }
  }

  /// Waits for the keyboard or for what is shown beside the line, and shows that. False: there is no input yet.
  private func waitForInput() -> Bool {
    var polled = ([STDIN_FILENO] + beside.map(\.wakes)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard poll(&polled, nfds_t(polled.count), -1) > 0 else { return false }
    for (place, each) in beside.enumerated() where polled[place + 1].revents != 0 {
      guard let text = each.take() else { continue }
      put("\r\u{1B}[K" + text.replacing("\n", with: "\r\n") + (text.hasSuffix("\n") ? "" : "\r\n"))
      draw()
    }
    return polled[0].revents != 0
  }

  private func key() -> Key? {
    guard let first = byte() else { return nil }
    switch first {
    case 13, 10: return .enter
    case 3: return .interrupt
    case 4: return .end
    case 8, 127: return .backspace
    case 1: return .home
    case 5: return .toEnd
    case 2: return .left
    case 6: return .right
    case 16: return .up
    case 14: return .down
    case 23: return .wordBack
    case 11: return .killLine
    case 21: return .killAll
    case 12: return .clear
    case 9: return .tab
    case 27: return escape()
    case 0..<32: return .other
    default: return .character(character(first))
    }
  }

  /// The rest of a character in UTF-8.
  private func character(_ first: UInt8) -> Character {
    var bytes = [first]
    let more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0
    for _ in 0..<more { if let next = byte() { bytes.append(next) } }
    return String(decoding: bytes, as: UTF8.self).first ?? "?"
  }

  private func escape() -> Key {
    guard let second = byte(), second == UInt8(ascii: "[") || second == UInt8(ascii: "O"), var last = byte() else { return .other }
    var number: [UInt8] = []
    while (0x30...0x3B).contains(last) {
      number.append(last)
      guard let next = byte() else { return .other }
      last = next
    }
    switch (Unicode.Scalar(last), number.first.map { Unicode.Scalar($0) }) {
    case ("A", _): return .up
    case ("B", _): return .down
    case ("C", _): return .right
    case ("D", _): return .left
    case ("H", _), ("~", "1"), ("~", "7"): return .home
    case ("F", _), ("~", "4"), ("~", "8"): return .toEnd
    case ("~", "3"): return .delete
    default: return .other
    }
  }
}

/// Lua in colours of the terminal.
enum Colours {
  static func coloured(_ text: String) -> String {
    let source = SourceText(text)
    var out = ""
    var end = 0
    for token in Lexer.tokens(source) {
      out += source[end..<token.range.lowerBound]
      end = token.range.upperBound
      let shown = source[token.range]
      switch token.kind {
      case .keyword: out += "\u{1B}[1;34m\(shown)\u{1B}[0m"
      case .string: out += "\u{1B}[32m\(shown)\u{1B}[0m"
      case .number: out += "\u{1B}[36m\(shown)\u{1B}[0m"
      case .comment: out += "\u{1B}[2m\(shown)\u{1B}[0m"
      case .invalid: out += "\u{1B}[31m\(shown)\u{1B}[0m"
      default: out += shown
      }
    }
    return out
  }
}
