// stock_lua — the stock Lua library, unrestricted.
#ifndef STOCK_LUA_H
#define STOCK_LUA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Runs `source`; what it printed or the error, into `out` (capped). Returns the length needed.
size_t stock_lua_run(const char *source, size_t length, char *out, size_t capacity);

/// Nanoseconds per lua_pcall of `function(a, b) return a + b end`.
/// - hook: with a hook that counts instructions.
double stock_lua_time_pcall(int64_t rounds, bool hook);

#endif
