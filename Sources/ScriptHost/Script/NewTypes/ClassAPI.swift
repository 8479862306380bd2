// ClassAPI — `class "Shop.Cart"`, and `class.define("FastCart", { super = "Shop.Cart", methods = { … } })`.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import Journal
internal import LuaBridge

enum ClassAPI {
  /// `class` is called, and has a field.
  static func register(_ patch: Environment, _ context: UnsafeMutableRawPointer, _ handleClass: UInt32, _ check: (SHLStatus) -> Void) {
    var budget = SHLBudget(instructions: -1, wall_ns: -1, lock_ns: -1)
    withUnsafeTemporaryAllocation(of: SHLInvocation.self, capacity: 1) { invocation in
      let invocation = invocation.baseAddress!
      let status = shl_enter(patch.state, &budget, invocation)
      guard status == SHL_OK else { return check(status) }
      // A scope is what an invocation begins with.
      let scope = UnsafeMutableRawPointer(invocation).assumingMemoryBound(to: SHLScope.self)
      patch.defineFunction = shl_keep(scope, shl_function(scope, define, context))
      check(patch.defineFunction == 0 ? SHL_NO_MEMORY : shl_set_global(scope, "class", shl_handle(handleClass, 0, 0, 0)))
      shl_invoke_end(invocation)
    }
  }

  static let index: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback.name == "define" else {
        return callback.fail("'class' has no field '\(callback.name ?? "?")'; it has define, and is called: class \"Shop.Cart\"")
      }
      return callback.done(shl_ref_value(patch.defineFunction))
    }
  }

  // MARK: class.define

  /// What the second argument says.
  private struct Description {
    var superclass: String?
    var members: [(name: String, function: SHLRef, info: SHLFunctionInfo)] = []
    var ending: (function: SHLRef, info: SHLFunctionInfo)?
    var fields: [RuntimeClass.Field] = []
    var missesDirectCalls = false
  }

  private static let define: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      if let refusal = patch.refusal("a class made here", callback.text(0) ?? "") { return callback.fail(refusal) }
      guard let name = callback.text(0), callback[1].tag == SHL_TABLE else {
        return callback.fail(
          "'class.define' takes a name and a table: class.define(\"FastCart\", { super = \"Shop.Cart\", methods = { … } })")
      }
      var description = Description()
      if let problem = read(callback[1], of: name, &description, patch, callback) {
        forget(description, patch)
        return problem.isEmpty ? -1 : callback.fail("class.define(\"\(name)\"): \(problem)")
      }
      do throws(CallError) {
        guard let superclass = description.superclass else { throw .notFound("'super' is missing: the class to inherit from") }
        return make(name, try patch.callIns.type(superclass, callback), description, patch, callback)
      } catch {
        forget(description, patch)
        return callback.fail("class.define(\"\(name)\"): \(error)")
      }
    }
  }

  private static func forget(_ description: Description, _ patch: Environment) {
    for member in description.members { shl_forget(patch.state, member.function) }
    if let ending = description.ending { shl_forget(patch.state, ending.function) }
  }

  /// - Returns: what is wrong; an empty text when that was reported already.
  private static func read(_ table: SHLValue, of name: String, _ description: inout Description, _ patch: Environment, _ callback: LuaCallback)
    -> String?
  {
    var problem: String?
    callback.forEach(in: table) { key, value in
      switch (key.text, value.tag) {
      case ("super"?, SHL_STRING): description.superclass = value.text
      case ("super"?, SHL_HANDLE) where value.cls == patch.classes.type: description.superclass = patch.classNames[Int(value.h.a)]
      case ("methods"?, SHL_TABLE):
        guard let found = SynthesizedMethodHook.functions(of: value, in: "class.define(\"\(name)\"): methods", patch, callback) else {
          problem = ""
          return false
        }
        description.members = found
      case ("deinit"?, SHL_FUNCTION):
        var info = SHLFunctionInfo()
        let function = shl_keep(callback.scope, value)
        if function == 0 || !shl_function_info(callback.scope, value, &info) { problem = "out of memory" }
        description.ending = (function, info)
      case ("fields"?, SHL_TABLE): problem = readFields(value, &description, patch, callback)
      case ("direct_calls"?, SHL_STRING) where value.text == "miss": description.missesDirectCalls = true
      case ("direct_calls"?, _): problem = "'direct_calls' is \"miss\": override although calls were made direct that do not see it"
      case ("super"?, _), ("methods"?, _), ("deinit"?, _), ("fields"?, _):
        problem =
          "'\(key.text!)' is \(key.text == "super" ? "a class" : key.text == "deinit" ? "a function" : "a table"), "
            + "found \(ValueBridge.spelled(value))"
      default: problem = "unknown option '\(key.text ?? "?")'; known are super, methods, fields, deinit, direct_calls"
      }
      return problem == nil
    }
    return problem
  }

  /// `{ visits = 0, name = "", user = { type = "Shop.User?", value = nil } }`
  private static func readFields(_ table: SHLValue, _ description: inout Description, _ patch: Environment, _ callback: LuaCallback) -> String? {
    var problem: String?
    callback.forEach(in: table) { key, value in
      guard let name = key.text else {
        problem = "fields have names, such as { visits = 0 }"
        return false
      }
      do throws(BridgeError) { description.fields.append(try field(name, value, patch, callback)) } catch {
        problem = "field '\(name)': \(error.description)"
      }
      return problem == nil
    }
    // A table has no order.
    description.fields.sort { $0.name < $1.name }
    return problem
  }

  private static func field(_ name: String, _ value: SHLValue, _ patch: Environment, _ callback: LuaCallback) throws(BridgeError)
    -> RuntimeClass.Field
  {
    var initial = value
    let type: Metadata
    switch value.tag {
    case SHL_INT: type = Metadata(Int.self)
    case SHL_NUMBER: type = Metadata(Double.self)
    case SHL_BOOL: type = Metadata(Bool.self)
    case SHL_STRING: type = Metadata(String.self)
    case SHL_TABLE:
      var spelled: String?
      initial = shl_nil()
      callback.forEach(in: value) { key, value in
        if key.text == "type" { spelled = value.text } else if key.text == "value" { initial = value }
        return true
      }
      guard let spelled else { throw .wrongType(expected: "a value, or { type = \"…\", value = … }", found: "a table without a type") }
      do throws(TypeText.Problem) { type = try TypeText.metadata(spelled) } catch { throw .closure(error.description) }
    default: throw .wrongType(expected: "a value, or { type = \"…\", value = … }", found: ValueBridge.describe(value))
    }
    guard case .success(let info) = TypeResolver.shared.type(of: type) else { throw .notConvertible(type: CallCheck.name(type)) }
    let first = FirstValue(info)
    try ValueBridge(classes: patch.classes, serial: 0, scope: callback.scope).store(initial, as: info, at: first.memory)
    first.isMade = true
    return RuntimeClass.Field(name: name, info: info) { info.metadata.initialize($0, copying: first.memory) }
  }

  /// What a property of every new instance begins with.
  private final class FirstValue: @unchecked Sendable {
    // Written before the class is made, only copied from afterwards.
    private let value: OwnedValue
    var isMade = false
    var memory: UnsafeMutableRawPointer { value.memory }
    init(_ info: TypeInfo) { value = OwnedValue(uninitialized: info) }
    deinit { if isMade { value.destroy() } else { value.forget() } }
  }

  // MARK: Making

  private static func make(_ name: String, _ superclass: Metadata, _ description: Description, _ patch: Environment, _ callback: LuaCallback)
    -> Int32
  {
    // Looking members up takes milliseconds, and is not the script's time.
    let unlocked = shl_unlock_all(callback.scope)
    var untaken = description
    let made: Result<RuntimeClass, NewTypeError>
    do throws(NewTypeError) {
      made = .success(
        try RuntimeClass.make(
          name, superclass: superclass, fields: description.fields, definer: patch, replaces: { patch.mayReplace($0) }
        ) { (type) throws(NewTypeError) in
          while let member = untaken.members.popLast() {
            do throws(NewTypeError) { try add(member, to: type, superclass, description.missesDirectCalls, patch) } catch {
              untaken.members.append(member)
              throw error
            }
          }
          if let ending = untaken.ending {
            try type.atEnd { SynthesizedMethodHook.layer(ending.function, ending.info, $0, patch, position: .before) }
            untaken.ending = nil
          }
        })
    } catch { made = .failure(error) }
    guard shl_relock(callback.scope, unlocked) == SHL_OK else { return -1 }
    forget(untaken, patch)
    switch made {
    case .failure(let error): return callback.fail("class.define(\"\(name)\"): \(error)")
    case .success(let type):
      patch.installation.add { [weak patch] in if let patch { type.withdraw(by: patch) } }
      patch.classNames.append(type.name)
      // Its metadata stays for ever.
      shl_outside(patch.state, HeldMemory.ofClass)
      return callback.done(shl_handle(patch.classes.type, UInt64(patch.classNames.count - 1), 0, 0))
    }
  }

  /// Overrides what objects of the superclass have, adds what they lack. Takes the function when it succeeds.
  private static func add(
    _ member: (name: String, function: SHLRef, info: SHLFunctionInfo), to type: RuntimeClass, _ superclass: Metadata, _ missing: Bool,
    _ patch: Environment
  ) throws(NewTypeError) {
    if RuntimeClass.inherits(member.name, superclass) {
      try type.override(member.name, missing: missing) { SynthesizedMethodHook.layer(member.function, member.info, $0.family, patch) }
    } else if let inherited = RuntimeClass.added(member.name, inheritedFrom: superclass) {
      // Another class made here added it: this one overrides it, whether or not its types are spelled again.
      let spelled = try? MethodSignature(text: member.name)
      try type.add(member.name.contains(": ") || member.name.contains("->") ? spelled ?? inherited.signature : inherited.signature) {
        SynthesizedMethodHook.layer(member.function, member.info, .standing(for: $0.declaration), patch)
      }
    } else {
      guard member.name.contains("(") else {
        throw .member(
          member.name, of: CallCheck.name(superclass),
          reason: "there is no such member, and only methods can be added: 'discount(for: String) -> Double'")
      }
      // A typing error would be a method that nobody ever calls.
      if let meant = RuntimeClass.inherited(near: member.name, superclass) {
        throw .method(
          member.name,
          reason: "'\(CallCheck.name(superclass))' has none, but has '\(meant)'; to add one that is named alike, spell its types")
      }
      let signature = try MethodSignature(text: member.name)
      try type.add(signature) {
        SynthesizedMethodHook.layer(
          member.function, member.info, .standing(for: $0.declaration), patch,
          behind: signature.result == Metadata(Any?.self) ? .nothingOptional : .nothing)
      }
    }
  }
}
