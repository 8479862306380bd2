// Transactions: many bodies change together, or none does.
//
// With one thread in the process the bytes are simply written. With more, the
// order of ABI "live patching" holds at every moment of every body:
//
//   breakpoint at byte 0 | processors in step | every thread out of the window |
//   tail | processors in step | byte 0 | processors in step
//
// While a body has the breakpoint, calls go on through the trap handler.
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../Process/threads.h"
#include "code_memory.h"
#include "rendezvous.h"
#include "stub_space.h"
#include "transaction.h"

/// The patches one transaction changes, sorted by address.
typedef struct Change {
  HKTPatch **patches;
  size_t count;
  void *list;     // where they are kept
  size_t mapped;
  bool installing;
  HKTRefusal *refusal;
  HKTTransactionReport report;
} Change;

/// What the body holds before the change. Of each patch HKT_DIVERSION_SIZE bytes.
static const uint8_t *old_bytes(const Change *c, const HKTPatch *p) { return c->installing ? p->original : p->diversion; }
/// What the body is to hold. Of each patch HKT_DIVERSION_SIZE bytes.
static const uint8_t *new_bytes(const Change *c, const HKTPatch *p) { return c->installing ? p->diversion : p->original; }

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

// MARK: What changes

/// A patch with the address it is sorted by: patches are far from each other.
typedef struct Placed {
  uint64_t body;
  HKTPatch *patch;
} Placed;

/// Lets the element at `root` sink to its place in the heap.
static void sift(Placed *a, size_t root, size_t count) {
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && a[child].body < a[child + 1].body) child++;
    if (a[root].body >= a[child].body) return;
    Placed t = a[root];
    a[root] = a[child];
    a[child] = t;
  }
}

/// Heap sort: in place and without malloc, which the program may have hooked.
static void sort_by_address(Placed *a, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sift(a, i, count);
  for (size_t end = count; end > 1;) {
    end--;
    Placed t = a[0];
    a[0] = a[end];
    a[end] = t;
    sift(a, 0, end);
  }
}

/// The bytes as a refusal has them: eight are read.
static uint64_t first_eight(const uint8_t *bytes) {
  uint64_t v;
  memcpy(&v, bytes, 8);
  return v;
}

/// Refuses because the body holds something else than `expected`; false, for the caller to return.
static bool changed_elsewhere(const HKTPatch *p, const uint8_t *expected, HKTRefusal *refusal) {
  uint8_t eight[8] = {0};
  memcpy(eight, (const void *)p->site.body, p->site.window < 8 ? p->site.window : 8);
  return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_CHANGED_ELSEWHERE, .body = p->site.body, .address = p->site.body,
                                          .value = first_eight(eight), .expected = first_eight(expected)});
}

/// The body begins with these bytes.
static bool holds(const HKTPatch *p, const uint8_t *bytes) { return memcmp((const void *)p->site.body, bytes, HKT_DIVERSION_SIZE) == 0; }

bool hkt_check_site(const struct HKTSite *site, HKTRefusal *refusal) {
  if (site->flags & HKT_SITE_SLOT) return true;
  const HKTPatch *p = hkt_patch(site);
  if (p->state != HKT_INSTALLED || holds(p, p->diversion) || holds(p, p->original)) return true;
  uint8_t expected[sizeof p->original];
  memcpy(expected, p->original, sizeof expected);
  memcpy(expected, p->diversion, HKT_DIVERSION_SIZE);
  return changed_elsewhere(p, expected, refusal);
}

/// The body is not yet as wanted: by our books, or because someone put its original bytes back, who knew those of the file.
static bool is_to_change(const HKTPatch *p, bool installing) {
  if ((p->state == HKT_INSTALLED) != installing) return true;
  return installing && !holds(p, p->diversion) && holds(p, p->original);
}

/// Whether a site is not yet as wanted. `ok` turns false when someone else's bytes are in one.
static bool anything_to_change(const Change *c, struct HKTSite *const *sites, size_t count, bool *ok) {
  bool any = false;
  for (size_t i = 0; i < count && *ok; i++) {
    if (sites[i]->flags & HKT_SITE_SLOT) continue;
    *ok = !c->installing || hkt_check_site(sites[i], c->refusal);
    any |= is_to_change(hkt_patch(sites[i]), c->installing);
  }
  return any;
}

/// Collects the sites that are not yet as wanted, sorted, each once. False when someone else's bytes are in one.
static bool collect(Change *c, struct HKTSite *const *sites, size_t count) {
  bool ok = true;
  // Most hooks are on code that is diverted already.
  if (!anything_to_change(c, sites, count, &ok) || !ok) return ok;
  c->mapped = count * (sizeof(Placed) + sizeof *c->patches);
  void *list = hkt_system.map(NULL, c->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (list == MAP_FAILED) return hkt_refuse(c->refusal, (HKTRefusal){.reason = HKT_NO_MEMORY, .error = errno});
  Placed *placed = list;
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (sites[i]->flags & HKT_SITE_SLOT || !is_to_change(hkt_patch(sites[i]), c->installing)) continue;
    placed[found++] = (Placed){sites[i]->body, hkt_patch(sites[i])};
  }
  sort_by_address(placed, found);
  c->patches = (HKTPatch **)(placed + count);
  for (size_t i = 0; i < found; i++)
    if (!c->count || c->patches[c->count - 1] != placed[i].patch) c->patches[c->count++] = placed[i].patch;
  c->list = list;
  return true;
}

/// Every body holds what we believe it holds, and no two windows overlap.
static bool check(const Change *c) {
  for (size_t i = 0; i < c->count; i++) {
    HKTPatch *p = c->patches[i];
    uint8_t expected[HKT_WINDOW_MAX + 1];
    memcpy(expected, p->original, sizeof expected);
    memcpy(expected, old_bytes(c, p), HKT_DIVERSION_SIZE);
    const uint8_t *found = (const uint8_t *)p->site.body;
    if (memcmp(found, expected, p->site.window) != 0) return changed_elsewhere(p, expected, c->refusal);
    if (i + 1 < c->count && c->patches[i + 1]->site.body < p->site.body + p->site.window)
      return hkt_refuse(c->refusal, (HKTRefusal){.reason = HKT_OVERLAP, .body = p->site.body, .address = p->site.body,
                                                 .value = c->patches[i + 1]->site.body});
  }
  return true;
}

/// Puts all patches of the change into one state, which the handler of breakpoints reads.
static void set_states(const Change *c, HKTState state) {
  for (size_t i = 0; i < c->count; i++) atomic_store_explicit(&c->patches[i]->state, state, memory_order_seq_cst);
}

// MARK: One thread

/// How much one write spans: sites are dense, and a write costs more than the bytes it carries.
#define SPAN 4096

/// Writes the bytes of the patches [from, upto) that one write can span; answers where the next one starts, or `from` on failure.
static size_t write_span(const Change *c, size_t from, size_t upto, const uint8_t *(*bytes)(const Change *, const HKTPatch *),
                         HKTRefusal *refusal) {
  uint8_t span[SPAN];
  uint64_t start = c->patches[from]->site.body, end = start;
  size_t next = from;
  for (; next < upto && c->patches[next]->site.body + HKT_DIVERSION_SIZE - start <= SPAN; next++) {
    uint64_t body = c->patches[next]->site.body;
    memcpy(span + (end - start), (const void *)end, body - end);  // what lies between stays
    memcpy(span + (body - start), bytes(c, c->patches[next]), HKT_DIVERSION_SIZE);
    end = body + HKT_DIVERSION_SIZE;
  }
  return hkt_code_write(start, span, end - start, refusal) ? next : from;
}

/// Says that what was written before a failure stays; false, for the caller to return.
static bool not_undone(const Change *c, HKTRefusal why) {
  why.reason = HKT_NOT_UNDONE;
  return hkt_refuse(c->refusal, why);
}

/// Writes the patches while no other thread runs: no breakpoints are needed. false: refused, with all as it was or HKT_NOT_UNDONE.
static bool change_alone(const Change *c) {
  for (size_t i = 0; i < c->count;) {
    size_t next = write_span(c, i, c->count, new_bytes, c->refusal);
    if (next == i) {
      HKTRefusal why;
      // The failed write may have been partial: its whole span is restored, too.
      for (size_t j = 0; j < c->count && j <= i; ) {
        size_t after = write_span(c, j, c->count, old_bytes, &why);
        if (after == j) return j == i ? false : not_undone(c, why);
        j = after;
      }
      return false;
    }
    i = next;
  }
  return true;
}

// MARK: Many threads

typedef enum Part { BREAKPOINT, TAIL, HEAD } Part;

/// Writes one part of all patches: the breakpoints, what follows the first bytes, or the first bytes. false at the first that fails.
static bool write_part(const Change *c, Part part, bool undo, HKTRefusal *refusal) {
  static const uint8_t breakpoint = 0xcc;
  for (size_t i = 0; i < c->count; i++) {
    const HKTPatch *p = c->patches[i];
    const uint8_t *bytes = undo ? old_bytes(c, p) : new_bytes(c, p);
    bool ok = part == BREAKPOINT ? hkt_code_write(p->site.body, &breakpoint, 1, refusal)
              : part == TAIL     ? hkt_code_write(p->site.body + 1, bytes + 1, HKT_DIVERSION_SIZE - 1, refusal)
                                 : hkt_code_write(p->site.body, bytes, 1, refusal);
    if (!ok) return false;
  }
  return true;
}

/// Back to the old bytes, from whatever stage was reached. Answers false for its caller to pass on.
static bool undo(const Change *c, bool tails_touched) {
  HKTRefusal why = {0};
  bool ok = !tails_touched || (write_part(c, BREAKPOINT, true, &why) && hkt_sync_processors(&why) &&
                               write_part(c, TAIL, true, &why) && hkt_sync_processors(&why));
  ok = ok && write_part(c, HEAD, true, &why) && hkt_sync_processors(&why);
  // Where even this fails the state stays HKT_CHANGING, and calls go on through the trap handler.
  if (!ok) return not_undone(c, why);
  set_states(c, c->installing ? HKT_PREPARED : HKT_INSTALLED);
  return false;
}

/// Writes the patches while other threads run: breakpoints first, first bytes last. false: refused.
static bool change_live(Change *c) {
  if (!hkt_live_begin(c->installing, c->refusal)) return false;
  set_states(c, HKT_CHANGING);
  if (!write_part(c, BREAKPOINT, false, c->refusal) || !hkt_sync_processors(c->refusal)) return undo(c, false);
  // Taking out needs no rendezvous: our jump is one instruction, nobody can be inside it.
  if (c->installing && !hkt_leave_windows(c->patches, c->count, &c->report, c->refusal)) return undo(c, false);
  if (!write_part(c, TAIL, false, c->refusal) || !hkt_sync_processors(c->refusal) ||
      !write_part(c, HEAD, false, c->refusal) || !hkt_sync_processors(c->refusal))
    return undo(c, true);
  return true;
}

// MARK: Entry points

/// Installs or removes sites, all or none. Takes the lock.

/// - report: what it took; NULL: nobody asks.
static bool change(struct HKTSite *const *sites, size_t count, bool installing, HKTRefusal *refusal, HKTTransactionReport *report) {
  HKTRefusal unused;
  Change c = {.installing = installing, .refusal = refusal ? refusal : &unused};
  *c.refusal = (HKTRefusal){0};
  uint64_t start = now();
  hkt_lock();
  bool ok = collect(&c, sites, count);
  if (ok && c.count) {
    ok = check(&c) && hkt_code_open(c.refusal);
    int threads = ok ? hkt_thread_count() : 0;
    c.report.live = threads != 1;
    if (ok) ok = c.report.live ? change_live(&c) : change_alone(&c);
    if (ok) set_states(&c, installing ? HKT_INSTALLED : HKT_PREPARED);
  }
  // A handler that is late may still be reading the list; it is a page or a few, once.
  if (c.list && !hkt_windows_in_use()) munmap(c.list, c.mapped);
  hkt_unlock();
  c.report.traps = hkt_trap_count();
  c.report.nanoseconds = now() - start;
  if (report) *report = c.report;
  return ok;
}

bool hkt_install(struct HKTSite *const *sites, size_t count, HKTRefusal *refusal, HKTTransactionReport *report) {
  return change(sites, count, true, refusal, report);
}

bool hkt_unpatch(struct HKTSite *const *sites, size_t count, HKTRefusal *refusal, HKTTransactionReport *report) {
  return change(sites, count, false, refusal, report);
}
