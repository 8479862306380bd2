-- D8: no files, processes, C code, debugger or bytecode; what all states share cannot be changed.
for _, name in ipairs { "io", "debug", "package", "dofile", "loadfile", "collectgarbage" } do print(name, _G[name]) end
for _, name in ipairs { "execute", "exit", "getenv", "remove", "rename", "tmpname", "setlocale" } do print("os." .. name, os[name]) end
print("string.dump", string.dump)
print("bytecode", load("\27Lua"))
print("reader", pcall(load, function() return "x" end))
print("shared metatable", getmetatable(""))
print("shared table", pcall(function() string.upper = function() return "changed" end end), ("a"):upper())
print("require", pcall(require, "os"))
-- prints: io	nil
-- prints: debug	nil
-- prints: package	nil
-- prints: os.execute	nil
-- prints: os.exit	nil
-- prints: os.getenv	nil
-- prints: os.remove	nil
-- prints: string.dump	nil
-- prints: shared metatable	nil
-- program: int8: -5
