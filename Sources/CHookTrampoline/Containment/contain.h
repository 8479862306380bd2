// Private to this target: landing places.
#ifndef HKT_LANDING_H
#define HKT_LANDING_H

#include "HKTContain.h"
#include "../Dispatch/thread_records.h"

#include <signal.h>
#include <ucontext.h>

/// One contained call in flight; lives on the stack of hkt_contain. Keep the first two in step with contain_x86_64.S.
typedef struct HKTLanding {
  uint64_t stack;           // +0  rsp when the body is called
  uint64_t frame;           // +8  rbp
  uint32_t mxcsr;           // +16
  uint32_t x87_control;     // +20
  struct HKTLanding *up;
  HKTThread *thread;
  HKTTrap *trap;
  uint64_t scripts;         // how many handlers of scripts were at work
  HKTCall *top;
  uint32_t unseen, host, at_work, protected_count;
  uint64_t handler;
  HKTWindow *windows;
  uint64_t *accesses;       // where the Swift runtime keeps this thread's list of open accesses
  uint64_t open_accesses;   // what was there
  uint64_t deepest;         // the stack pointer at the fault
  bool has_outermost;
} HKTLanding;

HKT_HIDDEN extern uint64_t (*hkt_scripts_at_work)(void);

/// Runs the body; 0 when it returned, 1 when a fault was sent to hkt_landing.
HKT_HIDDEN int32_t hkt_land_call(HKTLanding *landing, void (*body)(void *), void *context);
/// Where a fault goes on, with rsp and rbp of the landing and rdi = HKTLanding*.
HKT_HIDDEN extern const char hkt_landing_place[];
/// What the body of a landing returns to.
HKT_HIDDEN extern const char hkt_landing_returns_here[];
HKT_HIDDEN _Noreturn void hkt_land(HKTLanding *landing);

/// What is found once for judging faults.
HKT_HIDDEN void hkt_judge_prepare(void);
/// Why a fault at the context cannot be contained; NULL: it can, and `trap` has its frames.
HKT_HIDDEN const char *hkt_judge(int signal, const siginfo_t *info, const void *context, const HKTLanding *landing, HKTTrap *trap);
/// The thread holds a lock that the frames up to the landing know of. `has_word_locks`: their code takes locks that are one word with the
/// thread's id, so that words that hold it are taken for such locks.
HKT_HIDDEN bool hkt_holds_lock(const greg_t *registers, const HKTLanding *landing, bool has_word_locks);

/// A dictionary or set lies moved out of a variable that the frames up to the landing change.
HKT_HIDDEN bool hkt_has_moved_out(const HKTLanding *landing);

/// What the code of the frames that would be left says of locks of one word, such as a Mutex of Synchronization.
typedef struct HKTWordLocks {
  enum { HKT_SEEN_FUNCTIONS = 16 } room;
  uint64_t seen[HKT_SEEN_FUNCTIONS];  // functions that were read
  uint32_t next;
  uint32_t looked_at;                 // bytes read so far
  bool has_some;                      // some of it takes such locks, or not all of it was read
  bool is_held;                       // a lock at a fixed place is held by the thread
} HKTWordLocks;
/// Reads the function of one frame. `end`: behind its last byte, 0 where that is not known.
HKT_HIDDEN void hkt_read_word_locks(HKTWordLocks *locks, uint64_t start, uint64_t end, uint32_t thread);
/// Takes the runtime's message.
HKT_HIDDEN void hkt_take_message(HKTTrap *trap);

#endif
