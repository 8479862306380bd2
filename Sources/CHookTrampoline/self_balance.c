// Counts the references to self that a method's code gives up and takes.
//
// First on every path through it, joined where paths meet: where no path can have given self up it is kept, where all have it is used
// up. Nothing is known of async functions, which end in parts, and where the analysis does not understand the code.
//
// Where that leaves it open, path by path: a compiler lets go of a value once on each path, whatever the conditions, so that
// one path on which all is certain tells of all. Two that contradict each other tell nothing.
#include "self_state.h"

enum { LARGEST = 1 << 16, PARTS = 4, MOST_STATES = 1 << 8 };

typedef struct Joined {
  State state;
  bool is_reached, is_queued;
} Joined;

typedef struct Walk {
  Reader reader;
  Joined *states;        // by offset of the instruction
  uint32_t *queue;
  uint32_t queued;
  int least, most;       // of all ends
  bool ends, is_understood;
} Walk;

static bool is_same(const State *a, const State *b) {
  return a->registers == b->registers && a->doubtful == b->doubtful && a->classes == b->classes && a->slots == b->slots &&
         a->doubtful_slots == b->doubtful_slots && a->fresh == b->fresh && a->is_prologue == b->is_prologue &&
         a->may_fail == b->may_fail && a->fails == b->fails && a->tests_error == b->tests_error &&
         a->rsp == b->rsp && a->rbp == b->rbp && a->least == b->least && a->most == b->most;
}

static void arrive(Walk *w, uint64_t offset, const State *state) {
  Joined *old = &w->states[offset];
  State joined = *state;
  if (old->is_reached) {
    const State *before = &old->state;
    joined.registers &= before->registers;
    joined.slots &= before->slots;
    joined.doubtful |= before->doubtful;
    joined.classes &= before->classes;
    joined.doubtful_slots |= before->doubtful_slots;
    joined.fresh |= before->fresh;
    joined.is_prologue &= before->is_prologue;
    joined.may_fail |= before->may_fail;
    joined.fails |= before->fails;
    joined.tests_error &= before->tests_error;
    if (before->rsp != joined.rsp) joined.rsp = NO_OFFSET;
    if (before->rbp != joined.rbp) joined.rbp = NO_OFFSET;
    if (before->least < joined.least) joined.least = before->least;
    if (before->most > joined.most) joined.most = before->most;
    if (is_same(&joined, before)) return;
  }
  old->state = joined;
  old->is_reached = true;
  if (old->is_queued) return;
  old->is_queued = true;
  w->queue[w->queued++] = (uint32_t)offset;
}

/// The state on the way that the step takes.
static State state_on(const State *s, const Step *step, int way) {
  State on = *s;
  if (step->told[way] == NO_ERROR) on.may_fail = false;
  if (step->told[way] == ERROR) on.fails = true;
  return on;
}

static void end_at(Walk *w, const State *s) {
  if (!w->ends || s->least < w->least) w->least = s->least;
  if (!w->ends || s->most > w->most) w->most = s->most;
  w->ends = true;
}

/// The place of the own frame whose address the instruction computes, from rsp at entry; 1: none, NO_OFFSET: it cannot be told.
static int64_t shown_place(const Instruction *i, const State *s) {
  const ZydisDecodedOperand *to = &i->op[0], *from = &i->op[1];
  if (self_is_register(to, ZYDIS_REGISTER_RSP) || self_is_register(to, ZYDIS_REGISTER_RBP)) return 1;
  if (i->in.mnemonic == ZYDIS_MNEMONIC_MOV && self_is_register(from, ZYDIS_REGISTER_RSP)) return s->rsp;
  if (i->in.mnemonic != ZYDIS_MNEMONIC_LEA) return 1;
  if (from->mem.base == ZYDIS_REGISTER_RSP) return s->rsp == NO_OFFSET ? NO_OFFSET : s->rsp + from->mem.disp.value;
  // An rbp that is no frame pointer is a value like others.
  return from->mem.base == ZYDIS_REGISTER_RBP && s->rbp != NO_OFFSET ? s->rbp + from->mem.disp.value : 1;
}

/// Others may look at the place from here on.
static void show(Walk *w, int64_t place) {
  if (place == NO_OFFSET) { w->reader.shown = w->reader.near = UINT64_MAX; return; }
  if (place >= 0) return;
  // The slot that it lies in.
  int64_t slot = (-place + 7) / 8 - 1;
  for (int64_t above = slot; above >= 0 && above >= slot - PARTS; above--)
    if (above < SLOTS) w->reader.near |= UINT64_C(1) << above;
  if (slot < SLOTS) w->reader.shown |= UINT64_C(1) << slot;
}

static void find_shown(Walk *w) {
  w->reader.prologue = w->reader.code->size;
  int64_t first = 1;  // what the first argument of the next call is
  for (uint64_t offset = 0; offset < w->reader.code->size; offset++) {
    if (!w->states[offset].is_reached) continue;
    const State *s = &w->states[offset].state;
    Instruction i;
    if (!self_decode(&w->reader, offset, &i)) continue;
    ZydisInstructionCategory kind = i.in.meta.category;
    bool leaves = kind == ZYDIS_CATEGORY_CALL || kind == ZYDIS_CATEGORY_COND_BR || kind == ZYDIS_CATEGORY_UNCOND_BR;
    bool clears = kind == ZYDIS_CATEGORY_CALL && self_callee(&w->reader, offset, &i).kind == HKT_CALLEE_CLEARS;
    if (leaves && !clears && offset < w->reader.prologue) w->reader.prologue = offset;
    if (clears) first = 1;
    if (first != 1 && (leaves || self_is_register(&i.op[0], ZYDIS_REGISTER_RDI))) { show(w, first); first = 1; }
    int64_t place = shown_place(&i, s);
    if (self_is_register(&i.op[0], ZYDIS_REGISTER_RDI)) first = place; else show(w, place);
  }
  show(w, first);
}

static State entry_state(HKTPlaces object) {
  return (State){.registers = (uint16_t)object, .doubtful = (uint16_t)object, .rbp = NO_OFFSET, .is_prologue = true};
}

static void walk_all(Walk *w, HKTPlaces object) {
  memset(w->states, 0, w->reader.code->size * sizeof *w->states);
  w->queued = 0;
  w->ends = false;
  State entry = entry_state(object);
  arrive(w, 0, &entry);
  while (w->queued) {
    uint32_t offset = w->queue[--w->queued];
    w->states[offset].is_queued = false;
    State s = w->states[offset].state;
    Step step = self_step(&w->reader, offset, &s);
    if (step.is_unknown) w->is_understood = false;
    if (step.returns) end_at(w, &s);
    for (int k = 0; k < step.count; k++) {
      State on = state_on(&s, &step, k);
      arrive(w, step.next[k], &on);
    }
  }
}

// MARK: Path by path

typedef struct Visit {
  State state;
  uint32_t offset;
} Visit;

typedef struct Paths {
  const Reader *reader;
  Visit *visits;         // all that were found, the last of which are still to be followed
  uint32_t *table;       // numbers of visits + 1, by hash
  uint32_t found, followed;
  bool keeps, uses_up, is_whole;
} Paths;

static uint32_t hash_of(const Visit *visit) {
  const State *s = &visit->state;
  const uint64_t words[] = {visit->offset,    s->registers,      s->slots,    s->fresh, (uint32_t)s->rsp,
                            (uint32_t)s->rbp, (uint8_t)s->least, s->may_fail, s->fails};
  uint64_t hash = 0;
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) hash = (hash ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(hash >> 32) ^ (uint32_t)hash;
}

static void come(Paths *p, uint64_t offset, const State *state) {
  if (p->found == MOST_STATES) { p->is_whole = false; return; }
  Visit *visit = &p->visits[p->found];
  visit->state = *state;
  visit->offset = (uint32_t)offset;
  uint32_t at = hash_of(visit) % (2 * MOST_STATES);
  for (; p->table[at]; at = (at + 1) % (2 * MOST_STATES)) {
    const Visit *other = &p->visits[p->table[at] - 1];
    if (other->offset == visit->offset && is_same(&other->state, &visit->state)) return;
  }
  p->table[at] = ++p->found;
}

/// What the paths say on which all is certain.
static HKTBalance read_paths(const Reader *reader, HKTPlaces object) {
  Paths p = {.reader = reader, .is_whole = true};
  p.visits = malloc(MOST_STATES * sizeof *p.visits);
  p.table = calloc(2 * MOST_STATES, sizeof *p.table);
  if (p.visits && p.table) {
    State entry = entry_state(object);
    come(&p, 0, &entry);
    while (p.followed < p.found) {
      Visit visit = p.visits[p.followed++];
      Step step = self_step(reader, visit.offset, &visit.state);
      if (visit.state.least != visit.state.most) continue;
      if (step.returns && !step.is_unknown) {
        if (visit.state.least == -1) p.uses_up = true;
        else if (visit.state.least == 0) p.keeps = true;
        else p.is_whole = false;
      }
      for (int k = 0; k < step.count; k++) {
        State on = state_on(&visit.state, &step, k);
        come(&p, step.next[k], &on);
      }
    }
  }
  free(p.visits);
  free(p.table);
  if (!p.is_whole || p.keeps == p.uses_up) return HKT_BALANCE_UNKNOWN;
  return p.keeps ? HKT_BALANCE_KEPT : HKT_BALANCE_CONSUMED;
}

/// What all paths together say.
static HKTBalance joined_balance(const Walk *w) {
  if (!w->is_understood) return HKT_BALANCE_UNREAD;
  // What never returns uses nothing up that anybody will miss.
  if (!w->ends) return HKT_BALANCE_KEPT;
  if (w->most <= -1) return HKT_BALANCE_CONSUMED;
  return w->least >= 0 ? HKT_BALANCE_KEPT : HKT_BALANCE_UNKNOWN;
}

HKTBalance hkt_read_balance(const HKTCode *code, HKTPlaces object, HKTOwnedResults results, const HKTBalanceHost *host) {
  Walk w = {.reader = {.code = code, .host = host, .results = results}, .is_understood = true};
  if (code->size == 0 || code->size > LARGEST) return HKT_BALANCE_UNREAD;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&w.reader.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return HKT_BALANCE_UNREAD;
  w.states = calloc(code->size, sizeof *w.states);
  w.queue = malloc(code->size * sizeof *w.queue);
  bool has_memory = w.states && w.queue;
  if (has_memory) {
    // First for the stack pointer's ways, which tell the addresses that are taken.
    walk_all(&w, object);
    find_shown(&w);
    walk_all(&w, object);
  }
  free(w.states);
  free(w.queue);
  if (!has_memory) return HKT_BALANCE_UNREAD;
  HKTBalance joined = joined_balance(&w);
  if (joined == HKT_BALANCE_KEPT || joined == HKT_BALANCE_CONSUMED) return joined;
  w.reader.is_strict = true;
  HKTBalance found = read_paths(&w.reader, object);
  return found == HKT_BALANCE_UNKNOWN ? joined : found;
}
