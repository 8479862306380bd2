// Forked copies of the process, and the page that tells copies of this library of one another.
#define _GNU_SOURCE 1
#include "HKTPeek.h"
#include "HKTProcess.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls_internal.h"
#include "layer_sets.h"

// MARK: Forks

static _Atomic(bool) keep_in_children;

void hkt_keep_in_children(bool keep) { atomic_store(&keep_in_children, keep); }
bool hkt_keeps_in_children(void) { return atomic_load(&keep_in_children); }

/// The only thread of the child is the one that forked; what others held or were at is over.
static void in_child(void) {
  if (!atomic_load(&keep_in_children)) hkt_set_passive(true);
  hkt_retire_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  hkt_plan_lock_reset();
  hkt_threads_forget_others();
}

static void watch(void) { pthread_atfork(NULL, NULL, in_child); }

void hkt_watch_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
}

// MARK: Other copies

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/// Where the mark may be: below everything the kernel gives out by itself, inside what the sanitizers leave to programs.
enum : uint64_t { FIRST_PLACE = 0x550060000000, STEP = 0x10000000 };
enum { PLACES = 4, SIZE = 4096 };

typedef struct Mark {
  char magic[16];
  const void *copy;  // an address in the image of the copy that hooks
} Mark;
static const char magic[16] = "scripthost mark";

static pthread_mutex_t claim_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_claimed;

static bool read_mark(uint64_t place, Mark *mark) {
  return hkt_peek(place, mark, sizeof *mark) && memcmp(mark->magic, magic, sizeof magic) == 0;
}

/// Raw: an allocator's or a sanitizer's own mmap has no say in it.
static bool map_at(uint64_t place) {
  long got = syscall(SYS_mmap, place, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == (long)place) return true;
  // Kernels before 4.17 take the address for a wish.
  if (got != -1) syscall(SYS_munmap, got, SIZE);
  return false;
}

static void name_image(const void *address, char *image, size_t size) {
  Dl_info found;
  const char *name = dladdr(address, &found) && found.dli_fname ? found.dli_fname : "an unknown image";
  strncpy(image, name, size - 1);
  image[size - 1] = 0;
}

static bool claim(char *image, size_t size) {
  for (int i = 0; i < PLACES; i++) {
    uint64_t place = FIRST_PLACE + (uint64_t)i * STEP;
    if (map_at(place)) {
      Mark *mark = (Mark *)place;
      mark->copy = (const void *)hkt_claim_process;
      memcpy(mark->magic, magic, sizeof magic);
      return true;
    }
    Mark mark;
    if (!read_mark(place, &mark)) continue;  // somebody else's memory
    name_image(mark.copy, image, size);
    return false;
  }
  // No place to leave a mark: nothing speaks for another copy either.
  return true;
}

bool hkt_claim_process(char *image, size_t size) {
  pthread_mutex_lock(&claim_lock);
  if (!is_claimed) is_claimed = claim(image, size);
  bool claimed = is_claimed;
  pthread_mutex_unlock(&claim_lock);
  return claimed;
}
