// What calls do with self: it is retained, released, copied, ended or forwarded.
#include "self_holds.h"

enum { STACK_ARGUMENTS = 32, MOST_BEFORE = 3 };

const HKTPlaces SELF_ARGUMENTS = HKT_GPR(7) | HKT_GPR(6) | HKT_GPR(2) | HKT_GPR(1) | HKT_GPR(8) | HKT_GPR(9);
static const HKTPlaces KEPT_BY_CALLS = HKT_GPR(3) | HKT_GPR(5) | HKT_GPR(12) | HKT_GPR(13) | HKT_GPR(14) | HKT_GPR(15);

uint64_t self_target(const Reader *r, uint64_t offset, const Instruction *i) {
  bool is_direct = i->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  return is_direct ? r->code->address + offset + i->in.length + (uint64_t)i->op[0].imm.value.s : 0;
}

/// What is known of the function at the address; 0, or nobody to ask: nothing is.
static HKTCallee callee_at(const Reader *r, uint64_t target) {
  if (target && r->host && r->host->callee) return r->host->callee(r->host->context, target);
  return (HKTCallee){.kind = HKT_CALLEE_UNKNOWN, .unread = HKT_GPR(13), .may_fail = true};
}

HKTCallee self_callee(const Reader *r, uint64_t offset, const Instruction *i) { return callee_at(r, self_target(r, offset, i)); }

bool self_method(const Instruction *i, const State *s, int64_t *offset) {
  const ZydisDecodedOperand *op = &i->op[0];
  *offset = op->type == ZYDIS_OPERAND_TYPE_MEMORY ? op->mem.disp.value : 0;
  return is_word_of_object(op) && holds_class(s, op->mem.base);
}

/// The callee of a call whose target a word of self's class holds.
static HKTCallee callee_of(const Reader *r, uint64_t offset, const Instruction *i, const State *s) {
  int64_t method;
  HKTCallee callee;
  if (r->host && r->host->method && self_method(i, s, &method)) return r->host->method(r->host->context, method);
  if (r->host && r->host->called && r->host->called(r->host->context, offset, &callee)) return callee;
  return self_callee(r, offset, i);
}

/// The slot of the own frame that is the callee's stack argument of that number.
static int slot_of_argument(const State *s, int number) {
  int64_t below = s->rsp == NO_OFFSET ? 0 : -((int64_t)s->rsp + 8 * number);
  return below <= 0 || below / 8 > SLOTS ? -1 : (int)(below / 8 - 1);
}

static void pass_on_stack(const HKTCallee *callee, State *s) {
  bool is_open = callee->kind == HKT_CALLEE_UNKNOWN || callee->kind == HKT_CALLEE_FOREIGN || callee->kind >= HKT_CALLEE_COPIES;
  for (int number = 0; number < STACK_ARGUMENTS; number++) {
    HKTPlaces place = HKT_STACK_SLOT(number);
    int slot = slot_of_argument(s, number);
    Hold hold = hold_of_slot(s, slot);
    bool is_fresh = slot >= 0 && s->fresh >> slot & 1;
    if (callee->takes & place) count(s, hold, -1, -1);
    else if (callee->may_take & place) count(s, hold, -1, 0);
    else if (is_open && is_fresh) count(s, hold, -1, callee->kind != HKT_CALLEE_UNKNOWN);
    if (is_inside_slot(s, slot) && ((callee->takes | callee->may_take) & place || (is_open && is_fresh))) lose(s);
  }
  s->fresh = 0;
}

/// The word that is followed is among so many bytes.
static bool is_within(const Reader *r, uint32_t size) { return r->word != HKT_NO_WORD && (uint32_t)r->word + 8 <= size; }

/// What lies at the address in the register ends, or is moved away.
/// - Parameter size: how much of it; 0: not known.
static void end_at_address(const Reader *r, int reg, uint32_t size, State *s) {
  if (!is_inside(s, reg)) return;
  // What begins the value is among it in any case.
  bool is_certain = is_exact(s, reg) && (r->word == 0 || r->word == HKT_NO_WORD || is_within(r, size));
  count(s, ALWAYS, -1, is_certain ? -1 : 0);
}

/// Self, whose address is in a register, is copied into the own frame, where nothing but this code reads the copy: the word lies there, too.
/// - Parameters:
///   - to: the register that has the place's address.
///   - size: how much of what lies at self's address is copied; 0: not known.
static bool copy_into_frame(const Reader *r, int from, int to, uint32_t size, uint64_t offset, State *s) {
  if (!is_exact(s, from) || !is_within(r, size)) return false;
  for (uint32_t k = 0; k < r->copy_count; k++) {
    if (r->copies[k].call != offset) continue;
    // By another way another address may be there.
    if (s->values[to] != r->copies[k].computed + 1) return false;
    int64_t below = -(int64_t)r->copies[k].place, first = below / 8 - 1, last = (below - (int64_t)size) / 8;
    if (below % 8 || last < 0 || first >= SLOTS) return false;
    for (int64_t slot = last; slot <= first; slot++)
      if ((r->shown | r->near) >> slot & 1) return false;
    for (int64_t slot = last; slot <= first; slot++) {
      set_slot(s, (int)slot, slot == first - r->word / 8 ? ALWAYS : NEVER);
      set_slot_address(s, (int)slot, false, false);
    }
    return true;
  }
  return false;
}

/// The number that was loaded into the register; 0 where it is not known.
static uint32_t loaded_number(const Reader *r, const State *s, int reg) {
  if (s->values[reg] == 0 || s->values[reg] > r->code->size) return 0;
  const Instruction *i = self_decode(r, s->values[reg] - 1);
  if (!i) return 0;
  bool is_number = i->in.mnemonic == ZYDIS_MNEMONIC_MOV && i->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  return is_number && i->op[1].imm.value.u < UINT32_MAX ? (uint32_t)i->op[1].imm.value.u : 0;
}

/// Bits are copied: where they are not followed, they may be given up as often as there are references.
static void copy_bits(const Reader *r, uint64_t offset, State *s) {
  if (is_inside(s, RDI)) overwrite(s);
  if (copy_into_frame(r, RSI, RDI, loaded_number(r, s, RDX), offset, s)) return;
  if (is_inside(s, RSI) || s->doubtful_slots & (r->shown | r->near)) lose_track(s, ALWAYS);
}

/// A value witness is called: whose, its metadata tells, which is an argument; false where it is another function.
static bool pass_to_witness(Witness witness, const Reader *r, State *s) {
  bool copies = witness.number >= INITIALIZE_WITH_COPY && witness.number <= ASSIGN_WITH_TAKE;
  bool reads = witness.number == DESTROY || witness.number == GET_ENUM_TAG;
  if (!witness.type || (!copies && !reads) || s->values[copies ? RDX : RSI] != witness.type) return false;
  if (witness.number == DESTROY) end_at_address(r, RDI, 0, s);
  if (witness.number == INITIALIZE_WITH_TAKE || witness.number == ASSIGN_WITH_TAKE) end_at_address(r, RSI, 0, s);
  if (copies && is_inside(s, RDI)) overwrite(s);
  return true;
}

/// What the callee's own code does with the word that is followed, which is in the register, or at the address there.
static HKTOwnership use_of_passed(const Reader *r, const HKTCallee *callee, uint64_t target, int reg, bool is_address, bool is_certain) {
  if (callee->kind != HKT_CALLEE_UNKNOWN || !target || !r->host || !r->host->passed) return HKT_OWNERSHIP_UNREAD;
  HKTSelf self = {.place = HKT_GPR(reg), .is_address = is_address, .word = is_address ? r->word : 0, .is_certain = is_certain,
                  .before = is_address ? r->before : MOST_BEFORE};
  return r->host->passed(r->host->context, target, self);
}

/// What self's address in an argument comes to.
static void pass_address(const Reader *r, const HKTCallee *callee, uint64_t target, int reg, State *s) {
  HKTPlaces place = HKT_GPR(reg);
  if (!is_inside(s, reg)) return;
  // Which words a callee reads is not asked, so that only one that is known is followed there.
  HKTOwnership use = is_exact(s, reg) && r->word != HKT_NO_WORD ? use_of_passed(r, callee, target, reg, true, r->is_certain) : HKT_OWNERSHIP_UNREAD;
  if (use == HKT_OWNERSHIP_KEPT) return;
  if (use == HKT_OWNERSHIP_CONSUMED) count(s, ALWAYS, -1, -1);
  else if (callee->takes & place) end_at_address(r, reg, 0, s);
  else if (callee->may_take & place || callee->unread & place || callee->kind == HKT_CALLEE_UNKNOWN) lose(s);
  // C functions have no self.
  else if (callee->kind == HKT_CALLEE_FOREIGN && place != HKT_GPR(13)) count(s, ALWAYS, -MOST, 1);
}

/// What self in a register that may be an argument's comes to.
static void pass_word(const Reader *r, const HKTCallee *callee, uint64_t target, int reg, State *s) {
  HKTPlaces place = HKT_GPR(reg);
  Hold hold = hold_of(s, reg);
  if (hold == NEVER) return;
  HKTOwnership use = use_of_passed(r, callee, target, reg, false, r->is_certain && hold == ALWAYS);
  if (use == HKT_OWNERSHIP_KEPT) return;
  if (use == HKT_OWNERSHIP_CONSUMED || callee->takes & place) count(s, hold, -1, -1);
  else if (callee->may_take & place || (r->is_strict && callee->unread & place)) count(s, hold, -1, 0);
  // A method keeps the self it is called on, as all but a few do, where its own code cannot be read.
  else if (place == HKT_GPR(13)) return;
  else if (callee->kind == HKT_CALLEE_UNKNOWN) count(s, hold, -1, 0);
  else if (callee->kind == HKT_CALLEE_FOREIGN) count(s, hold, -1, 1);
}

static void forget_registers(Hold returned, uint64_t offset, State *s) {
  for (int reg = 0; reg < 16; reg++)
    if (!(KEPT_BY_CALLS & HKT_GPR(reg))) set(s, reg, NEVER);
  for (int half = 0; half < 2; half++) s->halves[half] = s->doubtful_halves[half] = 0;
  set(s, 0, returned);
  s->values[0] = (uint32_t)offset + 1;
}

/// A call of the function, or a jump there.
/// - Parameter target: where its code is; 0: not known.
static void pass_to(const Reader *r, HKTCallee callee, uint64_t target, uint64_t offset, State *s) {
  Hold first = hold_of(s, 7);
  Hold returned = NEVER;
  bool projects = callee.projects && is_inside(s, RDI);
  int number = (int)loaded_number(r, s, RSI) % MOST;  // of references, where the callee counts several
  s->is_prologue = false;
  if (callee.may_fail) {
    // An error that nobody has asked for is one to be returned, whatever this call brings: `defer` runs other code beside it.
    s->fails |= s->may_fail;
    s->may_fail = true;
  }
  pass_on_stack(&callee, s);
  // Copied through an address, a slot's content is retained: where the copy is not used, that is all that is meant.
  if ((callee.kind == HKT_CALLEE_COPIES || callee.kind == HKT_CALLEE_FOREIGN) && s->doubtful_slots & (r->shown | r->near))
    count(s, ALWAYS, 0, 1);
  switch (callee.kind) {
    case HKT_CALLEE_RETAINS: count(s, first, 1, 1); returned = first; break;
    case HKT_CALLEE_RETAINS_SEVERAL: count(s, first, number ? number : 1, number ? number : MOST); returned = first; break;
    case HKT_CALLEE_RELEASES: count(s, first, -1, -1); break;
    case HKT_CALLEE_RELEASES_SEVERAL: count(s, first, number ? -number : -MOST, number ? -number : -1); break;
    case HKT_CALLEE_COPIES_BITS: copy_bits(r, offset, s); break;
    case HKT_CALLEE_COPIES:
      if (is_inside(s, RDI)) count(s, ALWAYS, copy_into_frame(r, RDI, RSI, callee.size, offset, s), 1);
      if (is_inside(s, RSI)) overwrite(s);
      break;
    case HKT_CALLEE_MOVES:
      end_at_address(r, RDI, callee.size, s);
      if (is_inside(s, RSI)) overwrite(s);
      break;
    case HKT_CALLEE_ENDS: end_at_address(r, RDI, callee.size, s); break;
    case HKT_CALLEE_COPIES_WORDS: case HKT_CALLEE_ENDS_WORDS: {
      HKTPlaces whole = r->host && r->host->whole ? r->host->whole(r->host->context, offset) : 0;
      // Else perhaps: a word of self may still be in a register that is not read.
      int least = callee.kind == HKT_CALLEE_ENDS_WORDS ? -1 : 0;
      for (int reg = 0; reg < 16; reg++)
        if (whole & HKT_GPR(reg)) count(s, hold_of(s, reg), 2 * least + 1, 2 * least + 1);
        else if (!whole && SELF_ARGUMENTS & HKT_GPR(reg)) count(s, hold_of(s, reg), least, least + 1);
      break;
    }
    default:
      // Where a result goes is written to.
      if (is_inside(s, 0)) overwrite(s);
      for (int reg = 0; reg < 16; reg++) {
        if (!(HKT_GPR(reg) & (SELF_ARGUMENTS | HKT_GPR(13)))) continue;
        pass_address(r, &callee, target, reg, s);
        pass_word(r, &callee, target, reg, s);
      }
  }
  forget_registers(returned, offset, s);
  if (projects) set_address(s, 0, false, true);
}

/// A call or jump: whom it goes to, and what becomes of self there. Answers whether that is known by a value witness.
bool self_pass(const Reader *r, uint64_t offset, const Instruction *i, State *s, HKTCallee *callee) {
  Witness witness = witness_at(s, &i->op[0]);
  if (witness.number != NO_WITNESS && witness.number != WITNESS_TABLE && pass_to_witness(witness, r, s)) {
    *callee = (HKTCallee){.kind = HKT_CALLEE_KNOWN};
    // A copy of what lies in a slot is a reference of its own.
    if (s->doubtful_slots & (r->shown | r->near)) count(s, ALWAYS, 0, 1);
    s->is_prologue = false;
    forget_registers(NEVER, offset, s);
    return true;
  }
  *callee = callee_of(r, offset, i, s);
  pass_to(r, *callee, self_target(r, offset, i), offset, s);
  return false;
}

/// References that the results hold are the caller's.
void self_give_results(const Reader *r, State *s) {
  bool is_certain = !(r->results.may_fail && (s->may_fail || s->fails));
  for (int reg = 0; reg < 16; reg++) {
    if (is_certain && r->results.certain & HKT_GPR(reg)) count(s, hold_of(s, reg), -1, -1);
    else if (r->results.possible & HKT_GPR(reg)) count(s, hold_of(s, reg), -1, 0);
  }
}
