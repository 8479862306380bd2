// The page that tells copies of this library of one another.
#define _GNU_SOURCE 1
#include "HKTPeek.h"
#include "HKTProcess.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/// The path of the image that has the address, cut to `size` bytes with the NUL.
static void name_image(const void *address, char *image, size_t size) {
  Dl_info found;
  const char *name = dladdr(address, &found) && found.dli_fname ? found.dli_fname : "an unknown image";
  strncpy(image, name, size - 1);
  image[size - 1] = 0;
}

/// Marks the process as ours. false: another copy of the library has, whose path is in `image`.
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
