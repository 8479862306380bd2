// PlainLua — the yardstick: Lua 5.4 called the way C does it, with no host in between.
import Glibc
import Sampling

/// The stock library of the machine; nil when there is none.
struct PlainLua {
  private typealias State = OpaquePointer
  private let L: State
  private let pushvalue: @convention(c) (State, Int32) -> Void
  private let pushinteger: @convention(c) (State, Int64) -> Void
  private let pushnumber: @convention(c) (State, Double) -> Void
  private let pushboolean: @convention(c) (State, Int32) -> Void
  private let pushlstring: @convention(c) (State, UnsafePointer<CChar>?, Int) -> UnsafePointer<CChar>?
  private let pcallk: @convention(c) (State, Int32, Int32, Int32, Int, UnsafeRawPointer?) -> Int32
  private let settop: @convention(c) (State, Int32) -> Void
  private let tolstring: @convention(c) (State, Int32, UnsafeMutablePointer<Int>?) -> UnsafePointer<CChar>?

  init?() {
    guard let library = dlopen("liblua5.4.so.0", RTLD_NOW | RTLD_LOCAL) else { return nil }
    // The types are those of lua.h 5.4.
    func find<F>(_ name: String) -> F { unsafeBitCast(dlsym(library, name)!, to: F.self) }
    pushvalue = find("lua_pushvalue")
    pushinteger = find("lua_pushinteger")
    pushnumber = find("lua_pushnumber")
    pushboolean = find("lua_pushboolean")
    pushlstring = find("lua_pushlstring")
    pcallk = find("lua_pcallk")
    settop = find("lua_settop")
    tolstring = find("lua_tolstring")
    let new: @convention(c) () -> State? = find("luaL_newstate")
    let load: @convention(c) (State, UnsafePointer<CChar>) -> Int32 = find("luaL_loadstring")
    let pushcclosure: @convention(c) (State, @convention(c) (OpaquePointer) -> Int32, Int32) -> Void = find("lua_pushcclosure")
    let setglobal: @convention(c) (State, UnsafePointer<CChar>) -> Void = find("lua_setglobal")
    guard let L = new() else { return nil }
    self.L = L
    pushcclosure(L, { _ in 1 }, 0)  // returns its last argument
    setglobal(L, "native")
    // Slots 1 to 3: what the handlers of the patches do.
    for source in [
      "return function(call, a, b, c) end",
      "local native = native; return function(call, a) return native(a) end",
      "local native = native; return function(call, text) return native(text) end",
    ] {
      guard load(L, source) == 0, pcallk(L, 0, 1, 0, 0, nil) == 0 else { return nil }
    }
  }

  func callWithScalars(_ rounds: Int) {
    for i in 0..<rounds {
      pushvalue(L, 1)
      pushboolean(L, 0)
      pushinteger(L, Int64(i))
      pushnumber(L, 2.5)
      pushboolean(L, 1)
      keep(Int(pcallk(L, 4, 0, 0, 0, nil)))
    }
  }

  func callWithCallback(_ rounds: Int) {
    for i in 0..<rounds {
      pushvalue(L, 2)
      pushboolean(L, 0)
      pushinteger(L, Int64(i))
      keep(Int(pcallk(L, 2, 1, 0, 0, nil)))
      settop(L, 3)
    }
  }

  func callWithText(_ rounds: Int, _ text: String) {
    text.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        for _ in 0..<rounds {
          pushvalue(L, 3)
          pushboolean(L, 0)
          _ = pushlstring(L, bytes.baseAddress, bytes.count)
          keep(Int(pcallk(L, 2, 1, 0, 0, nil)))
          var length = 0
          let result = tolstring(L, -1, &length)
          keep(String(decoding: UnsafeRawBufferPointer(start: result, count: length), as: UTF8.self).utf8.count)
          settop(L, 3)
        }
      }
    }
  }
}

/// Loads each Lua file of the directory into a plain state of its own, where `patch` and `method` do nothing, as a host that only has Lua would.
/// Prints the milliseconds of processor time that it took, and the memory it added.
func loadPlainly(_ directory: String) {
  guard let library = dlopen("liblua5.4.so.0", RTLD_NOW | RTLD_LOCAL), let folder = opendir(directory) else { return }
  defer { closedir(folder) }
  // The types are those of lua.h 5.4.
  func find<F>(_ name: String) -> F { unsafeBitCast(dlsym(library, name)!, to: F.self) }
  let new: @convention(c) () -> OpaquePointer? = find("luaL_newstate")
  let load: @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> Int32 = find("luaL_loadstring")
  let loadFile: @convention(c) (OpaquePointer, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Int32 = find("luaL_loadfilex")
  let pcall: @convention(c) (OpaquePointer, Int32, Int32, Int32, Int, UnsafeRawPointer?) -> Int32 = find("lua_pcallk")
  let stub = "local method = { before = function() end }; function _ENV.patch() end; function _ENV.method() return method end"
  let memory = memoryKiB("Private_Dirty"), start = processTime()
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) } }
    guard name.hasSuffix(".lua") else { continue }
    guard let state = new(), load(state, stub) == 0, pcall(state, 0, 0, 0, 0, nil) == 0,
      loadFile(state, directory + "/" + name, nil) == 0, pcall(state, 0, 0, 0, 0, nil) == 0
    else { fatalError("'\(name)' does not run in a plain state") }
  }
  sample("plain states", (processTime() - start) / 1e6)
  sample("plain states private", memoryKiB("Private_Dirty") - memory)
}
