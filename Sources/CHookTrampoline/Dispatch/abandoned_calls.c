// Calls that were left without returning: by longjmp or a foreign exception, out of a handler or out of an original.
//
// Their records lay on the stack and may be written over by now, so none of what they say is used. Which calls there were is known
// from the thread's own record: who takes a slot leaves its address beside it. A call is gone when the one that begins lies above it on
// the stack, or when its record does not name its thread and its layers any more.
//
// What a thread counts is put right by calls that go on, too: each leaves top, slots and `at_work` as it found them.
#include "abandoned_calls.h"

#include "stack_room.h"

/// The place is on the thread's own stack.
static bool is_on_stack(const HKTThread *t, const void *place) {
  return hkt_is_on_stack(t, (uint64_t)place);
}

/// A record at that place is of a call that was left, or is another's by now: it lies deeper than `frame`, or tells of others than it should.
static bool is_gone(const HKTThread *t, const HKTCall *call, const void *layers, const HKTFrame *frame) {
  return (const void *)call < (const void *)frame || call->thread != t || call->layers != layers;
}

/// Gives back the slots of calls that are gone; answers how many are in use, of those that have addresses.
static uint32_t drop_slots(HKTThread *t, const HKTFrame *frame) {
  uint32_t count = t->protected_count < HKT_HAZARDS ? t->protected_count : HKT_HAZARDS;
  uint32_t used = count;
  while (used > 0) {
    const HKTCall *holder = t->holder[used - 1];
    // Without a holder: its call is about to begin, or on another stack.
    if (!holder || !is_on_stack(t, holder) || !is_gone(t, holder, hkt_slot_layers(t, used - 1), frame)) break;
    used--;
  }
  // Calls that found no slot have no address here: theirs stay counted while the last slot is in use.
  if (used < count) hkt_release_layers(t, NULL, used);
  return used;
}

/// The call of the outermost slot is there.
static bool keeps_outermost(HKTThread *t, const HKTFrame *frame) {
  if (!atomic_load_explicit(&t->outermost, memory_order_relaxed)) return false;
  if (!is_on_stack(t, t->outermost_frame) || t->outermost_frame > frame) return true;
  hkt_release_outermost(t);
  return false;
}

/// The innermost record is of one of the calls that are there.
static bool is_right(const HKTThread *t, uint32_t slots, bool has_outermost, const HKTFrame *frame) {
  const HKTCall *top = t->top;
  if (hkt_has_left(t, frame)) return false;
  if (slots > 0 && top == t->holder[slots - 1]) return true;
  if (has_outermost && top->frame == t->outermost_frame && top->thread == t) return true;
  return t->protected_count > HKT_HAZARDS && top->thread == t;
}

/// How many handlers run on the thread; one more where the outermost slot is of a call without a record in the chain.
static uint32_t handlers_at_work(const HKTThread *t, bool has_outermost) {
  uint32_t count = 0;
  bool is_counted = false;
  for (const HKTCall *call = t->top; call; call = call->up) {
    if (!hkt_is_set(call, HKT_CALL_IN_HANDLER)) continue;
    count++;
    is_counted = is_counted || hkt_is_set(call, HKT_CALL_OUTERMOST);
  }
  return count + (has_outermost && !is_counted);
}

void hkt_drop_abandoned_calls(HKTThread *t, const HKTFrame *frame) {
  // Of calls on other stacks nothing is known.
  if (!is_on_stack(t, frame) || (t->top && !is_on_stack(t, t->top))) return;
  bool had_outermost = atomic_load_explicit(&t->outermost, memory_order_relaxed), has_outermost = keeps_outermost(t, frame);
  uint32_t slots = drop_slots(t, frame);
  if (t->top && is_right(t, slots, has_outermost, frame) && had_outermost == has_outermost) return;
  while (slots > 0 && !t->holder[slots - 1]) slots--;
  t->top = slots > 0 ? t->holder[slots - 1] : NULL;
  t->at_work = handlers_at_work(t, has_outermost);
}
