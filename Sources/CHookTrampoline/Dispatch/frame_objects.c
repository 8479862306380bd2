// Which objects lie in the frame of a function that runs, where the optimiser put them because nothing outlives the call.
//
// swift_initStackObject counts one unowned reference more than an allocation does, which keeps the final release from
// freeing the memory (seen in the runtime's code: the second word starts as 5, not 3). Unowned references do the same to
// objects of the heap, so the count tells only what may be in a frame. Where it lies tells the rest: on a thread's stack, or,
// for async functions, in the task's own memory. That of other tasks is not known; what lies there is no block of its own.
#define _GNU_SOURCE 1
#include "HKTRuntime.h"
#include "stack_room.h"
#include "thread_records.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

_Bool hkt_proxies_stand;

/// Whether malloc is the C library's, whose blocks have the header read below. Others' are not known.
static bool malloc_is_known(void) {
  static _Atomic(int) known = -1;
  int answer = atomic_load_explicit(&known, memory_order_relaxed);
  if (answer < 0) {
    Dl_info info;
    void *function = dlsym(RTLD_DEFAULT, "malloc");
    const char *name = function && dladdr(function, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    answer = name && strncmp(name, "/libc.so", 8) == 0;
    atomic_store_explicit(&known, answer, memory_order_relaxed);
  }
  return answer;
}

/// The address sanitizer's, where the program runs under it: whether a block starts there, and its bytes.
extern int __sanitizer_get_ownership(const volatile void *block) __attribute__((weak));
extern size_t __sanitizer_get_allocated_size(const volatile void *block) __attribute__((weak));

extern void *swift_task_alloc(size_t size) __attribute__((weak));
extern void swift_task_dealloc(void *memory) __attribute__((weak));

/// What comes before each piece of memory of a task, which are freed in reverse order; and before the slab they lie in. As the
/// runtime's StackAllocator has it: seen in the code of swift_task_dealloc.
typedef struct Slab { uint64_t metadata, next; uint32_t capacity, used; uint64_t reserved; } Slab;
typedef struct Piece { struct Piece *before; const Slab *slab; } Piece;

/// The address lies in memory of the task that runs on this thread.
static bool lies_in_task(uint64_t address) {
  if (!swift_task_alloc || !swift_task_dealloc || !hkt_async_task()) return false;
  // The newest piece, given back at once, leads to all others.
  void *newest = swift_task_alloc(16);
  bool found = false;
  const Slab *last = NULL;
  for (const Piece *piece = (Piece *)newest - 1; piece && !found; piece = piece->before) {
    if (piece->slab == last) continue;
    last = piece->slab;
    found = address >= (uint64_t)last && address < (uint64_t)(last + 1) + last->capacity;
  }
  swift_task_dealloc(newest);
  return found;
}

/// Reads a word of this process that may be gone; false: it is.
static bool read_word(uint64_t address, uint64_t *word) {
  struct iovec here = {word, 8}, there = {(void *)address, 8};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 8;
}

enum { IN_USE_BEFORE = 1, IS_MAPPED = 2, FLAGS = 7, SMALLEST = 32 };

/// Bytes of the block of the C library's allocator that the object starts (malloc.c: the word before it is the size, with
/// flags), 0 where that cannot be.
static uint64_t block_size(uint64_t object) {
  uint64_t header = *(const uint64_t *)(object - 8), size = header & ~(uint64_t)FLAGS;
  if (object % 16 || size % 16 || size < SMALLEST || size >> 40) return 0;
  if (!(header & IS_MAPPED)) return size;
  uint64_t before = *(const uint64_t *)(object - 16);
  return (before + size) % 4096 == 0 && (object - 16 - before) % 4096 == 0 ? size : 0;
}

static bool starts_block(uint64_t object) {
  uint64_t size = block_size(object), next;
  if (!size || *(const uint64_t *)(object - 8) & IS_MAPPED) return size;
  // The block behind it says that this one is in use.
  return !read_word(object - 8 + size, &next) || (next & IN_USE_BEFORE);
}

// MARK: Objects that are kept

extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);

/// Objects whose memory is kept, each at the place of its address, as far as no other is there. They have more unowned references than usual,
/// and lie in no frame: that was looked at before they were kept.
enum { KEPT_PLACES = 1 << 12 };
static _Atomic(uint64_t) kept_objects[KEPT_PLACES];
static _Atomic(uint64_t) *kept_place(uint64_t address) { return &kept_objects[(address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52]; }

void hkt_keep_memory(const void *object) {
  swift_unownedRetain((void *)object);
  atomic_store_explicit(kept_place((uint64_t)object), (uint64_t)object, memory_order_relaxed);
}

void hkt_release_memory(const void *object) {
  uint64_t address = (uint64_t)object;
  // Before its memory can be another's.
  atomic_compare_exchange_strong(kept_place(address), &address, 0);
  swift_unownedRelease((void *)object);
}

bool hkt_lies_in_frame(const void *object) {
  uint64_t address = (uint64_t)object;
  if (atomic_load_explicit(kept_place(address), memory_order_relaxed) == address) return false;
  HKTThread *self = hkt_thread();
  if (self && hkt_is_on_stack(self, address)) return true;
  if (hkt_lies_on_stack(address) || lies_in_task(address)) return true;
  if (__sanitizer_get_ownership) return !__sanitizer_get_ownership(object);
  return malloc_is_known() && !starts_block(address);
}

/// Metadata of a class, or of a box or a closure's context, as far as its words tell: kind, size and alignment of instances, and
/// that what it refers to is there. (Swift's TargetHeapMetadata and TargetClassMetadata without Objective-C.)
static bool is_heap_metadata(uint64_t metadata) {
  enum { CLASS = 0, BOX = 0x400, GENERIC_BOX = 0x500, LARGEST = 1 << 24 };
  uint64_t kind, sizes, alignment, witnesses, description, word;
  if (!read_word(metadata, &kind) || (kind != CLASS && kind != BOX && kind != GENERIC_BOX)) return false;
  if (kind != CLASS) return true;
  if (!read_word(metadata - 8, &witnesses) || witnesses % 8 || !read_word(witnesses + 64, &word)) return false;
  if (!read_word(metadata + 24, &sizes) || !read_word(metadata + 40, &description) || !read_word(description, &word)) return false;
  uint32_t size = (uint32_t)sizes;
  alignment = (sizes >> 32 & 0xffff) + 1;
  return size >= 16 && size < LARGEST && !(alignment & (alignment - 1));
}

const void *hkt_frame_object_among(const void *words, size_t count) {
  HKTThread *self = hkt_thread();
  if (!self) return NULL;
  // What is in use of the stack this runs on, and of the one it came from.
  uint64_t low = (uint64_t)__builtin_frame_address(0), first, high;
  hkt_stack_bounds(self, low, &first, &high);
  uint64_t outer = high == self->stack_high ? high : self->spare_entered;
  for (size_t i = 0; i < count; i++) {
    uint64_t word = ((const uint64_t *)words)[i];
    // No sum: a number such as -16 is a word, too.
    bool is_inside = (word >= low && word <= high - 16) || (word >= outer && word <= self->stack_high - 16);
    if (!is_inside || word % 8) continue;
    // Anything may point at the stack: an object has metadata and counts.
    uint64_t metadata = ((const uint64_t *)word)[0], counts = ((const uint64_t *)word)[1];
    uint32_t unowned = (uint32_t)counts >> 1, strong = counts >> 33;
    bool is_ending_or_shared = counts >> 63 || (counts >> 32 & 1);
    if (metadata > 4096 && metadata % 8 == 0 && !is_ending_or_shared && unowned >= 2 && unowned < 1 << 16 && strong < 1 << 20 &&
        is_heap_metadata(metadata))
      return (const void *)word;
  }
  return NULL;
}

size_t hkt_context_words(const void *context, size_t most) {
  // Nothing tells how large a context is, but its block.
  uint64_t object = (uint64_t)context, size = 0;
  if (malloc_is_known()) size = block_size(object);
  else if (__sanitizer_get_ownership && __sanitizer_get_ownership(context)) size = 8 + __sanitizer_get_allocated_size(context);
  uint64_t words = size < SMALLEST ? 0 : (size - 8) / 8 - 2;
  return words < most ? words : most;
}
