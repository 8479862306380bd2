// Sites: made once per body, entered in a book by address, never freed.
//
// A stub is `mov r11, site; jmp [r11]` followed by the moved window, so reading
// site->entry is all it takes to switch a hook on or off.
#include <pthread.h>
#include <string.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "relocate.h"
#include "stub_space.h"
#include "transaction.h"

// MARK: The lock

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/// A forked copy has one thread; the lock may have been another's.
static void unlock_in_child(void) { lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; }

static void watch_forks(void) { pthread_atfork(NULL, NULL, unlock_in_child); }

void hkt_lock(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&lock);
}
void hkt_unlock(void) { pthread_mutex_unlock(&lock); }

// MARK: The book

/// Open addressing, at most two thirds full. A bigger book replaces a full one; the old
/// one stays, because a signal handler may be reading it.
typedef struct Book {
  uint64_t capacity;  // a power of two
  uint64_t count;
  _Atomic(HKTPatch *) slots[];
} Book;

static _Atomic(Book *) book;

static uint64_t slot_of(uint64_t body, uint64_t capacity) { return (body * 0x9e3779b97f4a7c15ull >> 20) & (capacity - 1); }

HKTPatch *hkt_book_find(uint64_t body) {
  Book *b = atomic_load_explicit(&book, memory_order_acquire);
  if (!b) return NULL;
  for (uint64_t i = slot_of(body, b->capacity);; i = (i + 1) & (b->capacity - 1)) {
    HKTPatch *p = atomic_load_explicit(&b->slots[i], memory_order_acquire);
    if (!p || p->site.body == body) return p;
  }
}

/// Enters a patch in the book, which has room for it. Readers need no lock.
static void enter(Book *b, HKTPatch *patch) {
  uint64_t i = slot_of(patch->site.body, b->capacity);
  while (atomic_load_explicit(&b->slots[i], memory_order_relaxed)) i = (i + 1) & (b->capacity - 1);
  atomic_store_explicit(&b->slots[i], patch, memory_order_release);
  b->count++;
}

bool hkt_book_add(HKTPatch *patch) {
  Book *b = atomic_load_explicit(&book, memory_order_relaxed);
  if (!b || b->count * 3 >= b->capacity * 2) {
    uint64_t capacity = b ? b->capacity * 4 : 256;
    Book *bigger = hkt_record_allocate(sizeof(Book) + capacity * sizeof(HKTPatch *));
    if (!bigger) return false;
    bigger->capacity = capacity;
    for (uint64_t i = 0; b && i < b->capacity; i++) {
      HKTPatch *p = atomic_load_explicit(&b->slots[i], memory_order_relaxed);
      if (p) enter(bigger, p);
    }
    atomic_store_explicit(&book, bigger, memory_order_release);
    b = bigger;
  }
  enter(b, patch);
  return true;
}

struct HKTSite *hkt_find_site(uint64_t body) { return (struct HKTSite *)hkt_book_find(body); }

// MARK: Making a site

bool hkt_shadow_stack(void) {
  // ARCH_SHSTK_STATUS; kernels without it answer an error.
  uint64_t features = 0;
  return syscall(SYS_arch_prctl, 0x5005, &features) == 0 && (features & 1);
}

/// Places and moves; an operand out of reach gets one more chance in an arena beside the image.
static bool place_and_move(const HKTBody *body, HKTStubPlace *place, HKTMovedWindow *moved, HKTRefusal *refusal) {
  const uint8_t *code = (const uint8_t *)body->address;
  if (!hkt_stub_place(body->address, false, place, refusal)) return false;
  if (hkt_relocate(code, body, place->address + HKT_STUB_HEAD, true, moved, refusal)) return true;
  if (refusal->reason != HKT_OPERAND_OUT_OF_REACH) return false;
  HKTRefusal ignored;
  return hkt_stub_place(body->address, true, place, &ignored) &&
         hkt_relocate(code, body, place->address + HKT_STUB_HEAD, false, moved, refusal);
}

void hkt_write_stub_head(uint8_t stub[HKT_STUB_HEAD], const void *record) {
  memset(stub, 0xcc, HKT_STUB_HEAD);
  memcpy(stub, "\x49\xbb", 2);  // mov r11, record
  memcpy(stub + 2, &record, 8);
  memcpy(stub + 10, "\x41\xff\x23", 3);  // jmp [r11]
}
_Static_assert(offsetof(HKTSite, entry) == 0, "the stub jumps through [r11]");

/// Writes a stub: its head, and the moved instructions. Answers its length in bytes, at most HKT_STUB_MAX.
static uint32_t write_stub(uint8_t *stub, const HKTSite *site, const HKTMovedWindow *moved) {
  hkt_write_stub_head(stub, site);
  memcpy(stub + HKT_STUB_HEAD, moved->bytes, moved->length);
  return HKT_STUB_HEAD + moved->length;
}

/// The record of a body that can be diverted, with its stub written; NULL: refused. Never freed.
static HKTPatch *make_patch(const HKTBody *body, HKTRefusal *refusal) {
  HKTStubPlace place;
  HKTMovedWindow moved;
  if (!place_and_move(body, &place, &moved, refusal)) return NULL;

  HKTPatch *p = hkt_record_allocate(sizeof *p);
  if (!p) {
    hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMORY, .error = errno, .body = body->address});
    return NULL;
  }
  p->site.original = (void *)(place.address + HKT_STUB_HEAD);
  p->site.entry = p->site.original;
  p->site.body = body->address;
  p->site.body_size = body->size > UINT32_MAX ? UINT32_MAX : (uint32_t)body->size;
  p->site.window = moved.window;
  memcpy(p->original, (const void *)body->address, moved.window);
  int32_t distance = (int32_t)(place.address - (body->address + HKT_DIVERSION_SIZE));
  p->diversion[0] = 0xe9;
  memcpy(p->diversion + 1, &distance, 4);
  p->count = (uint8_t)moved.count;
  memcpy(p->from, moved.from, sizeof p->from);
  memcpy(p->to, moved.to, sizeof p->to);

  uint8_t stub[HKT_STUB_MAX];
  uint32_t length = write_stub(stub, &p->site, &moved);
  if (!hkt_stub_commit(place, stub, length, refusal)) return NULL;
  if (!hkt_book_add(p)) {
    hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMORY, .error = errno, .body = body->address});
    return NULL;
  }
  return p;
}

struct HKTSite *hkt_prepare(const HKTBody *body, HKTRefusal *refusal) {
  HKTRefusal unused;
  if (!refusal) refusal = &unused;
  *refusal = (HKTRefusal){0};
  HKTPatch *p = hkt_book_find(body->address);
  if (p) return &p->site;
  hkt_lock();
  p = hkt_book_find(body->address);
  if (!p) p = make_patch(body, refusal);
  hkt_unlock();
  return p ? &p->site : NULL;
}

// MARK: What there is

bool hkt_is_installed(const struct HKTSite *site) {
  return !(site->flags & HKT_SITE_SLOT) && atomic_load_explicit(&hkt_patch(site)->state, memory_order_acquire) == HKT_INSTALLED;
}

void hkt_totals(HKTTotals *totals) {
  *totals = (HKTTotals){0};
  hkt_lock();
  Book *b = atomic_load_explicit(&book, memory_order_relaxed);
  for (uint64_t i = 0; b && i < b->capacity; i++) {
    HKTPatch *p = atomic_load_explicit(&b->slots[i], memory_order_relaxed);
    if (!p) continue;
    totals->sites++;
    totals->record_bytes += sizeof *p;
    if (p->state == HKT_INSTALLED) totals->installed++;
  }
  hkt_stub_totals(totals);
  hkt_unlock();
}
