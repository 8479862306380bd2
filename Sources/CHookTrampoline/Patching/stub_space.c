// Stub space — executable memory within reach of the code that jumps to it.
//
// An arena is one memory file mapped twice: written through one view, executed
// through the other, so no page is ever writable and executable. Where memory
// files are refused, an arena is private executable memory that is written the
// way code is (code_memory.c).
//
// What must stay true:
//   1. Space is only ever added: a thread may be inside any stub at any time.
//   2. A forked copy never writes into arenas it shares with its parent.
//   3. Arenas keep out of the range the program's break may grow into.
#define _GNU_SOURCE
#include "stub_space.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code_memory.h"
#include "../Process/maps.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1u
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

#define ARENA_SIZE (2ul << 20)
/// A jump reaches 2 GiB; the margin covers the arena itself and operands a little beyond the body.
#define REACH ((2ul << 30) - (16ul << 20))
/// Up to this distance an existing arena serves; beyond it a nearer one is tried first.
#define COMFORT (1ul << 30)
/// Distance kept from the end of the break, which grows upwards.
#define BREAK_ROOM (1ul << 30)
#define PAGE 4096ul

typedef struct HKTArena {
  struct HKTArena *next;
  uint64_t base;      // where stubs run
  uint8_t *writable;  // the other view; NULL: written like code
  uint64_t used;
  bool retired;       // inherited through fork: stays, but takes nothing new
} HKTArena;

static HKTArena *arenas;

// MARK: Records

#define SLAB (64ul << 10)

/// Fresh memory for records; NULL when there is none.

/// - flags: of mmap, besides those of private memory.
static void *map_records(size_t size, int flags) {
  void *fresh = hkt_system.map(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return fresh == MAP_FAILED ? NULL : fresh;
}

void *hkt_record_allocate(size_t size) {
  static uint8_t *next;
  static size_t left;
  // Where one slab was filled another will be: all its pages at once cost less than one by one.
  static int flags;
  size = (size + 15) & ~15ul;
  if (size > SLAB / 4) return map_records((size + PAGE - 1) & ~(PAGE - 1), MAP_POPULATE);
  if (size > left) {
    uint8_t *fresh = map_records(SLAB, flags);
    if (!fresh) return NULL;
    next = fresh;
    left = SLAB;
    flags = MAP_POPULATE;
  }
  void *result = next;
  next += size;
  left -= size;
  return result;
}

// MARK: Gaps between mappings

typedef struct Gap {
  uint64_t start, end;
} Gap;

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/// The address in `gap` for an arena that is nearest to `body`, 0 when the gap is of no use.
static uint64_t place_in(Gap gap, uint64_t body) {
  uint64_t brk = (uint64_t)(uintptr_t)sbrk(0);
  if (gap.start < 0x10000) gap.start = 0x10000;
  // The gap the break grows into: stay a gigabyte above it.
  if (brk && gap.end > brk && gap.start < brk + BREAK_ROOM && gap.start + BREAK_ROOM > brk) gap.start = brk + BREAK_ROOM;
  gap.start = (gap.start + PAGE - 1) & ~(PAGE - 1);
  gap.end &= ~(PAGE - 1);
  if (gap.end < gap.start || gap.end - gap.start < ARENA_SIZE) return 0;
  uint64_t place = gap.end <= body ? gap.end - ARENA_SIZE : gap.start;
  return distance(place, body) < REACH && distance(place + ARENA_SIZE, body) < REACH ? place : 0;
}

/// The best place for an arena, in one walk over the mappings: the nearest gap below the body, else the nearest above. 0: none.
static uint64_t find_gap(uint64_t body) {
  HKTMaps maps;
  if (!hkt_maps_open(&maps)) return 0;
  uint64_t previous_end = 0, below = 0, above = 0;
  for (bool last = false; !last;) {
    HKTMapping mapping;
    last = !hkt_maps_next(&maps, &mapping);
    if (last) mapping = (HKTMapping){.start = 0x7ffffffff000, .end = 0x7ffffffff000};
    uint64_t place = mapping.start > previous_end ? place_in((Gap){previous_end, mapping.start}, body) : 0;
    if (place && place < body) below = place;
    if (place && place > body && !above) above = place;
    previous_end = mapping.end;
  }
  hkt_maps_close(&maps);
  return below ? below : above;
}

// MARK: Arenas

static int make_file(void) {
  // MFD_EXEC says that this file is meant to run; kernels before 6.3 do not know it.
  int fd = hkt_system.memfd("scripthost-stubs", MFD_CLOEXEC | MFD_EXEC);
  if (fd < 0 && errno == EINVAL) fd = hkt_system.memfd("scripthost-stubs", MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, ARENA_SIZE) != 0) {
    int error = errno;
    close(fd);
    errno = error;
    fd = -1;
  }
  return fd;
}

/// Maps an arena at `place`; the descriptor is not kept.
static bool map_arena(uint64_t place, HKTArena *arena) {
  void *wanted = (void *)place, *run = MAP_FAILED;
  int fd = make_file();
  if (fd >= 0) {
    run = hkt_system.map(wanted, ARENA_SIZE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    if (run == wanted) {
      void *write = hkt_system.map(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (write != MAP_FAILED) arena->writable = write;
    }
    if (run != MAP_FAILED && !arena->writable) {
      munmap(run, ARENA_SIZE);
      run = MAP_FAILED;
    }
    close(fd);
  }
  if (run == MAP_FAILED) {
    run = hkt_system.map(wanted, ARENA_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (run != MAP_FAILED && run != wanted) {  // a kernel that does not know MAP_FIXED_NOREPLACE
      munmap(run, ARENA_SIZE);
      errno = EEXIST;
      run = MAP_FAILED;
    }
  }
  if (run == MAP_FAILED) return false;
  arena->base = place;
  return true;
}

/// Maps memory for stubs that a jump of five bytes at `body` reaches; NULL: refused.
static HKTArena *add_arena(uint64_t body, HKTRefusal *refusal) {
  HKTArena *arena = hkt_record_allocate(sizeof *arena);
  if (!arena) {
    hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMORY, .error = errno, .body = body});
    return NULL;
  }
  int error = ENOMEM;
  // Another thread may map something into the gap between look and use; a few tries settle it.
  for (int attempt = 0; attempt < 8; attempt++) {
    uint64_t place = find_gap(body);
    if (!place) break;
    *arena = (HKTArena){0};
    if (map_arena(place, arena)) {
      // Without a writable view the stubs are written like code.
      if (!arena->writable && !hkt_code_open(refusal)) {
        munmap((void *)arena->base, ARENA_SIZE);
        return NULL;
      }
      arena->next = arenas;
      arenas = arena;
      return arena;
    }
    error = errno;
    if (error != EEXIST) break;
  }
  hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_STUB_SPACE, .error = error, .body = body});
  return NULL;
}

/// An arena with room for one more stub, all of it within `reach` bytes of the body; NULL: none.
static HKTArena *find_arena(uint64_t body, uint64_t reach) {
  for (HKTArena *a = arenas; a; a = a->next)
    if (!a->retired && ARENA_SIZE - a->used >= HKT_STUB_MAX && distance(a->base, body) < reach &&
        distance(a->base + ARENA_SIZE, body) < reach)
      return a;
  return NULL;
}

bool hkt_stub_place(uint64_t body, bool near, HKTStubPlace *place, HKTRefusal *refusal) {
  if (hkt_is_forked_copy())
    for (HKTArena *a = arenas; a; a = a->next) a->retired = true;
  HKTArena *arena = near ? NULL : find_arena(body, COMFORT);
  HKTRefusal why = {0};
  if (!arena) arena = add_arena(body, &why);
  if (!arena && !near) arena = find_arena(body, REACH);
  if (!arena) return hkt_refuse(refusal, why);
  *place = (HKTStubPlace){arena, arena->base + arena->used};
  return true;
}

bool hkt_stub_commit(HKTStubPlace place, const uint8_t *bytes, uint32_t length, HKTRefusal *refusal) {
  HKTArena *arena = place.arena;
  if (arena->writable) {
    memcpy(arena->writable + arena->used, bytes, length);
  } else if (!hkt_code_open(refusal) || !hkt_code_write(place.address, bytes, length, refusal)) {
    return false;
  }
  arena->used = (arena->used + length + 15) & ~15ul;
  return true;
}

bool hkt_stub_space_is_shared(void) { return arenas && arenas->writable; }

void hkt_stub_totals(HKTTotals *totals) {
  for (HKTArena *a = arenas; a; a = a->next) {
    totals->arenas++;
    totals->stub_bytes += a->used;
  }
}
