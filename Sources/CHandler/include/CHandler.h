// CHandler — the way of a call from the dispatcher into a Lua handler and back, for handlers that change nothing, or bits alone.
//
// All that most calls need is here, in C, where nothing is checked twice and no reference is counted. What is rare is the host's: arguments that
// do not go to Lua as bits, what a handler changed, its failures (ScriptHost/Script/LuaHook.swift, which is told by `chandler_set_host`).
#ifndef C_HANDLER_H
#define C_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CLuaShim.h"
#include "HKTCalls.h"

/// What calls need to know of a handler. Made by its hook before it is installed; nothing changes but what the pointers lead to and the last
/// two fields. Read by any thread.
typedef struct CHandler {
  SHLState *_Null_unspecified state;
  void *_Null_unspecified patch;        ///< the Environment, which the hook keeps
  const uint8_t *_Null_unspecified off;  ///< of its breaker: not 0 once it is switched off
  int64_t lock_ns;                      ///< how long it waits for its state; negative: for ever
  SHLRef function;
  int32_t wanted;         ///< arguments it declares behind `call`
  uint32_t crash_owner;   ///< names it in the crash file; 0: not at all
  bool wants_result;      ///< it runs around the original
  /// The metadata of the class that self must be of, or one of the two below. The host finds it out at the first call.
  uint64_t receiver_class;
  /// What the last call returns to whose caller certainly reads a result that is bits; 1: none. Most calls come from where the one before came from.
  uint64_t settled_result;
} CHandler;
enum { CHANDLER_CLASS_UNKNOWN = 0, CHANDLER_CLASS_ANY = 1 };

/// One handler at work: ScriptCall.swift has the same fields by the same layout, and says what they mean (ScriptCall.checkLayout).
typedef struct CHandlerCall {
  SHLArguments arguments;
  HKTCall *_Null_unspecified call;
  HKTPhase phase;
  int64_t original_runs;
  bool did_trap;
  void *_Null_unspecified changes;  ///< what it changed that is more than bits; NULL: nothing
  void *_Null_unspecified hook;
  void *_Null_unspecified patch;
  struct CHandlerCall *_Null_unspecified up;
  uint64_t typed_error_box;
  void *_Null_unspecified async;
  void *_Null_unspecified borrows;  ///< what it was borrowed beyond its arguments; NULL: nothing
} CHandlerCall;

/// The first fields of what the host keeps for each thread, in HKTThread.local (ScriptThread.swift, ScriptThread.checkLayout).
typedef struct CHandlerThread {
  CHandlerCall *_Null_unspecified top;
  uint64_t counter;
} CHandlerThread;

/// What C leaves to the host. `hook` is the layer's context: an object whose first field is its CHandler.
typedef struct CHandlerHost {
  CHandlerThread *_Nonnull (*_Null_unspecified make_thread)(struct HKTThread *_Nonnull thread);
  /// self is not of the handler's class; asked where it may be so.
  bool (*_Null_unspecified is_mismatch)(void *_Nonnull hook, HKTCall *_Nonnull call);
  /// The handler takes no part in the call, since it is switched off or the call is another class's.
  void (*_Null_unspecified pass)(void *_Nonnull hook, HKTCall *_Nonnull call, HKTPhase phase);
  /// Runs the function with `count` arguments, some of which are more than bits.
  HKTOutcome (*_Null_unspecified invoke)(void *_Nonnull hook, CHandlerCall *_Nonnull call, int32_t count);
  /// The function has run: what it changed and returned takes effect. Ends the invocation.
  HKTOutcome (*_Null_unspecified ended)(void *_Nonnull hook, CHandlerCall *_Nonnull call, SHLStatus status, const SHLValue *_Nonnull result,
                                        SHLInvocation *_Nonnull invocation);
  /// Ends what the handler's record holds.
  void (*_Null_unspecified end)(CHandlerCall *_Nonnull call);
  /// The original trapped and the handler had no answer. Does not return.
  void (*_Null_unspecified fall)(HKTCall *_Nonnull call);
} CHandlerHost;

/// Once, before the first handler is installed. Copied.
void chandler_set_host(const CHandlerHost *_Nonnull host);

/// The layer function of Lua handlers: runs the handler for one phase of a call, on the caller's thread.
/// - context: the handler's hook; see CHandlerHost.
HKTOutcome chandler_run(HKTCall *_Null_unspecified call, void *_Null_unspecified context, HKTPhase phase);

/// A number no other call's handler has: that of the thread, and its count.
static inline uint64_t chandler_serial(const HKTCall *_Nonnull call, CHandlerThread *_Nonnull thread) {
  return (uint64_t)(uint32_t)call->thread->tid << 36 | (++thread->counter & 0xFFFFFFFFFu);
}

/// The class that self must be of, or a CHANDLER_CLASS_*. Any thread.
static inline uint64_t chandler_receiver_class(const CHandler *_Nonnull handler) {
  return __atomic_load_n(&handler->receiver_class, __ATOMIC_RELAXED);
}
/// Once it is known, by any thread: all find the same one.
static inline void chandler_set_receiver_class(CHandler *_Nonnull handler, uint64_t type) {
  __atomic_store_n(&handler->receiver_class, type, __ATOMIC_RELAXED);
}

/// The return address of the last call whose caller reads the result. Any thread.
static inline uint64_t chandler_settled_result(const CHandler *_Nonnull handler) {
  return __atomic_load_n(&handler->settled_result, __ATOMIC_RELAXED);
}
/// Says it of an address; any thread, and whichever comes last has its way.
static inline void chandler_set_settled_result(CHandler *_Nonnull handler, uint64_t address) {
  __atomic_store_n(&handler->settled_result, address, __ATOMIC_RELAXED);
}

/// A breaker's cause, which calls ask for; 0: it is closed.
static inline uint8_t chandler_cause(const uint8_t *_Nonnull cause) { return __atomic_load_n(cause, __ATOMIC_RELAXED); }
/// False: it has a cause already.
static inline bool chandler_open(uint8_t *_Nonnull cause, uint8_t why) {
  uint8_t none = 0;
  return __atomic_compare_exchange_n(cause, &none, why, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#endif
