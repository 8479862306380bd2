// Slots: words of data that calls go through. The one owner of what class metadata, witness tables and import tables hold.
//
// A stub is `mov r11, site; jmp [r11]`, as a body's is, without moved code: diverted calls go on to what the word held. An
// async slot gets a record of its own before the stub, because callers read the context's size there.
//
// What must stay true:
//   1. Sites and stubs are never freed: whoever copied a word of ours (a subclass made later, another engine) may call it at
//      any time.
//   2. A word is restored only from our own stub; what someone else wrote there stays.
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "stub_space.h"
#include "transaction.h"
#include "word_memory.h"

typedef struct SlotSite {
  HKTSite site;
  uint64_t former, group, ours;
  HKTSlotForm form;
} SlotSite;
_Static_assert(offsetof(SlotSite, site) == 0, "a site's address is its record's");

// MARK: The books

/// Open addressing, at most half full. Under the lock.
typedef struct Table {
  SlotSite **entries;
  uint64_t capacity, count;
  bool by_stub;  // keyed by what the word holds while written; false: by what the site is for
} Table;

static Table made = {.by_stub = false}, stubs = {.by_stub = true};
static uint64_t written_words;

static uint64_t mix(uint64_t a, uint64_t b) { return (a ^ (b << 7 | b >> 57)) * 0x9e3779b97f4a7c15ull; }

/// The number by which a table finds the site.
static uint64_t key_of(const Table *t, const SlotSite *s) {
  return t->by_stub ? mix(s->ours, 0) : mix(mix(s->former, s->group), s->site.body);
}

/// Enters a site in a table that has room for it.
static void enter(Table *t, SlotSite *site) {
  uint64_t i = (key_of(t, site) >> 20) & (t->capacity - 1);
  while (t->entries[i]) i = (i + 1) & (t->capacity - 1);
  t->entries[i] = site;
  t->count++;
}

/// Makes room for one more. The former entries stay behind: it is a page or a few, each time the number doubles.
static bool reserve(Table *t) {
  if (t->count * 2 < t->capacity) return true;
  Table bigger = {.capacity = t->capacity ? t->capacity * 4 : 256, .by_stub = t->by_stub};
  bigger.entries = hkt_record_allocate(bigger.capacity * sizeof *bigger.entries);
  if (!bigger.entries) return false;
  for (uint64_t i = 0; i < t->capacity; i++)
    if (t->entries[i]) enter(&bigger, t->entries[i]);
  *t = bigger;
  return true;
}

/// The site that was made for such a word; NULL: none was.
static SlotSite *find_made(const SlotSite *like) {
  for (uint64_t i = key_of(&made, like) >> 20; made.capacity; i++) {
    SlotSite *s = made.entries[i & (made.capacity - 1)];
    if (!s) return NULL;
    if (s->former == like->former && s->group == like->group && s->site.body == like->site.body && s->form == like->form) return s;
  }
  return NULL;
}

/// The site whose stub begins at the address; NULL: there is none.
static SlotSite *find_stub(uint64_t ours) {
  for (uint64_t i = mix(ours, 0) >> 20; stubs.capacity; i++) {
    SlotSite *s = stubs.entries[i & (stubs.capacity - 1)];
    if (!s || s->ours == ours) return s;
  }
  return NULL;
}

// MARK: Making a site

typedef struct AsyncPointer {
  int32_t code;      // relative to this word
  uint32_t context;  // bytes
} AsyncPointer;

static uint64_t code_named_by(uint64_t former, HKTSlotForm form) {
  return form == HKT_SLOT_CODE ? former : former + (uint64_t)(int64_t)((const AsyncPointer *)former)->code;
}

/// Refuses for want of memory; false, for the caller to return.
static bool no_memory(uint64_t word, HKTRefusal *refusal) {
  return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_MEMORY, .error = errno, .address = word});
}

/// A site for the word, with a stub of its own; NULL: refused. Under the lock.
static SlotSite *make_site(const SlotSite *like, uint64_t word, HKTRefusal *refusal) {
  HKTStubPlace place;
  if (!hkt_stub_place(like->site.body, false, &place, refusal)) return NULL;
  if (!reserve(&made) || !reserve(&stubs)) return no_memory(word, refusal), NULL;
  SlotSite *s = hkt_record_allocate(sizeof *s);
  if (!s) return no_memory(word, refusal), NULL;
  *s = *like;
  s->site.original = s->site.entry = (void *)like->site.body;
  s->site.flags = HKT_SITE_SLOT;

  uint8_t bytes[2 * HKT_STUB_HEAD] = {0};
  uint32_t head = 0;
  if (s->form == HKT_SLOT_ASYNC) {
    s->site.flags |= HKT_SITE_ASYNC;
    head = HKT_STUB_HEAD;
    AsyncPointer record = {.code = HKT_STUB_HEAD, .context = ((const AsyncPointer *)s->former)->context};
    memcpy(bytes, &record, sizeof record);
  }
  hkt_write_stub_head(bytes + head, &s->site);
  if (!hkt_stub_commit(place, bytes, head + HKT_STUB_HEAD, refusal)) return NULL;
  s->ours = place.address;
  enter(&made, s);
  enter(&stubs, s);
  return s;
}

bool hkt_prepare_slot(HKTSlot *slot, HKTRefusal *refusal) {
  HKTRefusal unused;
  if (!refusal) refusal = &unused;
  *refusal = (HKTRefusal){0};
  if (slot->word % 8 || !slot->former) return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_NO_WORD, .address = slot->word});
  SlotSite like = {.former = slot->former, .group = slot->group, .form = slot->form};
  like.site.body = slot->original ? slot->original : code_named_by(slot->former, slot->form);
  hkt_lock();
  SlotSite *s = find_made(&like);
  if (!s) s = make_site(&like, slot->word, refusal);
  hkt_unlock();
  if (!s) return false;
  slot->site = &s->site;
  slot->ours = s->ours;
  return true;
}

uint64_t hkt_slot_former(uint64_t value) {
  hkt_lock();
  SlotSite *s = find_stub(value);
  hkt_unlock();
  return s ? s->former : value;
}

// MARK: Writing

/// Notes the slot's state, and counts the words that are written.
static void set_state(HKTSlot *slot, HKTSlotState state) {
  if ((slot->state == HKT_SLOT_WRITTEN) != (state == HKT_SLOT_WRITTEN)) written_words += state == HKT_SLOT_WRITTEN ? 1 : -1ull;
  slot->state = state;
}

/// All words hold what they are believed to; false: refused, and nothing was written.
static bool check(const HKTSlot *slots, size_t count, HKTRefusal *refusal) {
  for (size_t i = 0; i < count; i++) {
    uint64_t found;
    if (!hkt_word_read(&slots[i], &found, refusal)) return false;
    if (found != slots[i].former && found != slots[i].ours)
      return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_CHANGED_ELSEWHERE, .address = slots[i].word, .value = found,
                                              .expected = slots[i].former});
  }
  return true;
}

/// Marks, in HKTSlot.protection, the words that this transaction has changed.
enum { CHANGED_NOW = 1 << 17 };

/// Puts the stub's address into the word, unless it is there. false: refused.
static bool write_one(HKTSlot *slot, HKTRefusal *refusal) {
  uint64_t found;
  if (!hkt_word_read(slot, &found, refusal)) return false;
  if (found == slot->ours) return true;
  if (!hkt_word_change(slot, slot->former, slot->ours, refusal)) return false;
  slot->protection |= CHANGED_NOW;
  return true;
}

/// Gives words that were changed just now back what they held; notes in the refusal where that fails.
static void undo(HKTSlot *slots, size_t count, HKTRefusal *refusal) {
  for (size_t i = 0; i < count; i++) {
    HKTRefusal why;
    if (!(slots[i].protection & CHANGED_NOW) || hkt_word_change(&slots[i], slots[i].ours, slots[i].former, &why)) continue;
    // The stub stays in the word and hands calls on to the original: the site is not enabled.
    if (why.reason != HKT_CHANGED_ELSEWHERE) refusal->reason = HKT_NOT_UNDONE;
  }
}

bool hkt_write_slots(HKTSlot *slots, size_t count, HKTRefusal *refusal) {
  HKTRefusal unused;
  if (!refusal) refusal = &unused;
  *refusal = (HKTRefusal){0};
  hkt_lock();
  bool ok = hkt_words_look(slots, count, refusal) && check(slots, count, refusal);
  size_t done = 0;
  while (ok && done < count && (ok = write_one(&slots[done], refusal))) done++;
  for (size_t i = 0; ok && i < count; i++) set_state(&slots[i], HKT_SLOT_WRITTEN);
  if (!ok) undo(slots, done, refusal);
  hkt_unlock();
  return ok;
}

/// Gives a word back what it held. false: it holds something of somebody else's, which stays.
static bool restore_one(HKTSlot *slot, HKTRefusal *refusal) {
  if (hkt_word_change(slot, slot->ours, slot->former, refusal)) {
    set_state(slot, HKT_SLOT_IDLE);
    return true;
  }
  if (refusal->reason == HKT_CHANGED_ELSEWHERE) set_state(slot, HKT_SLOT_CHANGED_ELSEWHERE);
  if (refusal->reason == HKT_NO_WORD) set_state(slot, HKT_SLOT_IDLE);  // its image was unloaded
  return false;
}

bool hkt_restore_slots(HKTSlot *slots, size_t count, HKTRefusal *refusal) {
  HKTRefusal unused;
  if (!refusal) refusal = &unused;
  *refusal = (HKTRefusal){0};
  hkt_lock();
  bool ok = hkt_words_look(slots, count, refusal), looked = ok;
  for (size_t i = 0; looked && i < count; i++) {
    HKTRefusal why = {0};
    if (slots[i].state != HKT_SLOT_WRITTEN || restore_one(&slots[i], &why)) continue;
    if (ok) *refusal = why;
    ok = false;
  }
  hkt_unlock();
  return ok;
}

void hkt_slot_totals(HKTSlotTotals *totals) {
  hkt_lock();
  *totals = (HKTSlotTotals){.sites = made.count, .written = written_words};
  hkt_unlock();
}
