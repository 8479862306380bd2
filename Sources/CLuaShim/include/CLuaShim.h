#ifndef C_LUA_SHIM_H
#define C_LUA_SHIM_H
#endif
