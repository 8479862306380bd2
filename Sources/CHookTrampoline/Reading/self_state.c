#include "self_holds.h"

const Instruction *self_decode(const Reader *r, uint64_t offset) {
  const Instruction **known = &r->decoded->at[offset];
  if (*known) return *known;
  Instructions *newest = r->decoded->newest;
  if (!newest || newest->count == sizeof newest->list / sizeof *newest->list) {
    newest = malloc(sizeof *newest);
    if (!newest) return NULL;
    newest->before = r->decoded->newest;
    newest->count = 0;
    r->decoded->newest = newest;
  }
  Instruction *i = &newest->list[newest->count];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r->decoder, r->code->bytes + offset, r->code->size - offset, &i->in, i->op))) return NULL;
  newest->count++;
  return *known = i;
}

/// Behind a call that never returns comes another function.
static void go_on(const Reader *r, uint64_t offset, ErrorState error, Step *step) {
  if (offset >= r->code->size) return;
  step->error[step->count] = error;
  step->next[step->count++] = offset;
}

/// What the jump says of r12 on a way that one condition takes where it has no error, and the other where it has one.
static ErrorState error_after(const State *s, ZydisMnemonic jump, ZydisMnemonic without, ZydisMnemonic with) {
  if (!s->tests_error) return UNKNOWN_ERROR;
  return jump == without ? NO_ERROR : jump == with ? ERROR : UNKNOWN_ERROR;
}

/// The table through which the jump at a register's address goes: `lea table, T; movslq (T, n, 4), R; add T, R; jmp R`. 0: none.
static uint64_t table_of(const Reader *r, const Instruction *i, const State *s) {
  int to = i->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(i->op[0].reg.value) : -1;
  if (to < 0 || s->values[to] == 0 || s->values[to] > r->code->size) return 0;
  const Instruction *sum = self_decode(r, s->values[to] - 1);
  if (!sum || sum->in.mnemonic != ZYDIS_MNEMONIC_ADD || sum->op[1].type != ZYDIS_OPERAND_TYPE_REGISTER) return 0;
  int table = number_of(sum->op[1].reg.value);
  if (table < 0 || table == to || s->values[table] == 0 || s->values[table] > r->code->size) return 0;
  uint64_t at = s->values[table] - 1;
  const Instruction *address = self_decode(r, at);
  if (!address || address->in.mnemonic != ZYDIS_MNEMONIC_LEA || address->op[1].mem.base != ZYDIS_REGISTER_RIP) return 0;
  return r->code->address + at + address->in.length + (uint64_t)address->op[1].mem.disp.value;
}

bool self_table_entry(const Reader *r, uint64_t table, uint32_t number, uint64_t *offset) {
  int32_t distance;
  const void *bytes = r->host && r->host->data ? r->host->data(r->host->context, table + 4 * number, sizeof distance) : NULL;
  if (!bytes) return false;
  memcpy(&distance, bytes, sizeof distance);
  *offset = table + (uint64_t)(int64_t)distance - r->code->address;
  return *offset < r->code->size;
}

static Step branch(const Reader *r, const Instruction *i, uint64_t offset, State *s) {
  Step step = {0};
  uint64_t next = offset + i->in.length;
  uint64_t target = self_target(r, offset, i);
  bool is_direct = target != 0;
  bool is_inside = is_direct && target - r->code->address < r->code->size;
  switch (i->in.meta.category) {
    case ZYDIS_CATEGORY_CALL: {
      HKTCallee callee;
      self_pass(r, offset, i, s, &callee);
      if (!callee.never_returns) go_on(r, next, UNKNOWN_ERROR, &step);
      return step;
    }
    case ZYDIS_CATEGORY_COND_BR:
      step.is_unknown = !is_inside;
      if (is_inside) go_on(r, target - r->code->address, error_after(s, i->in.mnemonic, ZYDIS_MNEMONIC_JZ, ZYDIS_MNEMONIC_JNZ), &step);
      go_on(r, next, error_after(s, i->in.mnemonic, ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_JZ), &step);
      return step;
    default:
      if (is_inside) { go_on(r, target - r->code->address, UNKNOWN_ERROR, &step); return step; }
      step.table = table_of(r, i, s);
      if (step.table && self_table_entry(r, step.table, 0, &next)) return step;
      HKTCallee callee;
      bool is_witness = self_pass(r, offset, i, s, &callee);
      // A table of jumps looks the same as a jump to a function whose address a register holds.
      step.is_unknown = !is_direct && !is_witness && !is_word_of_object(&i->op[0]);
      self_give_results(r, s);
      step.returns = !callee.never_returns;
      return step;
  }
}

Step self_step(const Reader *r, uint64_t offset, State *s) {
  Step step = {0};
  const Instruction *i = self_decode(r, offset);
  if (!i) return (Step){.is_unknown = true};
  switch (i->in.meta.category) {
    case ZYDIS_CATEGORY_CALL: case ZYDIS_CATEGORY_COND_BR: case ZYDIS_CATEGORY_UNCOND_BR: return branch(r, i, offset, s);
    case ZYDIS_CATEGORY_RET: self_give_results(r, s); return (Step){.returns = true};
    default: break;
  }
  switch (i->in.mnemonic) {
    case ZYDIS_MNEMONIC_UD2: case ZYDIS_MNEMONIC_INT3: case ZYDIS_MNEMONIC_HLT: return step;
    default: break;
  }
  if (i->in.mnemonic != ZYDIS_MNEMONIC_MOV && i->in.mnemonic != ZYDIS_MNEMONIC_LEA)
    s->tests_error = i->in.mnemonic == ZYDIS_MNEMONIC_TEST && self_is_register(&i->op[0], ZYDIS_REGISTER_R12) &&
                     self_is_register(&i->op[1], ZYDIS_REGISTER_R12);
  self_move(r, i, offset, s);
  go_on(r, offset + i->in.length, UNKNOWN_ERROR, &step);
  return step;
}
