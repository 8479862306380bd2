// The relocator: one window per class of instruction, run before and after.
#define _GNU_SOURCE
#include "cases.h"

#include <sys/mman.h>
#include <time.h>

#define EVERY(X)                                                                                                             \
  X(w_plain) X(w_pushes) X(w_frame) X(w_load) X(w_address) X(w_own_address) X(w_store_imm) X(w_compare_imm8) X(w_sse_load)   \
  X(w_vex_load) X(w_endbr) X(w_jump_short) X(w_jump_only) X(w_jump_two) X(w_condition) X(w_condition_first)                 \
  X(w_condition_wide) X(w_call) X(w_call_first) X(w_call_register_late) X(w_call_reg_window) X(w_call_memory) X(w_call_slot) \
  X(w_jump_memory) X(w_loop) X(w_loope) X(w_loopne) X(w_jrcxz) X(w_jecxz) X(w_inner_loop) X(w_inner_skip) X(w_return_last)   \
  X(w_short_breakpoints) X(w_short_nops) X(w_return_pop)
#define DECLARE(name) extern char name[], name##_end[];
EVERY(DECLARE)
#define ROW(name) {#name, name, name##_end},
static const struct Subject {
  const char *name;
  char *body, *end;
} subjects[] = {EVERY(ROW)};
#define COUNT (sizeof subjects / sizeof *subjects)

extern char w_pointer[], w_data[], w_jump_target[], r_neighbour[];
extern Two return_address_function;

/// Calls a subject in a way that suits it: some take a function or the address of a slot first.
// Not inlined: one subject answers the address behind the call.
__attribute__((noinline)) static long run(const struct Subject *s, void *code, long a, long b) {
  if (strcmp(s->name, "w_call_reg_window") == 0) a = (long)return_address_function;
  if (strcmp(s->name, "w_call_slot") == 0) a = (long)(w_pointer - 8);
  long result = ((Two)code)(a, b);
  __asm__ volatile("" : "+r"(result));  // not a tail call, for the same reason
  return result;
}

static const long inputs[][2] = {{0, 0}, {1, 0}, {0, 1}, {5, 5}, {3, 9}, {9, 3}, {-4, 2}, {2, -4}, {77, 1}, {1, 2}};
#define INPUTS (sizeof inputs / sizeof *inputs)

static void note(const struct Subject *s, void *code, long *results) {
  for (size_t i = 0; i < INPUTS; i++) results[i] = run(s, code, inputs[i][0], inputs[i][1]);
}

static void same(const struct Subject *s, const long *before, const char *when) {
  long after[INPUTS];
  note(s, s->body, after);
  for (size_t i = 0; i < INPUTS; i++)
    CHECK(after[i] == before[i], "%s %s: f(%ld, %ld) = %lx, expected %lx", s->name, when, inputs[i][0], inputs[i][1], after[i], before[i]);
}

static HKTBody body_of(const struct Subject *s) {
  uint64_t size = (uint64_t)(s->end - s->body);
  return (HKTBody){.address = (uint64_t)s->body, .size = size, .available = size < 8 ? size + 4 : size};
}

void windows_of_every_class(void) {
  HKTSite *sites[COUNT];
  long before[COUNT][INPUTS];
  uint8_t bytes[COUNT][24];
  HKTRefusal r;
  for (size_t i = 0; i < COUNT; i++) {
    note(&subjects[i], subjects[i].body, before[i]);
    memcpy(bytes[i], subjects[i].body, 24);
    HKTBody body = body_of(&subjects[i]);
    sites[i] = hkt_prepare(&body, &r);
    CHECK(sites[i], "%s: reason %d at +%ld", subjects[i].name, r.reason, (long)(r.address - body.address));
    CHECK(hkt_prepare(&body, NULL) == sites[i], "the same body must give the same site");
    CHECK(hkt_find_site(body.address) == sites[i]);
  }
  for (int round = 0; round < 2; round++) {
    CHECK(hkt_install(sites, COUNT, &r, NULL), "reason %d", r.reason);
    for (size_t i = 0; i < COUNT; i++) {
      CHECK((uint8_t)subjects[i].body[0] == 0xe9 && hkt_is_installed(sites[i]));
      same(&subjects[i], before[i], "diverted");
      sites[i]->handler = pass;
      hkt_enable(sites[i]);
      long count = handled;
      same(&subjects[i], before[i], "handled");
      // w_jump_only goes on in w_plain, which has its own site.
      CHECK(handled >= count + (long)INPUTS, "%s: %ld calls handled", subjects[i].name, handled - count);
      sites[i]->handler = call_through;
      // This one leaves by a jump to code that answers its return address, which is hkt_invoke now.
      if (strcmp(subjects[i].name, "w_jump_memory") != 0) same(&subjects[i], before[i], "called through");
      hkt_disable(sites[i]);
    }
    CHECK(hkt_unpatch(sites, COUNT, &r, NULL), "reason %d", r.reason);
    for (size_t i = 0; i < COUNT; i++) {
      CHECK(memcmp(bytes[i], subjects[i].body, 24) == 0, "%s must be as it was", subjects[i].name);
      same(&subjects[i], before[i], "restored");
    }
  }
}

// MARK: Refusals

#define REFUSED(X)                                                                                                            \
  X(r_jump_into, HKT_JUMP_INTO_WINDOW) X(r_jump_to_entry, HKT_JUMP_TO_ENTRY) X(r_call_returns, HKT_CALL_RETURNS_INTO_WINDOW) \
  X(r_short, HKT_TOO_SHORT) X(r_runs_on, HKT_TOO_SHORT) X(r_undecodable, HKT_UNDECODABLE)                                    \
  X(r_undecodable_later, HKT_UNDECODABLE) X(r_breakpoint, HKT_UNMOVABLE) X(r_call_stack, HKT_UNMOVABLE)                       \
  X(r_short_address, HKT_UNMOVABLE) X(r_transaction, HKT_UNMOVABLE) X(r_hidden, HKT_HIDDEN_JUMP_TARGET)
#define DECLARE_REFUSED(name, reason) extern char name[], name##_end[];
REFUSED(DECLARE_REFUSED)
#define ROW_REFUSED(name, reason) {#name, name, name##_end, reason},

void windows_that_are_refused(void) {
  static const struct {
    const char *name;
    char *body, *end;
    HKTReason reason;
  } rows[] = {REFUSED(ROW_REFUSED)};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    HKTRefusal r;
    uint64_t size = (uint64_t)(rows[i].end - rows[i].body);
    HKTBody body = {.address = (uint64_t)rows[i].body, .size = size, .available = size < 5 ? size + 4 : size};
    CHECK(!hkt_prepare(&body, &r), "%s was not refused", rows[i].name);
    CHECK(r.reason == rows[i].reason, "%s: reason %d, expected %d", rows[i].name, r.reason, rows[i].reason);
    CHECK(r.body == body.address, "%s", rows[i].name);
    CHECK(!hkt_find_site(body.address));
  }
  // Bytes that are not the file's.
  uint8_t file[16];
  HKTRefusal r;
  memcpy(file, w_plain, 16);
  file[4] ^= 0xff;
  CHECK(!hkt_prepare(&(HKTBody){(uint64_t)w_plain, SIZE(w_plain), 0, file}, &r) && r.reason == HKT_DIFFERS_FROM_FILE);
  CHECK(r.address == (uint64_t)w_plain + 4 && (uint8_t)r.expected == file[4]);
  file[4] ^= 0xff;
  CHECK(hkt_prepare(&(HKTBody){(uint64_t)w_plain, SIZE(w_plain), 0, file}, &r));
  // A short body with nothing known behind it.
  extern char w_short_nops[];
  CHECK(!hkt_prepare(&(HKTBody){(uint64_t)w_short_nops, 3, 0, NULL}, &r) && r.reason == HKT_TOO_SHORT && r.value == 3);
  // Overlapping bodies in one transaction.
  HKTSite *two[2] = {prepared(w_pushes, SIZE(w_pushes)), prepared(w_pushes + 1, SIZE(w_pushes) - 1)};
  uint8_t kept[16];
  memcpy(kept, w_pushes, 16);
  CHECK(!hkt_install(two, 2, &r, NULL) && r.reason == HKT_OVERLAP);
  CHECK(memcmp(kept, w_pushes, 16) == 0);
}

// MARK: Out of reach

void windows_far_away(void) {
  // Beyond two gigabytes of everything, the absolute forms are used; displacements from rip are refused.
  uint8_t *far = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint64_t gap = (uint64_t)far > (uint64_t)w_plain ? (uint64_t)far - (uint64_t)w_plain : (uint64_t)w_plain - (uint64_t)far;
  CHECK(gap > (3ull << 30), "the image is too near to test distance");
  void *code[COUNT] = {0};
  long before[COUNT][INPUTS];
  int moved = 0, refused = 0;
  for (size_t i = 0; i < COUNT; i++) {
    HKTBody body = body_of(&subjects[i]);
    HKTMovedWindow m;
    HKTRefusal r;
    note(&subjects[i], subjects[i].body, before[i]);
    if (!hkt_move_window(&body, (uint64_t)far + 256 * i, &m, &r)) {
      CHECK(r.reason == HKT_OPERAND_OUT_OF_REACH, "%s: %d", subjects[i].name, r.reason);
      refused++;
      continue;
    }
    memcpy(far + 256 * i, m.bytes, m.length);
    code[i] = far + 256 * i;
    moved++;
  }
  CHECK(mprotect(far, 1 << 20, PROT_READ | PROT_EXEC) == 0);
  for (size_t i = 0; i < COUNT; i++) {
    if (!code[i]) continue;
    for (size_t k = 0; k < INPUTS; k++) {
      long found = run(&subjects[i], code[i], inputs[k][0], inputs[k][1]);
      CHECK(found == before[i][k], "%s far away: f(%ld, %ld) = %lx, expected %lx", subjects[i].name, inputs[k][0], inputs[k][1], found, before[i][k]);
    }
  }
  printf("far: %d moved, %d refused for their operand\n", moved, refused);
  CHECK(moved > 20 && refused > 5);
}

// MARK: Many

void many_at_once(void) {
  enum { N = 21000, STRIDE = 32 };
  static HKTSite *sites[N];
  struct timespec t[4];
  HKTRefusal r;
  HKTTransactionReport in, out;
  uint64_t sum = 0;
  for (size_t i = 0; i < N * STRIDE; i += 8) sum += *(uint64_t *)(many_bodies + i);
  clock_gettime(CLOCK_MONOTONIC, &t[0]);
  for (int i = 0; i < N; i++) {
    sites[i] = hkt_prepare(&(HKTBody){(uint64_t)many_bodies + (uint64_t)i * STRIDE, 30, STRIDE, (uint8_t *)many_bodies + i * STRIDE}, &r);
    CHECK(sites[i], "reason %d", r.reason);
  }
  clock_gettime(CLOCK_MONOTONIC, &t[1]);
  CHECK(hkt_install(sites, N, &r, &in), "reason %d", r.reason);
  clock_gettime(CLOCK_MONOTONIC, &t[2]);
  for (int i = 0; i < N; i += 100) {
    sites[i]->handler = pass;
    hkt_enable(sites[i]);
    CHECK(((Two)(many_bodies + i * STRIDE))(1, 2) == 78);
  }
  CHECK(handled == 210);
  CHECK(hkt_unpatch(sites, N, &r, &out));
  for (size_t i = 0; i < N * STRIDE; i += 8) sum -= *(uint64_t *)(many_bodies + i);
  CHECK(sum == 0, "every byte must be back");
  HKTTotals totals;
  hkt_totals(&totals);
  double prepare = (double)(t[1].tv_sec - t[0].tv_sec) * 1e3 + (double)(t[1].tv_nsec - t[0].tv_nsec) / 1e6;
  printf("many: %d sites prepared in %.1f ms, installed in %.1f ms, taken out in %.1f ms; %lu KiB of stubs, %lu KiB of records\n", N, prepare,
         (double)in.nanoseconds / 1e6, (double)out.nanoseconds / 1e6, totals.stub_bytes >> 10, totals.record_bytes >> 10);
  CHECK(!in.live && prepare + (double)in.nanoseconds / 1e6 < 500);
}
