// Words of data that calls go through: written together, restored only where they are still ours.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static long add(long a, long b) { return a + b; }
static long subtract(long a, long b) { return a - b; }
static long foreign(long a, long b) { return a * b; }

/// A table in a page of its own, as RELRO leaves it: read-only.
static uint64_t *sealed_table(int protection) {
  uint64_t *table = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(table != MAP_FAILED);
  for (int i = 0; i < 1024; i++) table[i] = (uint64_t)(i % 2 ? subtract : add);
  CHECK(mprotect(table, 8192, protection) == 0);
  return table;
}

static long through(uint64_t *word, long a, long b) { return ((Two)__atomic_load_n(word, __ATOMIC_ACQUIRE))(a, b); }

static HKTSlot slot_of(uint64_t *word) {
  HKTSlot slot = {.word = (uint64_t)word, .former = *word, .group = 1};
  HKTRefusal r;
  CHECK(hkt_prepare_slot(&slot, &r), "reason %d, errno %d", r.reason, r.error);
  slot.site->handler = pass;
  return slot;
}

static int protection_of(void *page) {
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps);
  unsigned long start, end;
  char r, w;
  int found = -1;
  while (fscanf(maps, "%lx-%lx %c%c%*[^\n]\n", &start, &end, &r, &w) == 4)
    if ((unsigned long)page >= start && (unsigned long)page < end) found = (r == 'r' ? PROT_READ : 0) | (w == 'w' ? PROT_WRITE : 0);
  fclose(maps);
  return found;
}

static void written_and_restored(int protection) {
  uint64_t *table = sealed_table(protection);
  HKTSlot slots[3] = {slot_of(table), slot_of(table + 2), slot_of(table + 1023)};
  HKTRefusal r;
  CHECK(slots[0].site == slots[1].site && slots[0].site != slots[2].site, "one site for equal words");
  CHECK(!hkt_is_installed(slots[0].site) && hkt_install(&slots[0].site, 1, &r, NULL) && !hkt_is_installed(slots[0].site));
  CHECK(hkt_write_slots(slots, 3, &r), "reason %d", r.reason);
  CHECK(protection_of(table) == protection && protection_of(table + 1023) == protection);
  long before = handled;
  CHECK(through(table, 5, 3) == 8 && handled == before, "disabled: straight on");
  for (int i = 0; i < 3; i++) hkt_enable(slots[i].site);
  CHECK(through(table, 5, 3) == 8 && through(table + 2, 1, 1) == 2 && through(table + 1023, 5, 3) == 2 && handled == before + 3);
  CHECK(through(table + 4, 5, 3) == 8 && handled == before + 3, "a word that was not written");
  CHECK(hkt_slot_former(table[0]) == (uint64_t)add && hkt_slot_former((uint64_t)foreign) == (uint64_t)foreign);
  slots[1].site->handler = call_through;
  CHECK(through(table + 2, 20, 22) == 42 && handled == before + 4);
  HKTSlotTotals totals;
  hkt_slot_totals(&totals);
  CHECK(totals.written == 3);
  CHECK(hkt_write_slots(slots, 3, &r), "a second time changes nothing");
  CHECK(hkt_restore_slots(slots, 3, &r));
  CHECK(table[0] == (uint64_t)add && table[1023] == (uint64_t)subtract && protection_of(table) == protection);
  CHECK(hkt_restore_slots(slots, 3, &r), "a second time changes nothing");
  hkt_slot_totals(&totals);
  CHECK(totals.written == 0);
  HKTSlot again = slot_of(table);
  CHECK(again.site == slots[0].site);
  for (int i = 0; i < 3; i++) hkt_disable(slots[i].site);
  munmap(table, 8192);
}

static void stubs_outlive_their_words(void) {
  uint64_t *table = sealed_table(PROT_READ | PROT_WRITE);
  HKTSlot slot = slot_of(table);
  HKTRefusal r;
  CHECK(hkt_write_slots(&slot, 1, &r));
  hkt_enable(slot.site);
  uint64_t copied = table[0];  // a subclass made meanwhile has it
  hkt_disable(slot.site);
  CHECK(hkt_restore_slots(&slot, 1, &r) && ((Two)copied)(1, 2) == 3);
}

static void left_to_others(void) {
  uint64_t *table = sealed_table(PROT_READ | PROT_WRITE);
  HKTSlot slots[2] = {slot_of(table), slot_of(table + 1)};
  HKTRefusal r;
  // Before us: nothing is written.
  table[1] = (uint64_t)foreign;
  CHECK(!hkt_write_slots(slots, 2, &r) && r.reason == HKT_CHANGED_ELSEWHERE && r.address == (uint64_t)(table + 1) && r.body == 0);
  CHECK(r.value == (uint64_t)foreign && r.expected == (uint64_t)subtract && table[0] == (uint64_t)add);
  table[1] = (uint64_t)subtract;
  // After us: theirs stays, ours goes.
  CHECK(hkt_write_slots(slots, 2, &r));
  uint64_t ours = table[0];
  table[0] = (uint64_t)foreign;
  CHECK(!hkt_restore_slots(slots, 2, &r) && r.reason == HKT_CHANGED_ELSEWHERE && r.value == (uint64_t)foreign && r.expected == ours);
  CHECK(table[0] == (uint64_t)foreign && table[1] == (uint64_t)subtract);
  CHECK(slots[0].state == HKT_SLOT_CHANGED_ELSEWHERE && slots[1].state == HKT_SLOT_IDLE);
  CHECK(((Two)ours)(2, 2) == 4, "what they kept as their original still works");
  CHECK(hkt_restore_slots(slots, 2, &r), "said once");
}

static void refused_words(void) {
  HKTRefusal r;
  uint64_t word = (uint64_t)add;
  CHECK(!hkt_prepare_slot(&(HKTSlot){.word = (uint64_t)&word + 4, .former = word}, &r) && r.reason == HKT_NO_WORD);
  CHECK(!hkt_prepare_slot(&(HKTSlot){.word = (uint64_t)&word}, &r) && r.reason == HKT_NO_WORD);
  HKTSlot gone[2] = {slot_of(&word), slot_of(&word)};
  gone[1].word = 0x1000;
  CHECK(!hkt_write_slots(gone, 2, &r) && r.reason == HKT_NO_WORD && word == (uint64_t)add);
  uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared[0] = (uint64_t)add;
  HKTSlot other = slot_of(shared);
  CHECK(!hkt_write_slots(&other, 1, &r) && r.reason == HKT_WORD_NOT_WRITABLE && r.error == 0 && shared[0] == (uint64_t)add);
  // An image that went away does not keep the others from being restored.
  uint64_t *table = sealed_table(PROT_READ);
  HKTSlot two[2] = {slot_of(table), slot_of(&word)};
  CHECK(hkt_write_slots(two, 2, &r));
  munmap(table, 8192);
  CHECK(!hkt_restore_slots(two, 2, &r) && r.reason == HKT_NO_WORD && word == (uint64_t)add);
}

// MARK: Async slots

static struct { int32_t code; uint32_t context; } async_pointer;

static void async_slots_name_a_record(void) {
  // A record in reach of the code it names.
  uint8_t *near = mmap((void *)((uint64_t)add & ~0xfffffull) - 0x1000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(near != MAP_FAILED);
  async_pointer.context = 96;
  async_pointer.code = (int32_t)((uint64_t)add - (uint64_t)near);
  memcpy(near, &async_pointer, 8);
  uint64_t word = (uint64_t)near;
  HKTSlot slot = {.word = (uint64_t)&word, .former = word, .form = HKT_SLOT_ASYNC};
  HKTRefusal r;
  CHECK(hkt_prepare_slot(&slot, &r) && slot.site->original == (void *)add && (slot.site->flags & HKT_SITE_ASYNC));
  CHECK(hkt_write_slots(&slot, 1, &r) && word == slot.ours);
  memcpy(&async_pointer, (void *)word, 8);
  CHECK(async_pointer.context == 96);
  CHECK(((Two)(word + (uint64_t)(int64_t)async_pointer.code))(30, 12) == 42);
  CHECK(hkt_restore_slots(&slot, 1, &r) && word == (uint64_t)near);
}

void slots_of_every_kind(void) {
  written_and_restored(PROT_READ | PROT_WRITE);
  written_and_restored(PROT_READ);
  stubs_outlive_their_words();
  left_to_others();
  refused_words();
  async_slots_name_a_record();
  prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0);
  written_and_restored(PROT_READ);
}

// MARK: Failing calls

static long budget;
static bool spend(void) { return budget-- > 0; }
static void *counted_map(void *a, size_t n, int p, int f, int fd, off_t o) {
  if (!spend()) return errno = ENOMEM, MAP_FAILED;
  return mmap(a, n, p, f, fd, o);
}
static int counted_protect(void *a, size_t n, int p) { return spend() ? mprotect(a, n, p) : (errno = EPERM, -1); }
static ssize_t counted_write(int fd, const void *bytes, size_t n, off_t at) { return spend() ? pwrite(fd, bytes, n, at) : (errno = EIO, -1); }

static atomic_bool stop;
static uint64_t *read_table;
static void *reader(void *unused) {
  (void)unused;
  while (!stop) CHECK(through(read_table, 9, 4) == 13 && through(read_table + 1, 9, 4) == 5);
  return NULL;
}

/// Each call that may fail fails once, in turn: all words are written or none is.
static void fail_in_turn(bool live) {
  pthread_t t;
  uint64_t *table = read_table = sealed_table(PROT_READ);
  if (live) pthread_create(&t, NULL, reader, NULL);
  bool done = false;
  for (long allowed = 0; !done; allowed++) {
    CHECK(allowed < 100);
    HKTSlot slots[2] = {{.word = (uint64_t)table, .former = table[0], .group = 2}, {.word = (uint64_t)(table + 1), .former = table[1], .group = 2}};
    HKTRefusal r;
    hkt_system.map = counted_map;
    hkt_system.protect = counted_protect;
    hkt_system.write_code = counted_write;
    budget = allowed;
    bool ready = hkt_prepare_slot(&slots[0], &r) && hkt_prepare_slot(&slots[1], &r);
    done = ready && hkt_write_slots(slots, 2, &r);
    budget = 1000;
    if (done) CHECK(table[0] == slots[0].ours && table[1] == slots[1].ours && hkt_restore_slots(slots, 2, &r));
    else CHECK(r.reason == HKT_NO_MEMORY || r.reason == HKT_NO_STUB_SPACE || r.reason == HKT_WORD_NOT_WRITABLE ||
               r.reason == HKT_CODE_NOT_WRITABLE, "reason %d", r.reason);
    CHECK(table[0] == (uint64_t)add && table[1] == (uint64_t)subtract);
  }
  stop = true;
  if (live) pthread_join(t, NULL);
}
static void fail_alone(void) { fail_in_turn(false); }
static void fail_live(void) { fail_in_turn(true); }

static int no_protect(void *a, size_t n, int p) {
  (void)a, (void)n, (void)p;
  return errno = EPERM, -1;
}

/// Where protections may not be changed, one thread writes as code is written; beside others nothing is written.
static void without_mprotect(void) {
  uint64_t *table = read_table = sealed_table(PROT_READ);
  hkt_system.protect = no_protect;
  HKTSlot slot = slot_of(table);
  HKTRefusal r;
  CHECK(hkt_write_slots(&slot, 1, &r) && table[0] == slot.ours, "reason %d", r.reason);
  CHECK(hkt_restore_slots(&slot, 1, &r) && table[0] == (uint64_t)add);
  pthread_t t;
  stop = false;
  pthread_create(&t, NULL, reader, NULL);
  CHECK(!hkt_write_slots(&slot, 1, &r) && r.reason == HKT_WORD_NOT_WRITABLE && r.error == EPERM && table[0] == (uint64_t)add);
  stop = true;
  pthread_join(t, NULL);
}

void slots_that_fail(void) {
  in_child(fail_alone, 0);
  in_child(fail_live, 0);
  in_child(without_mprotect, 0);
}

// MARK: Beside threads

static void *switching_reader(void *unused) {
  (void)unused;
  long calls = 0;
  while (!stop) {
    CHECK(through(read_table, 9, 4) == 13 && through(read_table + 1, 9, 4) == 5);
    calls++;
  }
  return (void *)calls;
}

/// Calls see the old word or the new one, in pages that are sealed.
void slots_beside_threads(void) {
  read_table = sealed_table(PROT_READ);
  HKTSlot slots[2] = {slot_of(read_table), slot_of(read_table + 1)};
  slots[1].site->handler = call_through;
  hkt_enable(slots[0].site);
  hkt_enable(slots[1].site);
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, switching_reader, NULL);
  HKTRefusal r;
  for (int i = 0; i < 2000; i++) {
    CHECK(hkt_write_slots(slots, 2, &r), "reason %d", r.reason);
    CHECK(hkt_restore_slots(slots, 2, &r), "reason %d", r.reason);
  }
  stop = true;
  for (int i = 0; i < 3; i++) {
    void *calls;
    pthread_join(t[i], &calls);
    CHECK(calls);
  }
  CHECK(handled > 0);
}
