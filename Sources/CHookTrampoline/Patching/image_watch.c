// Notices images that come and go.
//
// The dynamic loader guards its lists by a mutex, which it takes and leaves through two pointers, because the functions are
// libc's: `__rtld_mutex_unlock` (glibc 2.34 and later), `_dl_rtld_unlock_recursive` (before). Opening and closing an image
// ends with a call through that word: constructors have run by then, the lock is free, and whoever asked for the image does
// not have it yet. So the word is ours to divert, with no thread that looks around and no code changed. What is not known
// of a loader is tried: the word is the only one in the loader's data that holds libc's pthread_mutex_unlock, and opening
// an image that is there already must come by it.
//
// (The breakpoint function that debuggers use, r_brk, is called before an image is relocated. dlopen itself cannot be
// wrapped: it looks at its return address.)
//
// What must stay true: the mutex is left first, whatever happens afterwards.
#define _GNU_SOURCE 1
#include "HKTImages.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../Dispatch/calls_internal.h"
#include "transaction.h"
#include "word_memory.h"

typedef int (*Unlock)(pthread_mutex_t *mutex);

static Unlock libc_unlock;
static _Atomic(pthread_mutex_t *) load_lock;  // the mutex that opening an image ends with leaving
static _Atomic(uint64_t) seen;                // as of hkt_image_changes
static _Atomic(bool) is_trying;
static _Thread_local pthread_mutex_t *last_left __attribute__((tls_model("initial-exec")));
static _Thread_local bool is_telling __attribute__((tls_model("initial-exec")));
static void (*_Atomic tell)(void);

/// For dl_iterate_phdr: how many images came and went so far, into a uint64_t.
static int read_changes(struct dl_phdr_info *info, size_t size, void *changes) {
  (void)size;
  // Totals, the same in each entry.
  *(uint64_t *)changes = info->dlpi_adds + info->dlpi_subs;
  return 1;
}

uint64_t hkt_image_changes(void) {
  uint64_t changes = 0;
  dl_iterate_phdr(read_changes, &changes);
  return changes;
}

/// Tells of images that came or went since it was reported last. Two threads that open images may both tell of both: neither
/// goes on before its own was reported.
static void look(void) {
  void (*changed)(void) = atomic_load_explicit(&tell, memory_order_acquire);
  if (!changed || is_telling || hkt_is_passive()) return;
  uint64_t known = atomic_load_explicit(&seen, memory_order_acquire), now = hkt_image_changes();
  if (now == known) return;
  int saved_errno = errno;
  is_telling = true;
  changed();
  is_telling = false;
  while (known < now && !atomic_compare_exchange_weak(&seen, &known, now)) {}
  errno = saved_errno;
}

/// This thread holds the lock of the loader. glibc's own layout.
static bool is_mine(const pthread_mutex_t *mutex) { return mutex->__data.__owner == (int)syscall(SYS_gettid); }

bool hkt_is_opening_image(void) {
  const pthread_mutex_t *lock = atomic_load_explicit(&load_lock, memory_order_acquire);
  return lock && is_mine(lock);
}

/// What stands in the place of the loader's unlocking: looks for new images once the thread has left the loader.
static int leave(pthread_mutex_t *mutex) {
  int answer = libc_unlock(mutex);
  if (atomic_load_explicit(&is_trying, memory_order_relaxed)) last_left = mutex;
  if (mutex != atomic_load_explicit(&load_lock, memory_order_relaxed)) return answer;
  // Left once more than entered? A constructor that opens an image is within the opening of its own.
  if (is_mine(mutex)) return answer;
  look();
  return answer;
}

// MARK: Finding the word

typedef struct Search {
  uint64_t loader;  // where the loader begins
  uint64_t wanted, word;
  uint32_t found;
} Search;

/// Counts the words of the loader's data that hold `wanted`.
static int search_loader(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  Search *s = context;
  if (info->dlpi_addr != s->loader) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;
    uint64_t begin = (info->dlpi_addr + p->p_vaddr + 7) & ~7ul, end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
    for (uint64_t at = begin; at + 8 <= end; at += 8) {
      if (*(const uint64_t *)at != s->wanted) continue;
      s->word = at;
      s->found++;
    }
  }
  return 1;
}

/// libc's own function, whatever a sanitizer or another library puts in its place.
static Unlock find_unlock(void) {
  static const char *const names[] = {"libc.so.6", "libpthread.so.0"};
  for (int i = 0; i < 2; i++) {
    void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    void *found = dlsym(library, "pthread_mutex_unlock");
    dlclose(library);
    if (found) return (Unlock)found;
  }
  dlerror();
  return NULL;
}

static bool set_word(uint64_t word, uint64_t from, uint64_t to) {
  HKTSlot slot = {.word = word};
  HKTRefusal refusal;
  return hkt_words_look(&slot, 1, &refusal) && hkt_word_change(&slot, from, to, &refusal);
}

/// Opens what is there already: the last mutex that is left is the one that guards the loader's lists.
static pthread_mutex_t *try_opening(void) {
  last_left = NULL;
  atomic_store(&is_trying, true);
  void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  pthread_mutex_t *left = last_left;
  if (library) dlclose(library);
  atomic_store(&is_trying, false);
  return library ? left : NULL;
}

static HKTWatchState begin(void) {
  libc_unlock = find_unlock();
  Search search = {.loader = _r_debug.r_ldbase, .wanted = (uint64_t)libc_unlock};
  if (libc_unlock && search.loader) dl_iterate_phdr(search_loader, &search);
  if (search.found != 1) return HKT_WATCH_UNKNOWN_LOADER;
  hkt_lock();
  bool written = set_word(search.word, search.wanted, (uint64_t)leave);
  hkt_unlock();
  if (!written) return HKT_WATCH_NOT_WRITABLE;
  pthread_mutex_t *lock = try_opening();
  if (lock) {
    atomic_store(&load_lock, lock);
    return HKT_WATCHING;
  }
  hkt_lock();
  set_word(search.word, (uint64_t)leave, search.wanted);
  hkt_unlock();
  return HKT_WATCH_UNKNOWN_LOADER;
}

HKTWatchState hkt_watch_images(void (*changed)(void)) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  static bool has_begun;
  static HKTWatchState state;
  pthread_mutex_lock(&once);
  if (!has_begun && changed) {
    state = begin();
    has_begun = true;
  }
  atomic_store(&seen, hkt_image_changes());
  atomic_store_explicit(&tell, changed, memory_order_release);
  pthread_mutex_unlock(&once);
  return state;
}
