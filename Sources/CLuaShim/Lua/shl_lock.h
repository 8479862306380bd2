// The state's lock: two loads and a few stores for the thread that has it mostly, a word for all others.
//
// A lock that one thread takes again and again is biased to it: `word` stays 1, and the thread says in a word of its own
// whether it is inside, without a locked instruction. Another thread takes the bias away first: it writes `bias`, makes every
// thread of the process pass a barrier (membarrier), and then sees whether the first is inside; the first marks itself
// and looks at `bias` again before it believes that it has the lock. One of the two sees the other.
//
// What must stay true:
//   1. Only the thread a bias names writes its `inside`. Two threads in turn could wipe out each other's marks.
//   2. A thread's id is never another's, not even after its end: what a thread that is gone held stays held.
//   3. `word` is 1 while anybody holds the lock, and while it is biased. Whoever brings `left` to 0 has the word that the bias had.
//   4. Its holder is not cancelled (pthread_cancel): nobody would ever give it back.
//   5. A signal handler that comes in the middle finds the lock held or its own thread's, never half of it: it waits in vain or goes on.
#ifndef SHL_LOCK_H
#define SHL_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SHL_LIKELY(x) __builtin_expect(!!(x), 1)
#define SHL_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SHL_NOINLINE __attribute__((noinline))
/// What every call of a handler runs through lies together: a call's code fills half of the processor's first cache, and where it lies
/// all over the library by chance, more of it falls on the same places than fits there.
#define SHL_HOT __attribute__((hot))

// A figure one thread writes (under the lock) and any thread reads. Plain code on x86_64, no race for the tools.
#define SHL_READ(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define SHL_WRITE(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

/// What the shim knows of a thread.
typedef struct SHLThread {
  uint64_t id;                  // 0: none yet
  uintptr_t stack_low;
  uintptr_t stack_size;         // 0: not looked up yet
  int32_t reentry;
  struct SHLRun *run;           // the innermost run of this thread, in whatever state; NULL: none, or in an original
  uint64_t exempt_ticks;        // time that no script is charged for
  uint64_t exempt_since;
  int32_t exempt_depth;
  struct SHLRun *work;          // whose long work the host does now: compared with `run`, never followed
  uint64_t work_since;
  int64_t work_cpu;             // the thread's time when it began; 0: nothing asks for it
  int32_t work_kind;
  bool work_is_exempt;
} SHLThread;
extern _Thread_local SHLThread shl_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

enum { SHL_BIASES = 4 };        // more threads than these take the lock by its word for ever

/// A thread that a lock is or was biased to.
typedef struct SHLBias {
  uint64_t thread;              // written once, before it is published
  _Atomic uint32_t inside;
} SHLBias;

typedef struct SHLLock {
  _Atomic(SHLBias *) bias;      // whose it is; &shl_nobody: everybody's
  SHLBias *through;             // by what the holder came in; NULL: by the word
  _Atomic uint64_t owner;       // id of the holder
  uint32_t depth;
  int32_t cancel;               // the holder's cancellation state before it took the lock; -1: left as it is
  _Atomic uint32_t waiters;
  _Atomic uint32_t word;        // 1: held, or biased
  _Atomic uint32_t poisoned;    // nobody waits for it any more
  _Atomic uint64_t left;        // which bias was taken away, and the how manieth it was: the word is free when that thread is outside
  // written by holders
  uint64_t last;                // who took the word last
  uint32_t streak;              // how often in a row
  uint32_t wanted;              // streak after which it is biased; twice as long after each time a bias was taken away
  uint64_t taken_away;
  uint32_t bias_count;
  SHLBias biases[SHL_BIASES];
} SHLLock;

#pragma GCC visibility push(hidden)

extern SHLBias shl_nobody;
void shl_lock_make(SHLLock *l);
bool shl_lock_plain(SHLLock *l, int64_t wait_ns);
/// See CLuaShim.h.
void shl_report_waits(void (*report)(uint64_t ticks));
void shl_lock_wake(SHLLock *l);

/// Some image of the process calls pthread_cancel. In all others threads are not cancelled, and taking the lock need not say so.
extern _Atomic bool shl_may_cancel;
void shl_lock_hold_cancel(SHLLock *l);
void shl_let_cancel(int32_t state);

/// Takes the lock. `wait_ns` negative: as long as it takes; 1: not at all. false: not free in time.
static inline __attribute__((always_inline)) bool shl_lock_take(SHLLock *l, int64_t wait_ns) {
  uint64_t me = shl_thread.id;
  SHLBias *b = atomic_load_explicit(&l->bias, memory_order_acquire);
  if (SHL_LIKELY(b->thread == me) && SHL_LIKELY(SHL_READ(b->inside) == 0)) {
    SHL_WRITE(b->inside, 1);
    atomic_signal_fence(memory_order_seq_cst);  // the compiler's half; the processor's is the barrier of who takes the bias away
    if (SHL_LIKELY(SHL_READ(l->bias) == b)) {
      l->through = b;
      l->depth = 1;
      if (SHL_UNLIKELY(SHL_READ(shl_may_cancel))) shl_lock_hold_cancel(l);
      atomic_signal_fence(memory_order_seq_cst);
      SHL_WRITE(l->owner, me);
      return true;
    }
    atomic_store_explicit(&b->inside, 0, memory_order_release);
  }
  return shl_lock_plain(l, wait_ns);
}

/// Gives one level back. A waiter that went to sleep between our store and our look is woken by its own timer.
static inline __attribute__((always_inline)) void shl_lock_give(SHLLock *l) {
  if (SHL_UNLIKELY(l->depth != 1)) {
    l->depth--;
    return;
  }
  int32_t cancel = l->cancel;
  if (SHL_UNLIKELY(cancel >= 0)) l->cancel = -1;
  SHL_WRITE(l->owner, 0);
  atomic_signal_fence(memory_order_seq_cst);
  SHLBias *b = l->through;
  if (SHL_LIKELY(b != NULL)) atomic_store_explicit(&b->inside, 0, memory_order_release);
  else atomic_store_explicit(&l->word, 0, memory_order_release);
  if (SHL_UNLIKELY(SHL_READ(l->waiters))) shl_lock_wake(l);
  if (SHL_UNLIKELY(cancel >= 0)) shl_let_cancel(cancel);
}

/// This thread holds it. Only for threads that have taken some lock before.
static inline bool shl_lock_is_mine(const SHLLock *l) {
  return SHL_READ(((SHLLock *)(uintptr_t)l)->owner) == shl_thread.id;
}

#pragma GCC visibility pop
#endif
