// Which entries continue a call that was delivered at another body of its selector: a thunk's, an allocating initialiser's, a base body's.
// Such a call is delivered once.
#ifndef HKT_FORWARDED_CALLS_H
#define HKT_FORWARDED_CALLS_H

#include "calls_internal.h"

/// Calls of `from` may be continued at `to`, which is then the same call.
static inline bool hkt_hands_on_to(const HKTBodyRecord *from, const HKTBodyRecord *to) {
  if (hkt_record_flags(from) & HKT_BODY_SLOT) return from->family == to->family && from != to;
  uint32_t count = __atomic_load_n(&to->forwarder_count, __ATOMIC_ACQUIRE);
  const HKTForwarder *forwarder = __atomic_load_n(&to->forwarder, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++)
    if (forwarder[i].record == from) return true;
  return false;
}

/// Calls that enter `from` are delivered to the hooks of `to`'s selector. In another image it has hooks of its own.
static inline bool hkt_delivers(const HKTBodyRecord *from, const HKTBodyRecord *to) {
  return from->owner == to->owner || __atomic_load_n(&from->layers, __ATOMIC_RELAXED) || __atomic_load_n(&from->objects, __ATOMIC_RELAXED);
}

/// The frame is that of a call which the thunk behind a slot has made.
static inline bool hkt_called_by_thunk(const HKTBodyRecord *from, const HKTFrame *frame) {
  return frame->stack[-1] - from->thunk_begin < from->thunk_end - from->thunk_begin;
}
enum { HKT_THUNK_FRAME = 4096 };

/// What continues a call at this record may be continued at another one. A replaceable function's variable is the last.
static inline bool hkt_hands_on(const HKTBodyRecord *record) {
  return (hkt_record_flags(record) & HKT_BODY_FORWARDS) && record->route != HKT_ROUTE_DYNAMIC;
}

/// The call enters the body that `from` hands it on to next: it will be known by its place on the stack.
static inline void hkt_note_forwarded(HKTThread *t, const HKTBodyRecord *from, const HKTFrame *frame) {
  t->forwarded.from = from;
  t->forwarded.stack = (uint64_t)frame->stack;
  t->forwarded.return_address = frame->stack[-1];
  t->forwarded.time = hkt_enabling_time();
}

/// True when this entry continues a call of the same selector that was delivered already: a base body that hands
/// its call on to a clone, an allocating initialiser to the initialising one.
static inline bool hkt_continues_delivered_call(HKTThread *t, HKTFrame *frame, const HKTSite *site, HKTBodyRecord *body) {
  if (__builtin_expect(!hkt_is_reached_twice(body), 1)) return false;
  // What was noted while this site was off may be of a call that has ended long ago, at the same place of the stack.
  if (t->forwarded.from && t->forwarded.time >= __atomic_load_n(&site->enabled_at, __ATOMIC_ACQUIRE) &&
      hkt_hands_on_to(t->forwarded.from, body) &&
      ((t->forwarded.stack == (uint64_t)frame->stack && t->forwarded.return_address == frame->stack[-1]) ||
       (hkt_called_by_thunk(t->forwarded.from, frame) && t->forwarded.stack - (uint64_t)frame->stack < HKT_THUNK_FRAME))) {
    // The clone may forward, too.
    if (hkt_hands_on(body)) hkt_note_forwarded(t, body, frame);
    else t->forwarded.from = NULL;
    return true;
  }
  HKTCall *top = t->top;
  if (top && hkt_is_set(top, HKT_CALL_FORWARDING) && hkt_hands_on_to(top->body, body)) {
    // Entered straight from the base that run_original called: as its tail call (the return address is
    // hkt_invoke's) or as its only direct call (checked below by range).
    extern const char hkt_invoke_returns_here[];
    if (frame->stack[-1] == (uint64_t)hkt_invoke_returns_here || hkt_called_by_thunk(top->body, frame)) {
      if (!hkt_hands_on(body)) hkt_clear_state(top, HKT_CALL_FORWARDING);
      return true;
    }
  }
  uint64_t from = frame->stack[-1];
  uint32_t count = __atomic_load_n(&body->forwarder_count, __ATOMIC_ACQUIRE);
  const HKTForwarder *forwarder = __atomic_load_n(&body->forwarder, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++)
    if (from - forwarder[i].begin <= forwarder[i].end - forwarder[i].begin) return hkt_delivers(forwarder[i].record, body);
  return false;
}

#endif
