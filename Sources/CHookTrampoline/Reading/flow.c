// Flow — follows the values a function is given.
//
// Owns the question "does this code take what is in that place?". A forward analysis over the function's instructions:
// the state is the set of places that hold, on every path, what they held at the start. An instruction that reads such a
// place takes the value: compilers emit no instruction for a value that does not exist. What one instruction does is read in
// flow_steps.c.
//
// Code that the analysis does not understand proves nothing.
//
// Leaves to the caller what a place means and which functions call which.
#include "flow_steps.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_BODY = 1 << 20, MOST_TABLES = 512, MOST_TABLE_ENTRIES = 4096 };

static const HKTPlaces PRESERVED_BY_CALLS =
  HKT_GPR(3) | HKT_GPR(4) | HKT_GPR(5) | HKT_GPR(13) | HKT_GPR(14) | HKT_GPR(15) | UINT64_C(0xffffffff00000000);
static const HKTPlaces RESULTS =
  HKT_GPR(0) | HKT_GPR(2) | HKT_GPR(1) | HKT_GPR(8) | HKT_XMM(0) | HKT_XMM(1) | HKT_XMM(2) | HKT_XMM(3);

// MARK: The function

typedef struct State {
  HKTPlaces held;   // hold the followed values on every path
  int32_t rsp;      // distance from its value at entry; NO_OFFSET: unknown
  int32_t rbp;      // the same for the frame register
  HKTPlaces own;    // registers that hold, on every path, an address in the frame or in the context of an async function
  bool r12_clear;   // r12 was cleared and not written since
  bool is_reached, is_queued;
} State;

typedef struct Reading {
  const HKTCode *code;
  const HKTFlowHost *host;
  HKTFlow *flow;
  Step *steps;
  State *states;       // before each step
  uint32_t count;
  int32_t *at;         // step that starts at an offset, -1 where none does
  uint32_t *queue;     // steps whose state changed; each is in it once at most
  uint32_t queued;
  uint64_t tables[MOST_TABLES];
  uint32_t table_count;
  bool too_many_tables;
  bool has_tables;     // else a jump to a computed address leaves the function
  uint64_t call;       // offset of the call whose results are followed; UINT64_MAX: the entry's values
  bool is_whole;
  bool restores_r13;   // pops it
  bool sets_frame;     // rbp is the frame register: [rbp+…] is in the frame
  bool is_possible;    // follows what may be held, on some path, instead of what is held on all
  HKTPlaces after;     // what is followed after the call; 0: its results
  int64_t variable;    // bytes above the stack pointer at the followed call, where a variable is whose uses after it are looked for
  uint32_t variable_size;  // 0: none is
  HKTVariableUse use;
  uint64_t returns_to; // offset the followed call returns to, which finds `call`; 0: `call` is known
} Reading;

/// A bit that nothing takes away again, of no place that is followed after a call.
static const HKTPlaces AFTERWARDS = HKT_STACK_SLOT(31);

static const State ENTRY = {.held = ~(HKT_GPR(4) | HKT_GPR(5)), .rbp = NO_OFFSET};

/// The address is in the code that is read.
static bool is_inside(const HKTCode *code, uint64_t address) { return address - code->address < code->size; }

/// The stack slots above the return address that the step touches.
static HKTPlaces slots_of(const Reading *r, const Step *step, const State *state) {
  int32_t base = step->stack_base == 4 ? state->rsp : step->stack_base == 5 ? state->rbp : NO_OFFSET;
  if (base == NO_OFFSET) return 0;
  int64_t from = (int64_t)base + step->stack_offset - 8;
  int64_t to = from + (step->stack_size ? step->stack_size : 8);
  if (from < 0) return 0;
  HKTPlaces slots = 0;
  for (int64_t slot = from / 8; slot * 8 < to; slot++) {
    int64_t bit = slot - r->code->first_slot;
    if (bit >= 0 && bit < 32) slots |= HKT_STACK_SLOT(bit);
  }
  return slots;
}

/// The step jumps out of the code.
static bool leaves(const Reading *r, const Step *step) {
  return (step->kind == JUMP || step->kind == BRANCH) && !is_inside(r->code, step->target);
}

/// What the function that the step calls or jumps to takes of what is still held.
static HKTPlaces taken_by(const Reading *r, const Step *step, const State *state) {
  if (!r->host || !r->host->taken || step->target == r->code->address) return 0;
  // Stack slots of this function are other slots of a callee, but its own after a jump with the stack as it came. r12 is
  // cleared for a callee that reports errors.
  bool keeps_slots = leaves(r, step) && state->rsp == 0 && r->code->first_slot == 0;
  HKTPlaces places = state->held & (keeps_slots ? ~UINT64_C(0) : UINT64_C(0xffffffff)) & ~HKT_GPR(12);
  return places ? places & r->host->taken(r->host->context, step->target) : 0;
}

static const HKTPlaces SLOTS = UINT64_C(0xffffffff00000000);

/// The stack slots from that one on which the stack pointer plus `above` leads to: none for a place in the frame.
static HKTPlaces slots_from(const Reading *r, int64_t above) {
  int64_t slot = above / 8 - 1 - r->code->first_slot;
  if (above < 8 || slot >= 32) return 0;
  return slot <= 0 ? SLOTS : SLOTS << slot;
}

/// Stack slots above the return address that the step may take. The compiler reaches them by the stack pointer where it knows how far that
/// is, and else by the frame register alone; from an address it takes it may go on to those above, and from one in the frame to none of them.
static HKTPlaces possible_slots(const Reading *r, const Step *step, const State *state) {
  // A function that is jumped to finds this one's slots as its own. To a part of this one the jump is that a table leads to.
  bool is_within = r->has_tables && state->rsp != 0 && state->rsp != NO_OFFSET;
  if (leaves(r, step) || (step->kind == JUMP_ELSEWHERE && !is_within)) return SLOTS;
  HKTPlaces found = 0;
  if (step->copies_frame && r->sets_frame) found |= state->rbp == NO_OFFSET ? SLOTS : slots_from(r, state->rbp);
  bool is_indexed = step->indexed_base >= 0;
  if (!is_indexed && !step->takes_address && !(step->stack_base >= 0 && step->reads_stack)) return found;
  bool by_rsp = (is_indexed ? step->indexed_base : step->stack_base) == 4;
  int32_t base = by_rsp ? state->rsp : state->rbp;
  if (base == NO_OFFSET) return by_rsp ? (r->sets_frame && state->rbp != NO_OFFSET ? found : SLOTS) : r->sets_frame ? SLOTS : found;
  if (is_indexed) return found | slots_from(r, (int64_t)base + step->indexed_offset);
  return found | (step->takes_address ? slots_from(r, (int64_t)base + step->stack_offset) : slots_of(r, step, state));
}

/// What a step may take of what may be held before it.
static HKTPlaces possible(const Reading *r, const Step *step, const State *state) {
  // Saved for the caller at the start, to be had back at the end; any other push may pass an argument.
  const uint8_t *bytes = r->code->bytes + step->offset;
  bool saves = r->restores_r13 && step->offset < 24 && step->length == 2 && bytes[0] == 0x41 && bytes[1] == 0x55;
  HKTPlaces taken = saves ? 0 : step->names;
  bool calls = step->kind == CALL || step->kind == CALL_ELSEWHERE;
  if (calls || leaves(r, step) || step->kind == JUMP_ELSEWHERE) {
    bool is_known = (step->kind == CALL || leaves(r, step)) && r->host && r->host->possible && step->target != r->code->address;
    taken |= is_known ? r->host->possible(r->host->context, step->target) : ~UINT64_C(0);
  }
  return ((taken & ~SLOTS) | possible_slots(r, step, state)) & state->held;
}

/// One of the registers is compared soon after the step, before anything else is in it.
static bool is_tested_soon(const Reading *r, const Step *step, HKTPlaces held) {
  enum { NEAR = 12 };
  const Step *end = r->steps + r->count;
  for (const Step *next = step + 1; held && next < end && next <= step + NEAR; next++) {
    if (next->tested & held) return true;
    held &= ~next->writes;
    // A call gets r12 as where its own error goes, and leaves that.
    if (next->kind == CALL || next->kind == CALL_ELSEWHERE) held &= PRESERVED_BY_CALLS;
  }
  return false;
}

/// The step puts an error into memory, from where it is compared: code without optimisation does, or with a sanitizer's checks. One
/// that has several calls in a loop keeps what may be their error in its frame without a look, too, for the next call to overwrite.
static bool is_put_by_for_test(const Reading *r, const Step *step) {
  if (step->stack_base < 0) return true;
  for (const Step *each = r->steps; each < r->steps + r->count; each++) {
    if (each->stack_base != step->stack_base || each->stack_offset != step->stack_offset || !each->reads_stack) continue;
    if (each->tests_memory || is_tested_soon(r, each, each->loaded)) return true;
  }
  return false;
}

/// The register that the step copies r12 to is tested soon after, or put by for that.
static bool tests_copy(const Reading *r, const Step *step) {
  enum { NEAR = 12 };
  const Step *end = r->steps + r->count;
  for (const Step *next = step + 1; step->copies_r12 && next < end && next <= step + NEAR; next++) {
    if (next->tested & step->copies_r12 || (next->stored & step->copies_r12 && is_put_by_for_test(r, next))) return true;
    if (next->writes & step->copies_r12) return false;
  }
  return false;
}

/// The step puts something else into r14, where an async function's context is while it runs; `pop r14` is for its caller.
static bool loses_context(const Reading *r, const Step *step) {
  const uint8_t *bytes = r->code->bytes + step->offset;
  return step->writes & HKT_GPR(14) && step->kind == NEXT && !(step->length == 2 && bytes[0] == 0x41 && bytes[1] == 0x5e);
}

/// Registers by which the frame is reached, and the context of an async function.
static HKTPlaces own_registers(const State *state) {
  return state->own | HKT_GPR(4) | HKT_GPR(14) | (state->rbp == NO_OFFSET ? 0 : HKT_GPR(5));
}

/// The step, after the followed call, may look at an object: it loads what is neither the frame's nor the async context's, calls what does more
/// than end values, or goes on elsewhere. To return, or to jump to where the caller goes on, is to leave.
static bool may_use(const Reading *r, const Step *step, const State *state) {
  if (step->kind == CALL || leaves(r, step)) return !r->host || !r->host->only_ends || !r->host->only_ends(r->host->context, step->target);
  return step->kind == CALL_ELSEWHERE || (step->loads && !(step->loads_by & own_registers(state)) && step->kind != JUMP_ELSEWHERE);
}

/// The function returns at the step; other ends trap. `ret`, with what it takes off the stack, or behind a prefix.
static bool returns(const Reading *r, const Step *step) {
  const uint8_t *bytes = r->code->bytes + step->offset;
  uint8_t opcode = step->length > 1 && (bytes[0] == 0xf3 || bytes[0] == 0xf2) ? bytes[1] : bytes[0];
  return step->kind == END && (opcode == 0xc3 || opcode == 0xc2);
}

/// Notes what a step takes in the state before it.
static void collect(const Reading *r, const Step *step, const State *state) {
  HKTFlow *flow = r->flow;
  if (r->is_possible) {
    HKTPlaces places = r->returns_to ? ~AFTERWARDS : ~UINT64_C(0);
    flow->reads |= possible(r, step, state) & places;
    if (leaves(r, step) || returns(r, step)) flow->returned |= state->held & places;
    if (loses_context(r, step) || (state->held & AFTERWARDS && may_use(r, step, state))) flow->may_use = true;
    return;
  }
  HKTPlaces taken = step->reads & state->held;
  if (step->reads_stack) taken |= slots_of(r, step, state) & state->held;
  bool looks = step->tests_r12 || (r->returns_to && ((step->stored & HKT_GPR(12) && is_put_by_for_test(r, step)) || tests_copy(r, step)));
  if (looks && state->held & HKT_GPR(12) && r->call != UINT64_MAX) flow->tests_error = true;
  bool is_followed = step->offset == r->call;
  if (!is_followed && (step->kind == CALL || leaves(r, step))) taken |= taken_by(r, step, state);
  if (is_followed && step->kind != CALL && step->kind != CALL_ELSEWHERE) flow->returned |= RESULTS;
  if (leaves(r, step) || returns(r, step)) flow->returned |= state->held;
  flow->reads |= taken;
}

/// Follows what the step does to rsp and rbp, as distances from where rsp was at entry; NO_OFFSET: not known any more.
static void move_stack(const Step *step, State *state) {
  if (step->frame_drop) state->rsp = state->rbp;
  if (step->frame_lea != NO_OFFSET) state->rsp = state->rbp == NO_OFFSET ? NO_OFFSET : state->rbp + step->frame_lea;
  else if (step->rsp_change == NO_OFFSET) state->rsp = NO_OFFSET;
  else if (state->rsp != NO_OFFSET) state->rsp += step->rsp_change;
  if (step->frame_set) state->rbp = state->rsp == NO_OFFSET ? NO_OFFSET : state->rsp + step->frame_above;
  else if (step->writes & HKT_GPR(5)) state->rbp = NO_OFFSET;
}

/// Carries the state over one step.
static void pass(const Reading *r, const Step *step, State *state) {
  if (step->writes_stack) state->held &= ~slots_of(r, step, state);
  HKTPlaces leads = own_registers(state) & (step->leads_by | step->copied);
  state->own = leads ? state->own | step->writes : state->own & ~step->writes;
  move_stack(step, state);
  state->held &= ~step->writes;
  bool was_clear = state->r12_clear;
  if (step->clears_r12) state->r12_clear = true;
  else if (step->writes & HKT_GPR(12)) state->r12_clear = false;
  if (step->kind != CALL && step->kind != CALL_ELSEWHERE) return;
  state->own &= PRESERVED_BY_CALLS;
  // Callees that throw nothing keep r12.
  state->held &= PRESERVED_BY_CALLS | (r->is_possible && r->returns_to ? HKT_GPR(12) : 0);
  state->r12_clear = false;
  if (step->offset == r->call) state->held = r->after ? r->after : RESULTS | (was_clear ? HKT_GPR(12) : 0);
}

/// The instruction behind the step may run next.
static bool goes_on(const Step *step) { return step->kind != JUMP && step->kind != JUMP_ELSEWHERE && step->kind != END; }

// MARK: All paths

/// Two bytes of the code are these. `offset` and the byte behind it lie in the code.
static bool code_at(const Reading *r, uint64_t offset, uint8_t first, uint8_t second) {
  return r->code->bytes[offset] == first && r->code->bytes[offset + 1] == second;
}

/// Reads all instructions of the code; false where one of them is none that is known.
static bool read_steps(Reading *r, const ZydisDecoder *decoder) {
  memset(r->at, 0xff, r->code->size * sizeof *r->at);
  for (uint64_t offset = 0; offset < r->code->size;) {
    Step *step = &r->steps[r->count];
    if (!hkt_read_step(decoder, r->code, offset, step)) return false;
    r->at[offset] = (int32_t)r->count++;
    r->has_tables |= step->loads_table;
    r->sets_frame |= step->frame_set;
    r->restores_r13 |= step->length == 2 && code_at(r, offset, 0x41, 0x5d);
    if (step->kind == NEXT && step->target) {
      uint32_t k = 0;
      while (k < r->table_count && r->tables[k] != step->target) k++;
      if (k == MOST_TABLES) r->too_many_tables = true;
      else if (k == r->table_count) r->tables[r->table_count++] = step->target;
    }
    offset += step->length;
  }
  return true;
}

/// The state before step `to` knows no more than `state`.
static void arrive(Reading *r, uint32_t to, const State *state) {
  State *old = &r->states[to];
  State joined = *state;
  joined.is_reached = true;
  joined.is_queued = old->is_queued;
  if (old->is_reached) {
    joined.held = r->is_possible ? joined.held | old->held : joined.held & old->held;
    if (joined.rsp != old->rsp) joined.rsp = NO_OFFSET;
    if (joined.rbp != old->rbp) joined.rbp = NO_OFFSET;
    joined.r12_clear = joined.r12_clear && old->r12_clear;
    joined.own &= old->own;
    if (joined.held == old->held && joined.own == old->own && joined.rsp == old->rsp && joined.rbp == old->rbp && joined.r12_clear == old->r12_clear) return;
  }
  *old = joined;
  if (old->is_queued) return;
  old->is_queued = true;
  r->queue[r->queued++] = to;
}

/// Arrives at an address of this function. A branch into the middle of an instruction is none we understand.
static void arrive_at(Reading *r, uint64_t address, const State *state) {
  if (!is_inside(r->code, address)) return;
  int32_t to = r->at[address - r->code->address];
  if (to < 0) r->is_whole = false;
  else arrive(r, (uint32_t)to, state);
}

/// Where a jump through a table may go: every table whose address the function computes and whose first entry lies in the
/// function is followed to its end. One too many only weakens what is known.
static void arrive_by_table(Reading *r, const State *state) {
  if (!r->has_tables) return;
  bool found = false;
  for (uint32_t t = 0; t < r->table_count && r->host && r->host->data; t++) {
    for (uint32_t entry = 0; entry < MOST_TABLE_ENTRIES; entry++) {
      const void *bytes = r->host->data(r->host->context, r->tables[t] + 4 * entry, 4);
      if (!bytes) break;
      int32_t distance;
      memcpy(&distance, bytes, 4);
      uint64_t address = r->tables[t] + (uint64_t)(int64_t)distance;
      if (!is_inside(r->code, address) || r->at[address - r->code->address] < 0) break;
      arrive_at(r, address, state);
      found = true;
    }
  }
  if (!found || r->too_many_tables) r->is_whole = false;
}

/// The address that step `at` takes outlives the next call: it is in a register that calls preserve, or was copied.
static bool keeps_address(const Reading *r, uint32_t at) {
  HKTPlaces lost = HKT_GPR(0) | HKT_GPR(1) | HKT_GPR(2) | HKT_GPR(6) | HKT_GPR(7) | HKT_GPR(8) | HKT_GPR(9) | HKT_GPR(10) | HKT_GPR(11);
  HKTPlaces taken = r->steps[at].writes;
  if (taken & ~lost) return true;
  for (uint32_t i = at + 1; i < r->count; i++) {
    const Step *step = &r->steps[i];
    if (step->kind == CALL || step->kind == CALL_ELSEWHERE) return false;
    if (step->kind != NEXT || step->names & taken & ~step->writes) return true;
    taken &= ~step->writes;
    if (!taken) return false;
  }
  return true;
}

/// Notes whether the step, which comes before the followed call, takes the variable's address for more than one call.
static void note_kept_address(Reading *r, uint32_t at, const State *state) {
  const Step *step = &r->steps[at];
  if (r->flow->rsp == NO_OFFSET || !(step->takes_address || step->copies_frame) || !keeps_address(r, at)) return;
  int32_t base = step->stack_base == 4 ? state->rsp : step->stack_base == 5 ? state->rbp : NO_OFFSET;
  int64_t from = r->flow->rsp + r->variable, place = (int64_t)base + step->stack_offset;
  bool is_elsewhere = step->takes_address && base != NO_OFFSET && (place >= from + r->variable_size || place + 4096 <= from);
  if (!is_elsewhere) r->use |= HKT_VARIABLE_MAY_BE_USED;
}

/// Notes whether the step, which may come after the followed call, loads the variable or may give its address away.
static void note_variable(Reading *r, const Step *step, const State *state) {
  if (!(state->held & AFTERWARDS) || r->flow->rsp == NO_OFFSET) return;
  int32_t base = step->stack_base == 4 ? state->rsp : step->stack_base == 5 ? state->rbp : NO_OFFSET;
  int64_t from = r->flow->rsp + r->variable, to = from + r->variable_size;
  if (step->stack_base >= 0) {
    if (base == NO_OFFSET) { r->use |= HKT_VARIABLE_MAY_BE_USED; return; }
    int64_t at = (int64_t)base + step->stack_offset, end = at + (step->stack_size ? step->stack_size : 8);
    if (step->takes_address ? at >= to || at + 4096 <= from : at >= to || end <= from) return;
    if (step->reads_stack) r->use |= HKT_VARIABLE_IS_LOADED;
    else if (step->takes_address) r->use |= HKT_VARIABLE_MAY_BE_USED;
  } else if (step->copies_frame) {
    r->use |= HKT_VARIABLE_MAY_BE_USED;
  }
}

/// Finds the state before every step that can be reached.
static void settle(Reading *r, const State *start) {
  arrive(r, 0, start);
  while (r->queued) {
    uint32_t at = r->queue[--r->queued];
    r->states[at].is_queued = false;
    const Step *step = &r->steps[at];
    State state = r->states[at];
    pass(r, step, &state);
    if (step->kind == JUMP || step->kind == BRANCH) arrive_at(r, step->target, &state);
    if (step->kind == JUMP_ELSEWHERE) arrive_by_table(r, &state);
    if (goes_on(step) && at + 1 < r->count) arrive(r, at + 1, &state);
  }
}

/// push and pop of r12 save it for the caller; whatever else names it uses it.
static void note_error_register(const Reading *r) {
  for (uint32_t i = 0; i < r->count; i++) {
    const Step *step = &r->steps[i];
    const uint8_t *bytes = r->code->bytes + step->offset;
    bool pushes = step->length == 2 && bytes[0] == 0x41 && bytes[1] == 0x54;
    bool pops = step->length == 2 && bytes[0] == 0x41 && bytes[1] == 0x5c;
    if (pushes) r->flow->saves_r12 = true;
    else if (!pops && (step->reads | step->writes) & HKT_GPR(12)) r->flow->uses_r12 = true;
  }
}

/// Reads the code and follows all ways through it; false where memory runs out or an instruction is not known.
static bool read_all_paths(Reading *r, const ZydisDecoder *decoder) {
  size_t n = r->code->size;  // no more steps than bytes
  r->steps = malloc(n * sizeof *r->steps);
  r->states = calloc(n, sizeof *r->states);
  r->at = malloc(n * sizeof *r->at);
  r->queue = malloc(n * sizeof *r->queue);
  bool done = r->steps && r->states && r->at && r->queue && read_steps(r, decoder);
  if (done && r->returns_to) {
    r->call = n;
    for (uint32_t i = 0; i < r->count; i++) {
      const Step *step = &r->steps[i];
      bool calls = step->kind == CALL || step->kind == CALL_ELSEWHERE;
      if (!calls || step->offset + step->length != r->returns_to) continue;
      r->call = step->offset;
      r->flow->is_direct = step->kind == CALL;
    }
    done = r->call < n;
  } else if (done && r->call != UINT64_MAX) {
    done = r->call < n && r->at[r->call] >= 0;
    Kind kind = done ? r->steps[r->at[r->call]].kind : NEXT;
    done = kind == CALL || kind == JUMP || kind == BRANCH;
  }
  if (done) {
    State nothing = {.rsp = 0, .rbp = NO_OFFSET};
    note_error_register(r);
    settle(r, r->call == UINT64_MAX ? &ENTRY : &nothing);
    r->flow->is_whole = r->is_whole;
    r->flow->reads = 0;
    r->flow->rsp = r->call == UINT64_MAX || !r->states[r->at[r->call]].is_reached ? NO_OFFSET : r->states[r->at[r->call]].rsp;
    for (uint32_t i = 0; r->is_whole && i < r->count; i++) {
      if (!r->states[i].is_reached) continue;
      if (r->variable_size) {
        note_kept_address(r, i, &r->states[i]);
        note_variable(r, &r->steps[i], &r->states[i]);
      } else collect(r, &r->steps[i], &r->states[i]);
    }
  }
  free(r->steps);
  free(r->states);
  free(r->at);
  free(r->queue);
  return done;
}

// MARK: The questions

/// Some bytes of the code could be a branch to its first `end` bytes, or to right behind them.
static bool may_go_back(const HKTCode *code, uint64_t end) {
  for (uint64_t i = 0; i + 2 <= code->size; i++) {
    uint8_t op = code->bytes[i];
    if ((op >= 0x70 && op <= 0x7f) || op == 0xeb || (op >= 0xe0 && op <= 0xe3)) {
      uint64_t target = i + 2 + (uint64_t)(int64_t)(int8_t)code->bytes[i + 1];
      if (target <= end) return true;
    }
    if (op != 0xe9 && !(i > 0 && code->bytes[i - 1] == 0x0f && op >= 0x80 && op <= 0x8f)) continue;
    if (i + 5 > code->size) continue;
    int32_t distance;
    memcpy(&distance, code->bytes + i + 1, 4);
    if (i + 5 + (uint64_t)(int64_t)distance <= end) return true;
  }
  return false;
}

/// The entry's first straight line: when nothing leads back to it, what it takes is taken whatever the rest does.
/// Answers whether that is all of `wanted`.
static bool read_first_line(Reading *r, const ZydisDecoder *decoder, HKTPlaces wanted) {
  State state = ENTRY;
  Step step;
  uint64_t offset = 0;
  for (; offset < r->code->size && wanted & ~r->flow->reads; offset += step.length) {
    if (!hkt_read_step(decoder, r->code, offset, &step)) return false;
    collect(r, &step, &state);
    if (step.kind != NEXT && step.kind != CALL && step.kind != CALL_ELSEWHERE) break;
    pass(r, &step, &state);
  }
  r->flow->returned = 0;
  return !(wanted & ~r->flow->reads) && !may_go_back(r->code, offset);
}

bool hkt_read_flow(const HKTCode *code, HKTPlaces wanted, const HKTFlowHost *host, HKTFlow *flow) {
  memset(flow, 0, sizeof *flow);
  ZydisDecoder decoder = hkt_decoder();
  if (code->size == 0 || code->size > LARGEST_BODY) return false;
  Reading r = {.code = code, .host = host, .flow = flow, .call = UINT64_MAX, .is_whole = true};
  // The error register is looked at in the whole function.
  if (!(wanted & HKT_GPR(12)) && read_first_line(&r, &decoder, wanted)) return true;
  return read_all_paths(&r, &decoder);
}

HKTPlaces hkt_read_possible(const HKTCode *code, const HKTFlowHost *host) {
  HKTFlow flow = {0};
  ZydisDecoder decoder = hkt_decoder();
  if (code->size == 0 || code->size > LARGEST_BODY) return ~UINT64_C(0);
  Reading r = {.code = code, .host = host, .flow = &flow, .call = UINT64_MAX, .is_whole = true, .is_possible = true};
  return read_all_paths(&r, &decoder) && flow.is_whole ? flow.reads : ~UINT64_C(0);
}

bool hkt_read_results(const HKTCode *code, uint64_t call, const HKTFlowHost *host, HKTFlow *flow) {
  memset(flow, 0, sizeof *flow);
  ZydisDecoder decoder = hkt_decoder();
  if (code->size == 0 || code->size > LARGEST_BODY) return false;
  Reading r = {.code = code, .host = host, .flow = flow, .call = call - code->address, .is_whole = true};
  return read_all_paths(&r, &decoder);
}

bool hkt_read_after_call(const HKTCode *code, uint64_t returns_to, const HKTFlowHost *host, bool is_possible, HKTFlow *flow) {
  memset(flow, 0, sizeof *flow);
  ZydisDecoder decoder = hkt_decoder();
  uint64_t offset = returns_to - code->address;
  if (offset == 0 || offset > code->size || code->size > LARGEST_BODY) return false;
  Reading r = {.code = code, .host = host, .flow = flow, .call = 0, .returns_to = offset, .is_whole = true, .is_possible = is_possible,
               .after = RESULTS | HKT_GPR(12) | (is_possible ? AFTERWARDS : 0)};
  return read_all_paths(&r, &decoder);
}

HKTVariableUse hkt_variable_use(const HKTCode *code, uint64_t returns_to, const HKTFlowHost *host, int64_t variable, uint32_t size) {
  HKTFlow flow = {0};
  ZydisDecoder decoder = hkt_decoder();
  uint64_t offset = returns_to - code->address;
  if (offset == 0 || offset > code->size || code->size > LARGEST_BODY || size == 0) return HKT_VARIABLE_MAY_BE_USED;
  Reading r = {.code = code, .host = host, .flow = &flow, .call = 0, .returns_to = offset, .is_whole = true, .is_possible = true,
               .after = AFTERWARDS, .variable = variable, .variable_size = size};
  if (!read_all_paths(&r, &decoder) || !flow.is_whole || flow.rsp == NO_OFFSET) return HKT_VARIABLE_MAY_BE_USED;
  return r.use;
}

/// The branches of the function lead to step `to` from elsewhere.
static bool is_branched_to(const Reading *r, uint32_t to) {
  uint64_t address = r->code->address + r->steps[to].offset;
  for (uint32_t i = 0; i < r->count; i++)
    if ((r->steps[i].kind == JUMP || r->steps[i].kind == BRANCH) && r->steps[i].target == address) return true;
  return false;
}

/// Goes back from the call through its straight line. A register written and then read by nobody but the callee was written for
/// it: the compiler leaves no other write of a register that the call destroys. Others may have been meant for later.
static HKTPlaces written_before(const Reading *r, uint32_t call) {
  HKTPlaces written = 0, done = 0, named = 0;
  for (uint32_t i = call; i-- > 0 && !is_branched_to(r, i + 1) && r->steps[i].kind == NEXT;) {
    const Step *step = &r->steps[i];
    HKTPlaces fresh = step->writes & ~done;
    // An instruction with several results may have been meant for another one.
    if (fresh == step->writes && (fresh & (fresh - 1)) == 0) written |= fresh & ~named;
    done |= step->writes;
    named |= step->names;
  }
  return written;
}

/// The function may use, after the call, what the register held that the callee has kept.
static bool may_use_after(const HKTCode *code, uint64_t call, const HKTFlowHost *host, HKTPlaces kept) {
  HKTFlow flow = {0};
  ZydisDecoder decoder = hkt_decoder();
  Reading r = {.code = code, .host = host, .flow = &flow, .call = call, .is_whole = true, .is_possible = true, .after = kept};
  return !read_all_paths(&r, &decoder) || !flow.is_whole || flow.reads & kept;
}

bool hkt_read_call_site(const HKTCode *code, uint64_t call, const HKTFlowHost *host, HKTPlaces *written) {
  *written = 0;
  ZydisDecoder decoder = hkt_decoder();
  uint64_t offset = call - code->address;
  if (offset >= code->size) return false;
  if (code->size > LARGEST_BODY) return true;
  Reading r = {.code = code, .call = offset, .is_whole = true};
  r.steps = malloc(code->size * sizeof *r.steps);
  r.at = malloc(code->size * sizeof *r.at);
  bool is_read = r.steps && r.at && read_steps(&r, &decoder);
  Kind kind = is_read && r.at[offset] >= 0 ? r.steps[r.at[offset]].kind : NEXT;
  // The cases of a switch start where no branch tells.
  if ((kind == CALL || kind == JUMP) && !r.has_tables) *written = written_before(&r, (uint32_t)r.at[offset]);
  bool is_call = !is_read || kind == CALL || kind == JUMP || kind == BRANCH;
  free(r.steps);
  free(r.at);
  HKTPlaces self = *written & HKT_GPR(13);
  if (self && kind == CALL && may_use_after(code, offset, host, self)) self = 0;
  *written = (*written & ~PRESERVED_BY_CALLS) | self;
  return is_call;
}
