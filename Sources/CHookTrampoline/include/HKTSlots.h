// HKTSlots — diverting calls that go through a word of data: virtual tables, witness tables, import tables,
// variables of replaceable functions.
//
// A slot goes through three states, as a body does (HKTPatching.h):
//
//   prepare   a site and a stub exist; the word holds what it held
//   write     the word holds the stub's address (an async slot: that of a record which names the stub)
//   restore   the word holds what it held before; stub and site live on
//
// Code is never changed. The calls that are diverted are those that read the word after it was written, and no others.
// Whether they reach the handler is the site's matter: hkt_enable, hkt_disable.
//
// All functions may be called from any thread and serialise among themselves, except inside signal handlers. None of
// them allocates with malloc.
#ifndef HKT_SLOTS_H
#define HKT_SLOTS_H

#include "HKTPatching.h"

typedef enum HKTSlotForm : uint32_t {
  /// The word is the address of code.
  HKT_SLOT_CODE = 0,
  /// The word is the address of an async function pointer: {int32 code, relative to itself; uint32 size of the context}.
  HKT_SLOT_ASYNC = 1,
} HKTSlotForm;

typedef enum HKTSlotState : uint32_t {
  HKT_SLOT_IDLE = 0,
  HKT_SLOT_WRITTEN,
  /// The word was ours once, and someone else has changed it since: it stays as it is.
  HKT_SLOT_CHANGED_ELSEWHERE,
} HKTSlotState;

/// One word that calls go through. The caller owns the record, and keeps it while the slot is written.
typedef struct HKTSlot {
  uint64_t word;           // where it is: a multiple of 8, in memory of this process alone
  uint64_t former;         // what it holds when it is written, and gets back
  uint64_t original;       // the code that diverted calls go on to; 0: what `former` names
  uint64_t group;          // slots of one group with one `former` and `original` share a site
  HKTSlotForm form;
  HKTSlotState state;      // of the word, as hkt_write_slots and hkt_restore_slots left it
  uint64_t ours;           // what the word holds while written; set by hkt_prepare_slot
  struct HKTSite *site;    // set by hkt_prepare_slot; its body is the code that diverted calls go on to
  uint32_t protection;     // private to slots.c
} HKTSlot;

/// Makes the site of a slot, or finds the one made before. No word changes, and the site is disabled when it is new.
bool hkt_prepare_slot(HKTSlot *slot, HKTRefusal *refusal);

/// Writes all prepared slots, or none. A word that holds neither `former` nor `ours` refuses it all. Words in pages that
/// cannot be written (RELRO) have them opened for the moment.
bool hkt_write_slots(HKTSlot *slots, size_t count, HKTRefusal *refusal);

/// Gives every written slot its former word back, but where someone else has changed it: those stay as they are, with
/// HKT_SLOT_CHANGED_ELSEWHERE as their state. False when there are such, or when a word could not be written; `refusal`
/// then has the facts of the first.
bool hkt_restore_slots(HKTSlot *slots, size_t count, HKTRefusal *refusal);

/// A copy of class metadata, for ever: all of it, what lies before the address point too, with the class as its superclass.
/// NULL when its size makes no sense, or there is no memory.
void *hkt_copy_class(const void *metadata, HKTRefusal *refusal);
/// Changes one word of a copy, counted from its address point.
void hkt_set_copied_word(void *copy, uint32_t index, uint64_t value);
/// Makes the object an instance of `to`, when it is one of `from`. The object must be kept alive meanwhile.
bool hkt_switch_class(void *object, const void *from, const void *to, HKTRefusal *refusal);

/// Code to be a slot's `original` where its word is the variable of a function compiled `dynamic`: enters the function so
/// that it runs its own body, not what the variable holds. 0: the runtime has no such functions, or no memory.
uint64_t hkt_arming_stub(uint64_t function, HKTRefusal *refusal);
/// Takes back what another replacement armed the thread for when it handed its call on to a stub of ours.
void hkt_disarm(void);

/// What a word held before this process's hooks: `value` itself, or the former word of the slot site whose stub it names.
uint64_t hkt_slot_former(uint64_t value);

/// Words that hold a stub of ours, by this process's books, and sites that were made for slots.
typedef struct HKTSlotTotals { uint64_t sites, written; } HKTSlotTotals;
void hkt_slot_totals(HKTSlotTotals *totals);

#endif
