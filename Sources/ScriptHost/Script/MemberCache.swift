// MemberCache — what a name means for objects of a class, found once per state.
//
// Guarded by the state's lock: every use comes from a call of Lua. The lock is given back while names are looked up, which
// takes milliseconds and is not the script's time.
internal import CLuaShim
private import Glibc
internal import HookRuntime
internal import LuaBridge

/// What `object.name` is.
enum ObjectMember {
  case field(StoredField)
  /// Stored where there is a field. No setter where `set` is nil.
  case property(StoredField?, get: Result<BoundCall, CallError>, set: Result<BoundCall, CallError>?, isObserved: Bool)
  /// A method of that base name; which one, the number of arguments tells.
  case methods([Method])
  case missing(String)

  enum Method {
    case callable(BoundCall)
    /// Takes this number of arguments, or nobody knows, and cannot be called.
    case refused(selector: String, CallError)
  }
}

final class MemberCache {
  private struct Key: Hashable {
    var type: UInt
    var name: String
    var isStatic: Bool
  }

  /// A member with what every use of it asks for: taking the enum apart would count a reference for each of its parts.
  final class Found {
    enum Use { case field, getter, method, other }
    let member: ObjectMember
    let use: Use
    /// The getter, or the only method of the name.
    let bound: BoundCall?
    /// A stored field that lies in the object as any value of its type.
    let fieldType: TypeInfo?
    let fieldOffset: Int
    /// It is a `let`: what lies there stays as long as the object.
    let fieldIsFixed: Bool
    let ownerType: TypeInfo?

    init(_ member: ObjectMember, of type: Metadata) {
      self.member = member
      var field: StoredField?
      switch member {
      case .field(let stored), .property(.some(let stored), _, _, _):
        field = stored
        (use, bound) = (.field, nil)
      case .property(nil, .success(let get), _, _): (use, bound) = (.getter, get)
      case .methods(let methods):
        if methods.count == 1, case .callable(let only) = methods[0] { bound = only } else { bound = nil }
        use = .method
      case .property, .missing: (use, bound) = (.other, nil)
      }
      if let stored = field, case .value = stored.reference { fieldType = try? stored.type.get() } else { fieldType = nil }
      fieldOffset = field?.offset ?? 0
      fieldIsFixed = field?.isVar == false
      ownerType = try? TypeResolver.shared.type(of: type).get()
    }
  }

  /// Why a member of a type, both by name, may not be read or used; nil: all may. Set before any script runs.
  var refusal: ((_ type: String, _ member: String) -> String?)?

  /// `found` keeps the members.
  private let recent = RecentNames<Unmanaged<Found>>(count: 256)
  private var found: [Key: Found] = [:]
  private var sends: [Key: BoundCall] = [:]
  /// What was not there, with the count of changes of the images then: another image may bring it.
  private var missing: [Key: (error: CallError, changes: UInt64)] = [:]
  private var functions: [String: Callable] = [:]
  private var types: [String: Metadata] = [:]

  /// Looks something up with the state's lock given back.
  private func away<T>(_ callback: LuaCallback, for name: String, _ look: () -> T) throws(CallError) -> T {
    let unlocked = shl_unlock_working(callback.scope)
    let found = LimitedWork.doing(.lookup, "looking for '\(name)'", look)
    guard shl_relock(callback.scope, unlocked) == SHL_OK else { throw .notFound("the state was given up") }
    if callback.isStopped { throw .notFound("the lookup was given up") }
    return found
  }

  /// The member `name` of instances of `type` (or of the type itself).
  func member(_ name: UnsafeRawBufferPointer, of type: Metadata, isStatic: Bool = false, _ callback: LuaCallback) throws(CallError) -> Found
  {
    let address = UInt(bitPattern: type.pointer)
    // Metadata is aligned.
    let names = isStatic ? address | 1 : address
    if let known = recent.find(name, of: names) { return known.takeUnretainedValue() }
    let key = Key(type: address, name: String(decoding: name, as: UTF8.self), isStatic: isStatic)
    let member: Found
    if let known = found[key] {
      member = known
    } else if let why = refusal?(CallCheck.name(type), LuaWord.swiftName(key.name)) {
      return Found(.missing(why), of: type)
    } else {
      member = try away(callback, for: key.name) { Found(Self.find(key.name, type, isStatic), of: type) }
    }
    // What is missing may come with another image.
    if case .missing = member.member { return member }
    found[key] = member
    recent.remember(.passUnretained(member), name, of: names)
    return member
  }

  /// The function an exact member name means for instances of `type` (or the type itself).
  func bound(_ member: String, of type: Metadata, isStatic: Bool, _ callback: LuaCallback) throws(CallError) -> BoundCall {
    let key = Key(type: UInt(bitPattern: type.pointer), name: member, isStatic: isStatic)
    if let known = sends[key] { return known }
    let changes = LoadedImages.changeCount
    if let absence = missing[key], absence.changes == changes { throw absence.error }
    let found: Result<BoundCall, CallError> = try away(callback, for: member) {
      do throws(CallError) {
        let callable = try CallableLookup.shared.callable(member, of: type, isStatic: isStatic).forScripts()
        if callable.owner != nil { try CallCheck.type(type, for: callable) }
        return .success(BoundCall(callable: callable, entry: VirtualCall.entry(of: callable, for: type)))
      } catch { return .failure(error) }
    }
    if case .failure(let error) = found, case .noMember = error {
      if missing.count >= 1000 { missing = [:] }
      missing[key] = (error, changes)
    }
    let bound = try found.get()
    sends[key] = bound
    return bound
  }

  /// The type of that name.
  func type(_ name: String, _ callback: LuaCallback) throws(CallError) -> Metadata {
    if let known = types[name] { return known }
    let found: Result<Metadata, CallError> = try away(callback, for: name) {
      if let type = TypeCatalog.shared.descriptor(name)?.metadata() { return .success(type) }
      return .failure(.notFound(SelectorLookup.typeProblem(name) ?? "type '\(name)' is generic; its type arguments are not in its name"))
    }
    let type = try found.get()
    types[name] = type
    return type
  }

  /// The function an exact selector means.
  func function(_ selector: String, _ callback: LuaCallback) throws(CallError) -> Callable {
    if let known = functions[selector] { return known }
    let found: Result<Callable, CallError> = try away(callback, for: selector) {
      do throws(CallError) { return .success(try CallableLookup.shared.callable(selector).forScripts()) } catch { return .failure(error) }
    }
    let callable = try found.get()
    functions[selector] = callable
    return callable
  }

  // MARK: Finding

  private static func find(_ written: String, _ type: Metadata, _ isStatic: Bool) -> ObjectMember {
    let name = LuaWord.swiftName(written)
    let field = isStatic ? nil : FieldAccess.find(name, in: type)
    func bind(_ callable: Callable) -> BoundCall { BoundCall(callable: callable, entry: VirtualCall.entry(of: callable, for: type)) }
    switch CallableLookup.shared.member(name, of: type, isStatic: isStatic) {
    case .property(let get, let set, let isObserved)?:
      return .property(field, get: get.map(bind), set: set?.map(bind), isObserved: isObserved)
    case .methods(let selectors)? where field == nil:
      return .methods(
        selectors.map { selector in
          do throws(CallError) { return .callable(bind(try CallableLookup.shared.callable(selector, on: type).forScripts())) } catch {
            return .refused(selector: selector, error)
          }
        })
    default: break
    }
    if let field { return .field(field) }
    let typeName = CallCheck.name(type)
    if isStatic { return .missing("\(typeName) has no static member '\(name)' that can be called") }
    let known = StoredField.names(in: type)
    return .missing(
      "\(typeName) has no stored field, property or method '\(name)'"
        + (known.isEmpty ? "" : "; its stored fields are \(known.prefix(12).joined(separator: ", "))")
    )
  }
}

extension ObjectMember {
  /// The one method that takes so many arguments; an error that says why there is none, or which there are.
  static func choose(_ methods: [Method], named name: String, arguments: Int) throws(CallError) -> BoundCall {
    if methods.count == 1, case .callable(let bound) = methods[0] { return bound }  // the call counts its arguments
    var fitting: [BoundCall] = []
    var refused: CallError?
    var selectors: [String] = []
    for method in methods {
      switch method {
      case .callable(let bound):
        selectors.append(bound.callable.selector)
        if bound.callable.argumentCount == arguments { fitting.append(bound) }
      case .refused(let selector, let error):
        selectors.append(selector)
        refused = refused ?? error
      }
    }
    if methods.count == 1, let refused { throw refused }
    // Whether one that cannot be called takes as many is not asked: it could not be meant.
    if fitting.count == 1 { return fitting[0] }
    throw .notFound(
      "'\(name)' is ambiguous with \(arguments) argument\(arguments == 1 ? "" : "s"): "
        + selectors.prefix(6).map { "'\($0)'" }.joined(separator: ", ") + "; name one with swift.send")
  }
}

/// Names of Swift that are words of Lua are written with an underscore behind them.
enum LuaWord {
  private static let words: Set<String> = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or", "repeat",
    "return", "then", "true", "until", "while",
  ]
  static func swiftName(_ written: String) -> String {
    written.hasSuffix("_") && words.contains(String(written.dropLast())) ? String(written.dropLast()) : written
  }
}
