// Private to this target: whether a call, or work of ours, finds the room it needs on the stack it comes on, and where there is more.
//
// What ScriptHost does around a call (planning, handlers, the call's own records) takes stack that the program has not counted on. A call
// that comes where little is left goes on upon a spare stack of its thread, and so does what it calls: a recursion that its own stack
// would bear goes as deep under hooks, and threads with small stacks run handlers, too. The spare stack lies below the thread's own, so that
// of two frames the inner one has the lower address, as everywhere.
//
// A signal handler's calls came between any two instructions of the program: nothing that takes a lock or memory may run there.
#ifndef HKT_STACK_ROOM_H
#define HKT_STACK_ROOM_H

#include "thread_records.h"

/// What a call may need: handlers in Lua ask for 768 KiB.
enum { HKT_ROOM_NEEDED = 1 << 20 };

/// The call must ask where it can go on. One comparison on the path of every call: false where there is room, and no signal handler.
static inline __attribute__((always_inline)) bool hkt_is_narrow(const HKTThread *t) {
  return __builtin_expect((uint64_t)__builtin_frame_address(0) - t->roomy_low >= t->roomy_size, 0);
}

typedef enum HKTRoom {
  HKT_ROOM_HERE,   // on this stack
  HKT_ROOM_SPARE,  // on the spare one
  HKT_ROOM_NONE,   // in a signal handler, on a stack made for it
} HKTRoom;

/// Where the call can go on. Notes whether a signal handler runs (HKTThread.interrupts).
HKT_HIDDEN HKTRoom hkt_find_room(HKTThread *t);

/// Runs `body` upon the spare stack, where hkt_find_room says so.
HKT_HIDDEN void hkt_run_on_spare(HKTThread *t, void (*body)(void *), void *context);

/// Runs `body`, work of ours such as planning a call that calls nothing of the program, where there is room for it: here, upon the spare stack,
/// or, where neither is to be had, upon one that is made for it.
HKT_HIDDEN void hkt_with_room(HKTThread *t, void (*body)(void *), void *context);

/// At the start of a thread's record, whose bounds are known.
HKT_HIDDEN void hkt_room_begin(HKTThread *t);
/// At the end of its thread, or in a forked child: gives the spare stack back.
HKT_HIDDEN void hkt_room_end(HKTThread *t);

/// The address lies on one of the thread's own two stacks.
static inline bool hkt_is_on_stack(const HKTThread *t, uint64_t address) {
  return address - t->stack_low < t->stack_high - t->stack_low || address - t->spare_low < t->spare_high - t->spare_low;
}

/// The bounds of the one of its stacks that the address is on; the thread's own where it is on none.
static inline void hkt_stack_bounds(const HKTThread *t, uint64_t address, uint64_t *low, uint64_t *high) {
  bool is_spare = address - t->spare_low < t->spare_high - t->spare_low;
  *low = is_spare ? t->spare_low : t->stack_low;
  *high = is_spare ? t->spare_high : t->stack_high;
}

#endif
