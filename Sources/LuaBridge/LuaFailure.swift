// LuaFailure — what went wrong in a script or on the way into it, as facts.

package import CLuaShim

/// A call into a Lua state that did not end well.
public struct LuaFailure: Error, Equatable, Sendable {
  /// Whose fault it was, and which.
  public enum Reason: Equatable, Sendable {
    /// The script raised an error.
    case script
    /// The source does not compile; with `moreInput` it only ended too early.
    case syntax(moreInput: Bool)
    /// Binary chunk, UTF-16, NUL byte, too long, too complex: not given to the compiler.
    case refusedSource
    /// The call consumed its instructions.
    case instructions
    /// The call consumed its wall-clock time.
    case time
    /// The state passed its memory limit.
    case memory
    /// The system had no memory for us.
    case noMemory
    /// Another thread was inside for too long; nothing ran.
    case busy
    /// The thread has too little C stack left; nothing ran.
    case stackLow
    /// Scripts and program have called each other too deeply; nothing ran.
    case tooDeep
    /// The state was given up earlier; nothing ran.
    case poisoned
    /// A value cannot be passed. Our mistake, or the caller's.
    case badArgument
    /// Lua 5.4 could not be found or opened.
    case noLibrary
  }

  public let reason: Reason
  /// One line, escaped, with file and line in front where they are known.
  public let message: String
  /// Chunk name of the innermost Lua code, empty when unknown.
  public let source: String
  /// 1-based line in `source`, 0 when unknown.
  public let line: Int
  /// Innermost first.
  public let traceback: [String]

  package init(
    _ reason: Reason, _ message: String, source: String = "", line: Int = 0, traceback: [String] = []
  ) {
    self.reason = reason
    self.message = message
    self.source = source
    self.line = line
    self.traceback = traceback
  }

  /// Takes over a record made by the shim and frees it.
  package init(
    _ status: SHLStatus, consuming error: UnsafeMutablePointer<SHLError>?, of state: OpaquePointer?
  ) {
    guard let error else {
      self.init(Reason(status, moreInput: false), String(cString: shl_status_text(status)))
      return
    }
    self.init(
      Reason(status, moreInput: error.pointee.more_input),
      text(of: error, \.message), source: text(of: error, \.source), line: Int(error.pointee.line),
      traceback: text(of: error, \.traceback).split(separator: "\n").map(String.init))
    shl_error_free(state, error)
  }
}

extension LuaFailure: CustomStringConvertible {
  public var description: String { message }
}

extension LuaFailure.Reason {
  package init(_ status: SHLStatus, moreInput: Bool) {
    switch status {
    case SHL_SYNTAX: self = .syntax(moreInput: moreInput)
    case SHL_REFUSED_SOURCE: self = .refusedSource
    case SHL_KILLED_INSTRUCTIONS: self = .instructions
    case SHL_KILLED_TIME: self = .time
    case SHL_KILLED_MEMORY: self = .memory
    case SHL_NO_MEMORY: self = .noMemory
    case SHL_BUSY: self = .busy
    case SHL_STACK_LOW: self = .stackLow
    case SHL_TOO_DEEP, SHL_STOPPING: self = .tooDeep
    case SHL_POISONED: self = .poisoned
    case SHL_BAD_ARGUMENT: self = .badArgument
    default: self = .script
    }
  }
}

/// The NUL-ended text in a fixed array of the record; the shim has made it valid UTF-8.
private func text<Field>(
  of error: UnsafeMutablePointer<SHLError>, _ field: KeyPath<SHLError, Field>
) -> String {
  guard let offset = MemoryLayout<SHLError>.offset(of: field) else { return "" }
  let start = UnsafeRawPointer(error) + offset
  return String(cString: start.assumingMemoryBound(to: CChar.self))
}
