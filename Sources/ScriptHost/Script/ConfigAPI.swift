// ConfigAPI — the global `config`: a patch's settings, which scripts read and do not change.
//
// It is made when a text names it, before that text runs. What is a table comes out as a copy, so that it can be passed on like any other.
internal import CLuaShim
internal import Journal
internal import LuaBridge

enum ConfigAPI {
  private static let text = """
    local decode, setmetatable, error, next, type, tostring = json.decode, setmetatable, error, next, type, tostring
    local text, isDeclared, names = ...
    local values = decode(text)
    local function copy(value)
      if type(value) ~= "table" then return value end
      local made = {}
      for key, each in next, value do made[key] = copy(each) end
      return made
    end
    config = setmetatable({}, {
      __index = function(_, key)
        local value = values[key]
        if value == nil and isDeclared then error("'config' has no '" .. tostring(key) .. "'; the header declares " .. names, 2) end
        return copy(value)
      end,
      __newindex = function(_, key)
        error("'config' is read only: '" .. tostring(key) .. "' is set in the header, in a file beside the patch or with run --config", 2)
      end,
      __pairs = function()
        return function(_, key)
          local following, value = next(values, key)
          return following, copy(value)
        end
      end,
      __metatable = false,
    })
    return config
    """

  /// Makes the global, and answers it. Not with the state's lock held.
  static func make(_ settings: PatchSettings, _ lua: LuaState) throws(LuaFailure) -> LuaReference? {
    let function = try lua.compile(text, name: "config")
    let names = settings.members.map(\.name).joined(separator: ", ")
    let made = try lua.call(
      function, [LuaValue(JSONValue.object(settings.members).line), .bool(settings.isDeclared), LuaValue(names.isEmpty ? "none" : names)])
    if case .reference(let reference)? = made.first { return reference }
    return nil
  }
}

/// What a load of a patch is given.
package struct PatchSettings: Sendable {
  var members: [JSONValue.Member] = []
  package init() {}
  init(members: [JSONValue.Member], isDeclared: Bool) {
    self.members = members
    self.isDeclared = isDeclared
  }
  /// The header says which there are.
  var isDeclared = false
}
