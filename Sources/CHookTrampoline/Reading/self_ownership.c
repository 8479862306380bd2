// Counts the references to self that a method's code consumes and takes.
//
// First on every path through it, joined where paths meet: where no path can have given self up it is kept, where all have it is used
// up. Nothing is known of async functions, which end in parts, and where the analysis does not understand the code.
//
// Where that leaves it open, path by path: a compiler lets go of a value once on each path, whatever the conditions, so that
// one path on which all is certain tells of all. Two that contradict each other tell nothing.
#include "self_state.h"

enum { LARGEST = 1 << 16, MOST_STATES = 1 << 12 };

typedef struct Joined {
  State state;
  bool is_reached, is_queued;
} Joined;

typedef struct Walk {
  Reader reader;
  DecodedCode decoded;
  Joined *states;        // by offset of the instruction
  uint32_t *queue;
  uint32_t queued;
  int least, most;       // of all ends
  bool ends, is_understood;
} Walk;

/// Nothing that the analysis knows tells the states apart.
static bool is_same(const State *a, const State *b) {
  return a->exact == b->exact && a->masks == b->masks && a->wide_masks == b->wide_masks && a->inside == b->inside && a->exact_slots == b->exact_slots && a->inside_slots == b->inside_slots &&
         a->halves[0] == b->halves[0] && a->halves[1] == b->halves[1] && a->doubtful_halves[0] == b->doubtful_halves[0] &&
         a->doubtful_halves[1] == b->doubtful_halves[1] && memcmp(a->witnesses, b->witnesses, sizeof a->witnesses) == 0 &&
         memcmp(a->types, b->types, sizeof a->types) == 0 && memcmp(a->values, b->values, sizeof a->values) == 0 &&
         a->registers == b->registers && a->doubtful == b->doubtful && a->classes == b->classes && a->slots == b->slots &&
         a->doubtful_slots == b->doubtful_slots && a->fresh == b->fresh && a->is_prologue == b->is_prologue &&
         a->may_fail == b->may_fail && a->fails == b->fails && a->tests_error == b->tests_error &&
         a->rsp == b->rsp && a->rbp == b->rbp && a->least == b->least && a->most == b->most;
}

/// Joins a state to what is known before the instruction at `offset`, which is read anew if that changed anything.
static void arrive(Walk *w, uint64_t offset, const State *state) {
  Joined *old = &w->states[offset];
  State joined = *state;
  if (old->is_reached) {
    const State *before = &old->state;
    joined.registers &= before->registers;
    joined.slots &= before->slots;
    joined.doubtful |= before->doubtful;
    joined.classes &= before->classes;
    joined.masks &= before->masks;
    joined.wide_masks &= before->wide_masks;
    joined.exact &= before->exact;
    joined.inside |= before->inside;
    joined.exact_slots &= before->exact_slots;
    joined.inside_slots |= before->inside_slots;
    for (int half = 0; half < 2; half++) {
      joined.halves[half] &= before->halves[half];
      joined.doubtful_halves[half] |= before->doubtful_halves[half];
    }
    for (int reg = 0; reg < 16; reg++) {
      if (joined.witnesses[reg] != before->witnesses[reg] || joined.types[reg] != before->types[reg]) joined.witnesses[reg] = NO_WITNESS;
      if (joined.witnesses[reg] == NO_WITNESS) joined.types[reg] = 0;
      if (joined.values[reg] != before->values[reg]) joined.values[reg] = 0;
    }
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
  if (step->error[way] == NO_ERROR) on.may_fail = false;
  if (step->error[way] == ERROR) on.fails = true;
  return on;
}

/// Notes the references that are left where the function returns: the fewest and the most.
static void end_at(Walk *w, const State *s) {
  if (!w->ends || s->least < w->least) w->least = s->least;
  if (!w->ends || s->most > w->most) w->most = s->most;
  w->ends = true;
}

/// The place of the own frame whose address the instruction computes, from rsp at entry; 1: none, NO_OFFSET: it cannot be known.
static int64_t shown_place(const Instruction *i, const State *s) {
  const ZydisDecodedOperand *to = &i->op[0], *from = &i->op[1];
  if (self_is_register(to, ZYDIS_REGISTER_RSP) || self_is_register(to, ZYDIS_REGISTER_RBP)) return 1;
  // Memory whose size was computed lies below all that a frame pointer leads to.
  if (s->rsp == NO_OFFSET && s->rbp != NO_OFFSET && !(i->in.mnemonic == ZYDIS_MNEMONIC_LEA && from->mem.base == ZYDIS_REGISTER_RBP)) return 1;
  if (i->in.mnemonic == ZYDIS_MNEMONIC_MOV && self_is_register(from, ZYDIS_REGISTER_RSP)) return s->rsp;
  if (i->in.mnemonic != ZYDIS_MNEMONIC_LEA) return 1;
  if (from->mem.base == ZYDIS_REGISTER_RSP) return s->rsp == NO_OFFSET ? NO_OFFSET : s->rsp + from->mem.disp.value;
  // An rbp that is no frame pointer is a value like others.
  return from->mem.base == ZYDIS_REGISTER_RBP && s->rbp != NO_OFFSET ? s->rbp + from->mem.disp.value : 1;
}

/// Others may look at the place from here on.
/// - Parameter size: at so many bytes; 0: not known.
static void show(Walk *w, int64_t place, uint32_t size) {
  if (place == NO_OFFSET) { w->reader.shown = w->reader.near = ~(Slots)0; return; }
  if (place >= 0) return;
  // The slot that it lies in.
  int64_t slot = (-place + 7) / 8 - 1, sure = size ? (int64_t)(size + 7) / 8 - 1 : w->reader.before;
  for (int64_t above = slot; above >= 0 && above >= slot - sure; above--)
    if (above < SLOTS) w->reader.shown |= self_slot(above);
  if (slot < SLOTS && size == 0) w->reader.begins |= self_slot(slot);
  if (slot >= SLOTS && size == 0) w->reader.begins |= self_slot(SLOTS - 1);
}

/// Where it is not known how much lies at an address, it may be all of the frame that is above it.
static void find_near(Walk *w) {
  bool is_open = false;
  w->reader.near = w->reader.shown;
  for (int slot = SLOTS - 1; slot >= 0; slot--) {
    is_open = is_open || w->reader.begins >> slot & 1;
    if (is_open) w->reader.near |= self_slot(slot);
  }
}

/// Goes wherever the table may lead. Where it ends is not known: what follows it and leads into the function is one way more, by which
/// less is certain.
static void arrive_by_table(Walk *w, uint64_t table, const State *s) {
  uint64_t offset;
  for (uint32_t number = 0; self_table_entry(&w->reader, table, number, &offset); number++) arrive(w, offset, s);
}

/// The instruction reads the register for what is in it.
static bool reads_register(const Instruction *i, ZydisRegister whole) {
  const ZydisDecodedOperand *op = i->op;
  if (i->in.mnemonic == ZYDIS_MNEMONIC_XOR && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value) return false;
  for (int k = 0; k < i->in.operand_count; k++, op++) {
    bool reads = op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    if (reads && ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value) == whole) return true;
    if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && (op->mem.base == whole || op->mem.index == whole)) return true;
  }
  return false;
}

/// The instruction's first operand is a part of that register, and is written.
static bool writes_register(const Instruction *i, ZydisRegister whole) {
  const ZydisDecodedOperand *op = i->op;
  return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
         ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value) == whole;
}

/// Places of the own frame whose addresses the next call's first and second argument are, and one that the last call copied to, whose
/// address may be its result.
typedef struct Passages {
  int64_t first, second, last;  // 1: none
  uint64_t computed[2];         // offsets of the instructions that computed the first two
} Passages;

/// What the callee does at the address in an argument; nothing is shown where it leaves notes of its own, or puts a copy that is followed.
static void pass_place(Walk *w, Passages *on, int number, uint64_t offset, const HKTCallee *callee) {
  int64_t place = number ? on->second : on->first;
  bool is_outlined = callee->kind == HKT_CALLEE_COPIES || callee->kind == HKT_CALLEE_MOVES || callee->kind == HKT_CALLEE_ENDS;
  if (callee->notes >> number & 1 || (callee->kind == HKT_CALLEE_CLEARS && number == 0)) return;
  bool is_copied_to = callee->kind == HKT_CALLEE_COPIES_BITS ? number == 0 : callee->kind == HKT_CALLEE_COPIES && number == 1;
  if (!is_copied_to || w->reader.copy_count == MOST_COPIES) {
    show(w, place, is_outlined && (number == 0 || callee->kind != HKT_CALLEE_ENDS) ? callee->size : 0);
    return;
  }
  w->reader.copies[w->reader.copy_count++] = (FrameCopy){.call = offset, .computed = on->computed[number], .place = (int32_t)place};
  on->last = place;
}

/// Follows them over one instruction more: what reaches anything but a call is shown.
static void follow_passages(Walk *w, Passages *on, uint64_t offset, const Instruction *i) {
  ZydisInstructionCategory kind = i->in.meta.category;
  bool calls = kind == ZYDIS_CATEGORY_CALL, jumps = kind == ZYDIS_CATEGORY_COND_BR || kind == ZYDIS_CATEGORY_UNCOND_BR;
  if (on->last != 1) {
    bool is_read = reads_register(i, ZYDIS_REGISTER_RAX) || jumps;
    if (is_read) show(w, on->last, 0);
    if (is_read || calls || writes_register(i, ZYDIS_REGISTER_RAX)) on->last = 1;
  }
  HKTCallee callee = calls ? self_callee(&w->reader, offset, i) : (HKTCallee){0};
  for (int number = 0; number < 2; number++) {
    int64_t *place = number ? &on->second : &on->first;
    ZydisRegister at = number ? ZYDIS_REGISTER_RSI : ZYDIS_REGISTER_RDI;
    if (*place == 1) continue;
    bool is_shown = reads_register(i, at) || writes_register(i, at) || jumps;
    if (is_shown) show(w, *place, 0);
    else if (calls) pass_place(w, on, number, offset, &callee);
    if (is_shown || calls) *place = 1;
  }
}

static void find_shown(Walk *w) {
  w->reader.prologue = w->reader.code->size;
  Passages on = {.first = 1, .second = 1, .last = 1};
  for (uint64_t offset = 0; offset < w->reader.code->size; offset++) {
    if (!w->states[offset].is_reached) continue;
    const State *s = &w->states[offset].state;
    const Instruction *i = self_decode(&w->reader, offset);
    if (!i) continue;
    ZydisInstructionCategory kind = i->in.meta.category;
    bool leaves = kind == ZYDIS_CATEGORY_CALL || kind == ZYDIS_CATEGORY_COND_BR || kind == ZYDIS_CATEGORY_UNCOND_BR;
    HKTCalleeKind called = kind == ZYDIS_CATEGORY_CALL ? self_callee(&w->reader, offset, i).kind : HKT_CALLEE_UNKNOWN;
    bool clears = called == HKT_CALLEE_CLEARS || called == HKT_CALLEE_COPIES_BITS;
    if (leaves && !clears && offset < w->reader.prologue) w->reader.prologue = offset;
    follow_passages(w, &on, offset, i);
    int64_t place = shown_place(i, s);
    bool is_computed = i->in.mnemonic == ZYDIS_MNEMONIC_LEA && place < 0 && place != NO_OFFSET;
    if (is_computed && self_is_register(&i->op[0], ZYDIS_REGISTER_RDI)) { on.first = place; on.computed[0] = offset; }
    else if (is_computed && self_is_register(&i->op[0], ZYDIS_REGISTER_RSI)) { on.second = place; on.computed[1] = offset; }
    else show(w, place, 0);
  }
  show(w, on.first, 0);
  show(w, on.second, 0);
  find_near(w);
}

static State entry_state(HKTSelf self) {
  uint16_t place = (uint16_t)self.place;
  State entry = {.rbp = NO_OFFSET, .is_prologue = true};
  if (self.is_address) entry.exact = entry.inside = place;
  else entry.registers = entry.doubtful = place;
  for (uint32_t reg = 0; reg < 16; reg++) entry.values[reg] = UINT32_MAX - reg;
  return entry;
}

/// Follows all ways through the code from its first byte on, and joins states where ways meet.
static void walk_all(Walk *w, HKTSelf self) {
  memset(w->states, 0, w->reader.code->size * sizeof *w->states);
  w->queued = 0;
  w->ends = false;
  State entry = entry_state(self);
  arrive(w, 0, &entry);
  while (w->queued) {
    uint32_t offset = w->queue[--w->queued];
    w->states[offset].is_queued = false;
    State s = w->states[offset].state;
    Step step = self_step(&w->reader, offset, &s);
    if (step.is_unknown) w->is_understood = false;
    if (step.returns) end_at(w, &s);
    if (step.table) arrive_by_table(w, step.table, &s);
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
  bool keeps, consumes_self;
  bool is_odd;           // a path consumes more than there is, or less than nothing
  bool is_whole;
  bool ends;
  int least, most;       // of all ends
} Paths;

/// A number for the table of visits, made of what differs most between states.
static uint32_t hash_of(const Visit *visit) {
  const State *s = &visit->state;
  const uint64_t words[] = {visit->offset, s->registers,     (uint64_t)s->slots, (uint64_t)(s->slots >> 64), (uint64_t)s->fresh, s->exact,
                            (uint64_t)s->exact_slots, s->halves[0],  (uint32_t)s->rsp, (uint32_t)s->rbp, (uint8_t)s->least, s->may_fail, s->fails};
  uint64_t hash = 0;
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) hash = (hash ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(hash >> 32) ^ (uint32_t)hash;
}

/// Notes that a way reaches `offset` in this state, to be followed from there unless one in an equal state was.
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

/// Notes what one way leaves of self's references where the function returns.
static void end_path(Paths *p, const State *s) {
  if (!p->ends || s->least < p->least) p->least = s->least;
  if (!p->ends || s->most > p->most) p->most = s->most;
  p->ends = true;
  if (s->least != s->most) return;
  if (s->least == -1) p->consumes_self = true;
  else if (s->least == 0) p->keeps = true;
  else p->is_odd = true;
}

/// What all paths say, followed one by one: an error and results are never returned together, as they seem to be where paths meet.
static HKTOwnership sum_of_paths(const Paths *p, bool is_understood) {
  if (!p->is_whole || !p->ends || !is_understood) return HKT_OWNERSHIP_UNKNOWN;
  return p->least >= 0 ? HKT_OWNERSHIP_KEPT : p->most <= -1 ? HKT_OWNERSHIP_CONSUMED : HKT_OWNERSHIP_UNKNOWN;
}

/// What the paths say.
/// - Parameter all: all of them; else those on which all is certain, of which one tells.
static HKTOwnership read_paths(const Reader *reader, HKTSelf self, bool all) {
  Paths p = {.reader = reader, .is_whole = true};
  bool is_understood = true;
  p.visits = malloc(MOST_STATES * sizeof *p.visits);
  p.table = calloc(2 * MOST_STATES, sizeof *p.table);
  if (p.visits && p.table) {
    State entry = entry_state(self);
    come(&p, 0, &entry);
    while (p.followed < p.found) {
      Visit visit = p.visits[p.followed++];
      Step step = self_step(reader, visit.offset, &visit.state);
      is_understood = is_understood && !step.is_unknown;
      if (!all && visit.state.least != visit.state.most) continue;
      if (step.returns && !step.is_unknown) end_path(&p, &visit.state);
      uint64_t target;
      for (uint32_t number = 0; all && step.table && self_table_entry(reader, step.table, number, &target); number++)
        come(&p, target, &visit.state);
      for (int k = 0; k < step.count; k++) {
        State on = state_on(&visit.state, &step, k);
        come(&p, step.next[k], &on);
      }
    }
  }
  free(p.visits);
  free(p.table);
  if (all) return sum_of_paths(&p, is_understood);
  if (!p.is_whole || p.is_odd || p.keeps == p.consumes_self) return HKT_OWNERSHIP_UNKNOWN;
  return p.keeps ? HKT_OWNERSHIP_KEPT : HKT_OWNERSHIP_CONSUMED;
}

/// What all paths together say.
static HKTOwnership joined_ownership(const Walk *w) {
  if (!w->is_understood) return HKT_OWNERSHIP_UNREAD;
  // What never returns uses nothing up that anybody will miss.
  if (!w->ends) return HKT_OWNERSHIP_KEPT;
  if (w->most <= -1) return HKT_OWNERSHIP_CONSUMED;
  return w->least >= 0 ? HKT_OWNERSHIP_KEPT : HKT_OWNERSHIP_UNKNOWN;
}

/// Prepares the walk and follows all paths; false where the code is not to be read.
static bool begin(Walk *w, const HKTCode *code, HKTSelf self, HKTOwnedResults results, const HKTOwnershipHost *host) {
  *w = (Walk){.reader = {.code = code, .host = host, .results = results, .word = self.is_address ? self.word : HKT_NO_WORD,
                      .is_certain = self.is_certain, .before = self.before, .decoder = hkt_decoder(), .decoded = &w->decoded},
                     .is_understood = true};
  // What else is called on an address may be consuming as well: of that nothing is taken for granted.
  w->reader.is_strict = self.is_address || (host && host->is_of_protocol);
  if (code->size == 0 || code->size > LARGEST) return false;
  w->states = calloc(code->size, sizeof *w->states);
  w->queue = malloc(code->size * sizeof *w->queue);
  w->decoded.at = calloc(code->size, sizeof *w->decoded.at);
  if (!w->states || !w->queue || !w->decoded.at) return false;
  // First for the stack pointer's ways, which tell the addresses that are taken.
  walk_all(w, self);
  find_shown(w);
  walk_all(w, self);
  return true;
}

/// Frees what the walk holds, but for the instructions, which its reader needs.
static void end_walk(Walk *w) {
  free(w->states);
  free(w->queue);
}

static void end_decoded(DecodedCode *decoded) {
  free(decoded->at);
  for (Instructions *each = decoded->newest, *before; each; each = before) {
    before = each->before;
    free(each);
  }
}

/// Frees all of it.
static void end(Walk *w) {
  end_walk(w);
  end_decoded(&w->decoded);
}

/// The 8-byte words that the code takes out of the value at self's address.
static uint64_t words_of(const Walk *w) {
  uint64_t words = 0;
  for (uint64_t offset = 0; offset < w->reader.code->size; offset++) {
    if (!w->states[offset].is_reached) continue;
    const Instruction *i = self_decode(&w->reader, offset);
    if (i) words |= self_words_read(i, &w->states[offset].state);
  }
  return words;
}

/// What the paths say one by one, where all together leave it open.
static HKTOwnership found_by_paths(Reader *reader, HKTSelf self, HKTOwnership joined) {
  HKTOwnership found = joined == HKT_OWNERSHIP_UNKNOWN ? read_paths(reader, self, true) : HKT_OWNERSHIP_UNKNOWN;
  if (found == HKT_OWNERSHIP_UNKNOWN && self.is_certain) {
    reader->is_strict = true;
    found = read_paths(reader, self, false);
  }
  return found == HKT_OWNERSHIP_UNKNOWN ? joined : found;
}

HKTOwnership hkt_read_ownership(
  const HKTCode *code, HKTSelf self, HKTOwnedResults results, const HKTOwnershipHost *host, uint64_t *words
) {
  Walk w;
  bool is_read = begin(&w, code, self, results, host);
  if (words) *words = is_read ? words_of(&w) : UINT64_MAX;
  HKTOwnership found = HKT_OWNERSHIP_UNREAD;
  if (is_read) {
    found = joined_ownership(&w);
    end_walk(&w);
    if (found != HKT_OWNERSHIP_KEPT && found != HKT_OWNERSHIP_CONSUMED) found = found_by_paths(&w.reader, self, found);
  } else {
    end_walk(&w);
  }
  end_decoded(&w.decoded);
  return found;
}

void hkt_find_telling(
  const HKTCode *code, HKTSelf self, HKTOwnedResults results, const HKTOwnershipHost *host, void *context,
  void (*found)(void *context, HKTTellingCall call)
) {
  Walk w;
  bool is_read = begin(&w, code, self, results, host);
  for (uint64_t offset = 0; is_read && offset < code->size; offset++) {
    const State *s = &w.states[offset].state;
    const Instruction *i = w.states[offset].is_reached ? self_decode(&w.reader, offset) : NULL;
    if (!i) continue;
    if (i->in.meta.category != ZYDIS_CATEGORY_CALL && i->in.meta.category != ZYDIS_CATEGORY_UNCOND_BR) continue;
    HKTCalleeKind kind = self_callee(&w.reader, offset, i).kind;
    HKTTellingCall call = {.offset = offset, .places = s->registers & SELF_ARGUMENTS};
    bool is_method = self_method(i, s, &call.method);
    if (!is_method) call.target = self_target(&w.reader, offset, i);
    if (is_method || kind == HKT_CALLEE_COPIES_WORDS || kind == HKT_CALLEE_ENDS_WORDS) found(context, call);
  }
  end(&w);
}

bool hkt_returns_argument(const HKTCode *code, HKTPlaces place) {
  Walk w;
  bool is_returned = begin(&w, code, (HKTSelf){.place = place}, (HKTOwnedResults){0}, NULL) && w.is_understood && w.ends;
  for (uint64_t offset = 0; is_returned && offset < code->size; offset++) {
    if (!w.states[offset].is_reached) continue;
    State s = w.states[offset].state;
    const Instruction *i = self_decode(&w.reader, offset);
    // A function that ends with a jump returns what another one says.
    if (self_step(&w.reader, offset, &s).returns)
      is_returned = i && i->in.meta.category == ZYDIS_CATEGORY_RET &&
                    w.states[offset].state.registers & 1;
  }
  end(&w);
  return is_returned;
}

HKTDoubt hkt_find_doubt(const HKTCode *code, HKTSelf self, HKTOwnedResults results, const HKTOwnershipHost *host) {
  Walk w;
  HKTDoubt found = {0};
  bool is_read = begin(&w, code, self, results, host);
  for (uint64_t offset = 0; is_read && !found.is_found && offset < code->size; offset++) {
    if (!w.states[offset].is_reached) continue;
    State s = w.states[offset].state;
    int least = s.least, doubt = s.most - s.least;
    Step step = self_step(&w.reader, offset, &s);
    if ((s.least >= least || s.most - s.least <= doubt) && !step.is_unknown) continue;
    const Instruction *i = self_decode(&w.reader, offset);
    if (!i) continue;
    bool branches = i->in.meta.category == ZYDIS_CATEGORY_CALL || i->in.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    bool is_direct = branches && i->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    uint64_t target = is_direct ? code->address + offset + i->in.length + (uint64_t)i->op[0].imm.value.s : 0;
    found = (HKTDoubt){.offset = offset, .target = target, .is_found = true, .calls = branches,
                       .name = ZydisMnemonicGetString(i->in.mnemonic)};
  }
  end(&w);
  return found;
}
