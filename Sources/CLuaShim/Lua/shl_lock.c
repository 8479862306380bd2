// Taking the lock when it is not biased to the thread that comes, and giving and taking the bias.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "shl_lock.h"
#include "shl_thread.h"
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  FIRST_STREAK = 1000,      // a bias taken away costs as much as a few hundred takes gained
  LAST_STREAK = 1 << 24,
  SPINS = 200,              // a short handler is done sooner than a sleep begins
  LONGEST_NAP = 1000000,    // ns
};

SHLBias shl_nobody = {.thread = UINT64_MAX};

// ---------------------------------------------------------------- barriers

/// Threads can be made to pass a barrier. Without it, and under the thread sanitizer, which knows nothing of it, no lock is biased.
static _Atomic bool has_barrier;

static void look_for_barrier(void) {
#if !__has_feature(thread_sanitizer)
  int saved = errno;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
      syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
    atomic_store(&has_barrier, true);
  errno = saved;
#endif
}

/// Every other thread of the process has passed a barrier since this was called.
static void pass_barrier(void) {
  int saved = errno;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
    // It worked once; the program has closed it since. A store leaves its processor in far less than a thousandth of this, and the
    // timer's interrupt is a barrier, too.
    atomic_store(&has_barrier, false);
    struct timespec t = {0, 20000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {}
  }
  errno = saved;
}

// ---------------------------------------------------------------- the bias

/// What `left` says of a bias: no two times alike, so that who looked at one time cannot act at another.
static uint64_t left_word(const SHLLock *l, const SHLBias *b) { return l->taken_away * SHL_BIASES + (uint64_t)(b - l->biases); }

/// The place of that thread; NULL: there is none left.
static SHLBias *place_of(SHLLock *l, uint64_t me) {
  for (uint32_t i = 0; i < l->bias_count; i++)
    if (l->biases[i].thread == me) return &l->biases[i];
  if (l->bias_count == SHL_BIASES) return NULL;
  l->biases[l->bias_count].thread = me;
  return &l->biases[l->bias_count++];
}

/// The holder, who came in by the word, leaves it at 1 for good.
static SHL_NOINLINE void bias_to(SHLLock *l, uint64_t me) {
  l->streak = 0;
  if (!SHL_READ(has_barrier) || SHL_READ(l->waiters)) return;
  SHLBias *b = place_of(l, me);
  // Inside already: a signal came while this thread was taking the lock, which will look at `bias` once more.
  if (!b || SHL_READ(b->inside)) return;
  SHL_WRITE(b->inside, 1);
  l->through = b;
  atomic_store_explicit(&l->bias, b, memory_order_release);
}

/// Takes the bias from whoever has it. One thread at a time comes past the exchange: there is no other bias before `left` was taken.
static void take_bias_away(SHLLock *l) {
  SHLBias *b = atomic_load_explicit(&l->bias, memory_order_acquire);
  if (b == &shl_nobody || !atomic_compare_exchange_strong(&l->bias, &b, &shl_nobody)) return;
  pass_barrier();
  l->taken_away++;
  if (l->wanted < LAST_STREAK) l->wanted *= 2;
  atomic_store_explicit(&l->left, left_word(l, b), memory_order_release);
}

// ---------------------------------------------------------------- the word

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// The word is this thread's. The owner is notified last: a signal handler in between must not take the lock for its own thread's.
static inline void have_word(SHLLock *l, uint64_t me) {
  l->through = NULL;
  l->depth = 1;
  if (l->last != me) {
    l->last = me;
    l->streak = 0;
  } else if (++l->streak >= l->wanted) {
    bias_to(l, me);
  }
  if (SHL_UNLIKELY(SHL_READ(shl_may_cancel))) shl_lock_hold_cancel(l);
  atomic_signal_fence(memory_order_seq_cst);
  SHL_WRITE(l->owner, me);
}

/// The word that a bias had, when its thread is outside.
static bool take_left(SHLLock *l) {
  uint64_t left = atomic_load_explicit(&l->left, memory_order_acquire);
  if (!left || atomic_load_explicit(&l->biases[left % SHL_BIASES].inside, memory_order_acquire)) return false;
  return atomic_compare_exchange_strong_explicit(&l->left, &left, 0, memory_order_acquire, memory_order_relaxed);
}

/// Takes the lock's word if it is free, and says whether it did.
static inline bool take_word(SHLLock *l) {
  uint32_t zero = 0;
  return !SHL_READ(l->word) && atomic_compare_exchange_strong_explicit(&l->word, &zero, 1, memory_order_acquire, memory_order_relaxed);
}

/// Takes the lock for thread `me` without waiting, and says whether it did.
static bool try_take(SHLLock *l, uint64_t me) {
  if (!take_word(l) && !take_left(l)) return false;
  have_word(l, me);
  return true;
}

/// Tries again and again, and sleeps between; false: the lock was not free in time.
static bool wait_for(SHLLock *l, uint64_t me, int64_t wait_ns) {
  for (int i = 0; i < SPINS; i++) {
    relax();
    if (try_take(l, me)) return true;
  }
  int saved = errno;
  int64_t end = wait_ns < 0 ? INT64_MAX : shl_now() + wait_ns;
  bool taken = false;
  atomic_fetch_add(&l->waiters, 1);
  while (!(taken = try_take(l, me))) {
    if (SHL_READ(l->poisoned)) break;
    int64_t left = wait_ns < 0 ? LONGEST_NAP : end - shl_now();
    if (left <= 0) break;
    struct timespec t = {0, left < LONGEST_NAP ? left : LONGEST_NAP};
    syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 1, &t, NULL, 0);
    take_bias_away(l);
  }
  atomic_fetch_sub(&l->waiters, 1);
  errno = saved;
  return taken;
}

/// Who is told of waits; NULL: nobody.
static _Atomic(void (*)(uint64_t)) waits_reported_to;
void shl_report_waits(void (*report)(uint64_t ticks)) { atomic_store_explicit(&waits_reported_to, report, memory_order_relaxed); }

/// Takes the lock, again if the thread has it.
/// - wait_ns: how long to wait; negative: for ever. false: it was not to be had in time.
static SHL_NOINLINE bool take_slowly(SHLLock *l, uint64_t me, int64_t wait_ns) {
  if (SHL_READ(l->owner) == me) {
    l->depth++;
    return true;
  }
  take_bias_away(l);
  if (try_take(l, me)) return true;
  if (wait_ns == 1) return false;
  uint64_t began = shl_ticks();
  bool taken = wait_for(l, me, wait_ns);
  void (*report)(uint64_t) = atomic_load_explicit(&waits_reported_to, memory_order_relaxed);
  uint64_t now = shl_ticks();
  if (report && now > began) report(now - began);
  return taken;
}

SHL_HOT SHL_NOINLINE bool shl_lock_plain(SHLLock *l, int64_t wait_ns) {
  uint64_t me = shl_thread_id();
  if (SHL_LIKELY(take_word(l))) {
    have_word(l, me);
    return true;
  }
  return take_slowly(l, me, wait_ns);
}

SHL_NOINLINE void shl_lock_wake(SHLLock *l) {
  int saved = errno;
  syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = saved;
}

// ---------------------------------------------------------------- threads that are cancelled

_Atomic bool shl_may_cancel;

SHL_NOINLINE void shl_lock_hold_cancel(SHLLock *l) {
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  l->cancel = state;
}
SHL_NOINLINE void shl_let_cancel(int32_t state) { pthread_setcancelstate(state, NULL); }

/// What an image has of the loader stands at addresses of the process, or of the file where the loader leaves them.
static const void *place(const struct dl_phdr_info *image, ElfW(Addr) address) {
  return (const void *)(address < image->dlpi_addr ? image->dlpi_addr + address : address);
}

/// How many images had been loaded when all of them were looked at last.
static _Atomic unsigned long long images_seen;
typedef struct { unsigned long long images; bool found; } Imports;

/// Whether the image imports pthread_cancel: what it does not define comes first in its table of names, before all that are hashed.
static int imports_cancel(struct dl_phdr_info *image, size_t size, void *context) {
  (void)size;
  Imports *imports = context;
  imports->images = image->dlpi_adds;
  if (imports->images == SHL_READ(images_seen)) return 1;
  const ElfW(Dyn) *dynamic = NULL;
  for (int i = 0; i < image->dlpi_phnum; i++)
    if (image->dlpi_phdr[i].p_type == PT_DYNAMIC) dynamic = (const void *)(image->dlpi_addr + image->dlpi_phdr[i].p_vaddr);
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  const uint32_t *hashes = NULL;
  for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = place(image, dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_STRTAB) names = place(image, dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_GNU_HASH) hashes = place(image, dynamic->d_un.d_ptr);
  }
  if (!symbols || !names || !hashes) return 0;
  for (uint32_t i = 1; i < hashes[1]; i++)
    if (strcmp(names + symbols[i].st_name, "pthread_cancel") == 0) return imports->found = true;
  return 0;
}

void shl_lock_make(SHLLock *l) {
  // An image that is loaded later counts for the states that are made after it.
  if (!SHL_READ(shl_may_cancel)) {
    Imports imports = {0};
    dl_iterate_phdr(imports_cancel, &imports);
    if (imports.found) SHL_WRITE(shl_may_cancel, true);
    else SHL_WRITE(images_seen, imports.images);
  }
  l->cancel = -1;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, look_for_barrier);
  atomic_store(&l->bias, &shl_nobody);
  l->wanted = FIRST_STREAK;
}
