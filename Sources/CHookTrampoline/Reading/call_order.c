// Which calls a function has made before it comes to a place: the ways from behind certain calls are followed.
//
// Runs in signal handlers: its memory is a mapping of its own.
#define _GNU_SOURCE 1
#include "call_order.h"

#include "flow_steps.h"

#include <string.h>
#include <sys/mman.h>

/// An instruction to go on with, and how many are open before it.
typedef struct Waiting { uint32_t offset, open; } Waiting;

/// More that are open count as so many.
enum { MOST_OPEN = 3 };

typedef struct Ways {
  const HKTCallOrder *order;
  ZydisDecoder decoder;
  Waiting *waiting;
  uint32_t count;
  uint8_t *is_known;  // of each byte of the code: with how many open the instruction that begins there was put among those that wait
} Ways;

/// Has the ways go on at `offset` with so many open ones, unless they did already.
static void follow(Ways *w, uint64_t offset, uint32_t open) {
  if (offset >= w->order->code.size || w->is_known[offset] & (1 << open)) return;
  w->is_known[offset] |= (uint8_t)(1 << open);
  w->waiting[w->count++] = (Waiting){(uint32_t)offset, open};
}

/// What the function does that the step calls, directly or by a word near the code.
static HKTOrder callee_of(const HKTCallOrder *order, const Step *step) {
  if (step->kind == CALL) return order->callee(step->target);
  const uint8_t *bytes = order->code.bytes + step->offset;
  // call [rip + distance]
  if (step->kind != CALL_ELSEWHERE || step->length != 6 || bytes[0] != 0xff || bytes[1] != 0x15) return HKT_ORDER_NEITHER;
  int32_t distance;
  uint64_t target;
  memcpy(&distance, bytes + 2, sizeof distance);
  memcpy(&target, bytes + 6 + distance, sizeof target);
  return order->callee(target);
}

/// The step is the one that is asked about: it begins at the place, or is a call that returns there.
static bool is_place(const HKTCallOrder *order, const Step *step) {
  return order->code.address + step->offset + (order->is_return ? step->length : 0) == order->place;
}

/// Begins behind each call of what begins; true where the place is the call itself. All instructions are read in a row: between them is
/// nothing in code of compilers.
static bool find_beginnings(Ways *w) {
  const HKTCallOrder *order = w->order;
  for (uint64_t offset = 0; offset < order->code.size;) {
    Step step;
    if (!hkt_read_step(&w->decoder, &order->code, offset, &step)) {
      offset++;
      continue;
    }
    offset += step.length;
    if (callee_of(order, &step) != HKT_ORDER_BEGINS) continue;
    if (is_place(order, &step)) return true;
    follow(w, offset, 0);
  }
  return false;
}

/// Follows all ways that wait; true where one reaches the place with something open.
static bool leads_there(Ways *w) {
  const HKTCallOrder *order = w->order;
  if (find_beginnings(w)) return true;
  while (w->count > 0) {
    Waiting from = w->waiting[--w->count];
    Step step;
    if (!hkt_read_step(&w->decoder, &order->code, from.offset, &step)) continue;
    if (is_place(order, &step)) return true;
    HKTOrder what = order->stores_close && step.stored && step.stack_base < 0 ? HKT_ORDER_CLOSES : callee_of(order, &step);
    if (step.kind == END || (what == HKT_ORDER_CLOSES && from.open == 0)) continue;
    if (step.kind == JUMP_ELSEWHERE) return true;
    uint32_t open = what == HKT_ORDER_CLOSES ? from.open - 1 : what == HKT_ORDER_OPENS && from.open < MOST_OPEN ? from.open + 1 : from.open;
    if (step.kind == JUMP || step.kind == BRANCH) follow(w, step.target - order->code.address, open);
    if (step.kind != JUMP) follow(w, step.offset + step.length, open);
  }
  return false;
}

bool hkt_is_behind_call(const HKTCallOrder *order) {
  // Each byte waits once at most with each number of open ones.
  uint64_t size = order->code.size, waiting = size * (MOST_OPEN + 1) * sizeof(Waiting), room = waiting + size;
  uint8_t *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return true;
  Ways ways = {.order = order, .decoder = hkt_decoder(), .waiting = (Waiting *)memory, .is_known = memory + waiting};
  bool found = leads_there(&ways);
  munmap(memory, room);
  return found;
}
