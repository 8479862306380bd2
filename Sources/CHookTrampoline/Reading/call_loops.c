// Whether a function has a loop that LLVM may have made of the calls with which it ended, its own.
//
// Code does not tell such a loop from one that somebody wrote. What it tells is which loops cannot be one. Where calls became a loop, it holds
// all that the function does, so that nothing happens before it but what happens in it again: a first round may stand before the loop. What
// goes around in it are the arguments, from those that the function was called with on, and the number or bits into which results are
// gathered. And nobody has the address of a place in the frame: another call would have another frame.
#include "HKTFlow.h"
#include "HKTPatching.h"

#include "flow_steps.h"

#include <stdlib.h>
#include <string.h>

/// What a register holds before the loop, as far as it is known: several bits where ways join.
enum { FROM_CALLER = 1, FROM_CONSTANT = 2, FROM_MEMORY = 4 };
enum { REGISTERS = 32, ANY_OFFSET = INT32_MIN };

typedef struct Values {
  uint8_t kind[REGISTERS];
  int32_t offset[REGISTERS];  // FROM_MEMORY: of the instruction that loaded it; ANY_OFFSET for several
  bool is_reached;
} Values;

/// What is on the stack of `find_loops`, and what it found.
typedef struct Node {
  int32_t number, low;  // 0: not seen yet
  int32_t loop;         // which loop the step is in, 0: in none
  uint32_t next;        // the successor to look at next
  bool is_open;
} Node;

typedef struct Function {
  const HKTCode *code;
  const HKTLoopHost *host;
  Step *steps;
  Node *nodes;
  int32_t *at;          // step by offset; -1: none begins there
  uint32_t *stack, *path;
  HKTPlaces *live;      // of steps of the loop: what is taken there or later on in it
  bool *is_target;      // jumps of the function go to the step
  bool *leads;          // the step is before the loop and leads there
  Values *values;       // before each of these
  uint32_t count;
  uint64_t room;        // of steps
  int32_t loops;
  bool has_tables;      // of jumps
  HKTPlaces frame;      // registers that lead to the frame: without a frame pointer rbp is one like others
} Function;

// MARK: Where steps go on

static const HKTPlaces LOST_BY_CALLS = HKT_GPR(0) | HKT_GPR(1) | HKT_GPR(2) | HKT_GPR(6) | HKT_GPR(7) | HKT_GPR(8) | HKT_GPR(9) | HKT_GPR(10) | HKT_GPR(11) |
                                       UINT64_C(0xffff0000);

static bool is_call(const Step *step) { return step->kind == CALL || step->kind == CALL_ELSEWHERE; }
static bool is_jump(const Step *step) { return step->kind == JUMP || step->kind == BRANCH; }
static HKTPlaces written(const Function *f, const Step *step) {
  return (step->writes | (is_call(step) ? LOST_BY_CALLS : 0)) & UINT64_C(0xffffffff) & ~f->frame;
}
static HKTPlaces taken(const Function *f, const Step *step) { return step->names & UINT64_C(0xffffffff) & ~f->frame; }

/// The step takes the address of a place in the frame.
static bool gives_place(const Function *f, const Step *step) {
  bool by_stack = step->stack_base == 4 || step->names & HKT_GPR(4);
  return (step->takes_address || step->copies_frame) && (by_stack || f->frame & HKT_GPR(5));
}

/// The step a jump of the function goes to; -1 where it leaves it.
static int32_t target_of(const Function *f, const Step *step) {
  uint64_t offset = step->target - f->code->address;
  return offset < f->code->size ? f->at[offset] : -1;
}

/// Nothing goes on with the step after this one.
static bool ends(const Step *step) { return step->kind == JUMP || step->kind == JUMP_ELSEWHERE || step->kind == END; }

/// The step is the first of what a table of jumps may lead to: nothing else is known to go there.
static bool is_loose(const Function *f, uint32_t i) { return i > 0 && ends(&f->steps[i - 1]) && !f->is_target[i]; }

/// Successor number `n` of step `i`; -1: it has no more, -2: not this one.
static int32_t successor(const Function *f, uint32_t i, uint32_t n) {
  const Step *step = &f->steps[i];
  if (step->kind == JUMP_ELSEWHERE) {
    if (n >= f->count || !f->has_tables) return -1;
    return is_loose(f, n) ? (int32_t)n : -2;
  }
  if (n == 0) return !ends(step) && i + 1 < f->count ? (int32_t)i + 1 : -2;
  if (n > 1 || !is_jump(step)) return -1;
  int32_t to = target_of(f, step);
  return to < 0 ? -1 : to;
}

// MARK: Loops

static void close_loop(Function *f, uint32_t i, uint32_t *depth) {
  bool goes_round = f->stack[*depth - 1] != i;
  for (uint32_t n = 0; !goes_round; n++) {
    int32_t to = successor(f, i, n);
    if (to == -1) break;
    goes_round = to == (int32_t)i;
  }
  if (goes_round) f->loops++;
  uint32_t each;
  do {
    each = f->stack[--*depth];
    f->nodes[each].is_open = false;
    f->nodes[each].loop = goes_round ? f->loops : 0;
  } while (each != i);
}

/// Steps that lead to each other are a loop (Tarjan), the outermost where several are in one another.
static void find_loops(Function *f) {
  uint32_t depth = 0, length = 1;
  int32_t number = 0;
  f->path[0] = 0;
  while (length > 0) {
    uint32_t i = f->path[length - 1];
    Node *node = &f->nodes[i];
    if (node->number == 0) {
      node->number = node->low = ++number;
      node->is_open = true;
      f->stack[depth++] = i;
    }
    int32_t to = successor(f, i, node->next);
    if (to == -1) {
      length--;
      if (length > 0 && node->low < f->nodes[f->path[length - 1]].low) f->nodes[f->path[length - 1]].low = node->low;
      if (node->low == node->number) close_loop(f, i, &depth);
      continue;
    }
    node->next++;
    if (to < 0) continue;
    Node *other = &f->nodes[to];
    if (other->number == 0) f->path[length++] = (uint32_t)to;
    else if (other->is_open && other->number < node->low) node->low = other->number;
  }
}

/// Marks the steps that lead to the loop and are in none; false where another loop does.
static bool find_way(Function *f, int32_t loop) {
  memset(f->leads, 0, f->count * sizeof *f->leads);
  for (bool changes = true; changes;) {
    changes = false;
    for (uint32_t i = f->count; i-- > 0;) {
      if (f->leads[i] || f->nodes[i].loop == loop || f->nodes[i].number == 0) continue;
      for (uint32_t n = 0;; n++) {
        int32_t to = f->steps[i].kind == JUMP_ELSEWHERE ? -1 : successor(f, i, n);
        if (to == -1) break;
        if (to < 0 || (f->nodes[to].loop != loop && !f->leads[to])) continue;
        if (f->nodes[i].loop != 0) return false;
        f->leads[i] = changes = true;
        break;
      }
    }
  }
  return true;
}

// MARK: What happens before the loop

static bool is_in(const Function *f, uint32_t i, int32_t loop) { return f->nodes[i].loop == loop; }

/// What the step does is done by one of the loop, too: it calls the same function, or writes memory at the same distance. A call that always
/// gives the same may have been moved out of the loop.
static bool is_done_in(const Function *f, const Step *step, int32_t loop) {
  if (step->kind == CALL && f->host->gives_same(f->host->context, step->target)) return true;
  for (uint32_t i = 0; i < f->count; i++) {
    const Step *other = &f->steps[i];
    if (!is_in(f, i, loop)) continue;
    if (is_call(step) && other->kind == step->kind && other->target == step->target) return true;
    if (step->stores_elsewhere && other->stores_elsewhere && other->memory_offset == step->memory_offset) return true;
  }
  return false;
}

static bool is_loaded_in(const Function *f, int32_t offset, int32_t loop) {
  for (uint32_t i = 0; i < f->count; i++)
    if (is_in(f, i, loop) && f->steps[i].loads_elsewhere && f->steps[i].memory_offset == offset) return true;
  return false;
}

/// Some step of the loop gives the address of a place in the frame away.
static bool loop_gives_place(const Function *f, int32_t loop) {
  for (uint32_t i = 0; i < f->count; i++)
    if (is_in(f, i, loop) && gives_place(f, &f->steps[i])) return true;
  return false;
}

/// No step on the way to the loop rules out that calls were made one of it.
static bool may_be_rounds(const Function *f, int32_t loop) {
  for (uint32_t i = 0; i < f->count; i++) {
    const Step *step = &f->steps[i];
    if (!f->leads[i]) continue;
    if (gives_place(f, step)) return false;
    if ((is_call(step) || step->stores_elsewhere) && !is_done_in(f, step, loop)) return false;
  }
  return true;
}

// MARK: What goes around

static void find_live(Function *f, int32_t loop) {
  memset(f->live, 0, f->count * sizeof *f->live);
  for (bool changes = true; changes;) {
    changes = false;
    for (uint32_t i = f->count; i-- > 0;) {
      if (!is_in(f, i, loop)) continue;
      HKTPlaces after = 0;
      for (uint32_t n = 0;; n++) {
        int32_t to = successor(f, i, n);
        if (to == -1) break;
        if (to >= 0 && is_in(f, (uint32_t)to, loop)) after |= f->live[to];
      }
      HKTPlaces now = taken(f, &f->steps[i]) | (after & ~written(f, &f->steps[i]));
      changes |= now != f->live[i];
      f->live[i] = now;
    }
  }
}

/// True where `to` says something else than before.
static bool join(Values *to, const Values *from) {
  Values old = *to;
  if (!to->is_reached) memset(to, 0, sizeof *to);
  for (int r = 0; r < REGISTERS; r++) {
    bool is_other = to->is_reached && to->kind[r] & FROM_MEMORY && from->kind[r] & FROM_MEMORY && to->offset[r] != from->offset[r];
    to->offset[r] = is_other ? ANY_OFFSET : from->kind[r] & FROM_MEMORY ? from->offset[r] : to->offset[r];
    to->kind[r] |= from->kind[r];
  }
  to->is_reached = true;
  return memcmp(&old, to, sizeof old) != 0;
}

/// What the step leaves in the registers that it writes. What a call leaves is as if the caller had given it: the loop calls the same.
static void pass(const Function *f, const Step *step, Values *values) {
  uint8_t kind = is_call(step) || step->reads_stack || step->takes_flags ? FROM_CALLER : 0;
  int32_t offset = step->memory_offset;
  if (step->loads_elsewhere) kind |= FROM_MEMORY;
  for (int r = 0; r < REGISTERS; r++) {
    if (!(taken(f, step) >> r & 1) || step->loads_elsewhere) continue;
    kind |= values->kind[r];
    if (values->kind[r] & FROM_MEMORY) offset = values->offset[r];
  }
  if (kind == 0) kind = FROM_CONSTANT;
  for (int r = 0; r < REGISTERS; r++) {
    if (!(written(f, step) >> r & 1)) continue;
    values->kind[r] = kind;
    values->offset[r] = offset;
  }
}

/// The values before each step on the way to the loop, and before those of the loop that it leads to.
static void find_values(Function *f, int32_t loop) {
  for (uint32_t i = 0; i < f->count; i++)
    if (f->leads[i] || is_in(f, i, loop)) f->values[i].is_reached = false;
  memset(f->values[0].kind, FROM_CALLER, REGISTERS);
  f->values[0].is_reached = true;
  for (bool changes = true; changes;) {
    changes = false;
    for (uint32_t i = 0; i < f->count; i++) {
      if (!f->leads[i] || !f->values[i].is_reached) continue;
      Values after = f->values[i];
      pass(f, &f->steps[i], &after);
      for (uint32_t n = 0;; n++) {
        int32_t to = successor(f, i, n);
        if (to == -1) break;
        if (to >= 0 && (f->leads[to] || is_in(f, (uint32_t)to, loop))) changes |= join(&f->values[to], &after);
      }
    }
  }
}

/// The register tells places or is compared in the loop, as a count of rounds does and what gathers results does not.
static bool counts(const Function *f, HKTPlaces place, int32_t loop) {
  for (uint32_t i = 0; i < f->count; i++)
    if (is_in(f, i, loop) && (f->steps[i].compares | f->steps[i].addresses) & place) return true;
  return false;
}

/// The function saves registers for its caller that only optimised code uses.
static bool saves_registers(const Function *f) {
  for (uint32_t i = 0; i < f->count && i < 8; i++) {
    const uint8_t *bytes = f->code->bytes + f->steps[i].offset;
    bool is_rbx = f->steps[i].length == 1 && bytes[0] == 0x53, is_r15 = f->steps[i].length == 2 && bytes[0] == 0x41 && bytes[1] == 0x57;
    if (is_rbx || is_r15) return true;
  }
  return false;
}

/// What goes around in the loop may be what calls would pass.
static bool may_be_arguments(Function *f, int32_t loop) {
  HKTPlaces changed = 0;
  bool uses_frame = false, has_any = false;
  for (uint32_t i = 0; i < f->count; i++) {
    const Step *step = &f->steps[i];
    if (is_in(f, i, loop)) changed |= written(f, step);
    if (is_in(f, i, loop) || f->leads[i]) uses_frame |= step->reads_stack || step->writes_stack;
  }
  find_live(f, loop);
  find_values(f, loop);
  for (uint32_t i = 0; i < f->count; i++) {
    if (!is_in(f, i, loop) || !f->values[i].is_reached) continue;
    for (int r = 0; r < REGISTERS; r++) {
      HKTPlaces place = UINT64_C(1) << r;
      if (!(f->live[i] & changed & place)) continue;
      has_any = true;
      uint8_t kind = f->values[i].kind[r];
      if (kind & FROM_MEMORY && !is_loaded_in(f, f->values[i].offset[r], loop)) return false;
      if (kind == FROM_CONSTANT && counts(f, place, loop)) return false;
    }
  }
  // Code without optimisation has all that goes around in its frame.
  return has_any || !uses_frame || saves_registers(f);
}

// MARK: The answer

/// How many instructions the code has, at most; 0 where none jumps back.
static uint64_t count_looping(const uint8_t *code, uint64_t size) {
  uint64_t count = 0;
  bool jumps_back = false;
  for (uint64_t offset = 0; offset < size; count++) {
    HKTQuickDecode seen;
    if (!hkt_quick_decode(code + offset, size - offset, &seen)) return size;
    offset += seen.length;
    bool is_jump = seen.course == HKT_COURSE_CONDITIONAL || seen.course == HKT_COURSE_JUMP;
    jumps_back |= is_jump && seen.distance < 0 && offset >= (uint64_t)-(int64_t)seen.distance;
  }
  return jumps_back ? count : 0;
}

static bool read_steps(Function *f) {
  ZydisDecoder decoder = hkt_decoder();
  memset(f->at, 0xff, f->code->size * sizeof *f->at);
  for (uint64_t offset = 0; offset < f->code->size; offset += f->steps[f->count++].length) {
    if (f->count == f->room || !hkt_read_step(&decoder, f->code, offset, &f->steps[f->count])) return false;
    f->at[offset] = (int32_t)f->count;
    if (f->steps[f->count].frame_set) f->frame |= HKT_GPR(5);
    f->has_tables |= f->steps[f->count].loads_table;
  }
  for (uint32_t i = 0; i < f->count; i++) {
    int32_t to = is_jump(&f->steps[i]) ? target_of(f, &f->steps[i]) : -1;
    if (to >= 0) f->is_target[to] = true;
  }
  return f->count > 0;
}

static bool may_loop(Function *f) {
  if (!read_steps(f)) return false;
  find_loops(f);
  for (int32_t loop = 1; loop <= f->loops; loop++)
    if (!loop_gives_place(f, loop) && find_way(f, loop) && may_be_rounds(f, loop) && may_be_arguments(f, loop)) return true;
  return false;
}

bool hkt_may_loop_for_calls(const HKTCode *code, const HKTLoopHost *host) {
  enum { LARGEST = 1 << 17 };
  uint64_t room = code->size <= LARGEST ? count_looping(code->bytes, code->size) : 0;
  if (room == 0) return false;
  Function f = {
      .code = code, .host = host, .room = room, .frame = HKT_GPR(4),
      .steps = calloc(room, sizeof(Step)), .nodes = calloc(room, sizeof(Node)), .at = malloc(code->size * sizeof(int32_t)),
      .stack = calloc(room, sizeof(uint32_t)), .path = calloc(room, sizeof(uint32_t)), .live = calloc(room, sizeof(HKTPlaces)),
      .is_target = calloc(room, sizeof(bool)), .leads = calloc(room, sizeof(bool)), .values = calloc(room, sizeof(Values)),
  };
  bool has_memory = f.steps && f.nodes && f.at && f.stack && f.path && f.live && f.is_target && f.leads && f.values;
  bool found = has_memory && may_loop(&f);
  void *all[] = {f.steps, f.nodes, f.at, f.stack, f.path, f.live, f.is_target, f.leads, f.values};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  return found;
}

// MARK: Async functions

/// Where the first loop ends that an instruction at `offset` is in: behind a jump back over it; 0: it is in none.
static uint64_t loop_around(const uint8_t *code, uint64_t size, uint64_t offset) {
  HKTQuickDecode seen;
  for (uint64_t at = offset; at < size; at += seen.length) {
    if (!hkt_quick_decode(code + at, size - at, &seen)) return 0;
    bool is_jump = seen.course == HKT_COURSE_CONDITIONAL || seen.course == HKT_COURSE_JUMP;
    uint64_t next = at + seen.length;
    if (is_jump && seen.distance < 0 && next + (uint64_t)(int64_t)seen.distance <= offset) return next;
  }
  return 0;
}

bool hkt_awaits_itself_in_loop(const HKTCode *code, uint64_t record) {
  enum { RECORD_SIZE = 8 };
  HKTQuickDecode seen;
  for (uint64_t at = 0; at < code->size; at += seen.length) {
    if (!hkt_quick_decode(code->bytes + at, code->size - at, &seen)) return false;
    if (!seen.relative_at) continue;
    int32_t distance;
    memcpy(&distance, code->bytes + at + seen.relative_at, sizeof distance);
    uint64_t named = code->address + at + seen.length + (uint64_t)(int64_t)distance;
    if (named - record < RECORD_SIZE && loop_around(code->bytes, code->size, at) != 0) return true;
  }
  return false;
}
