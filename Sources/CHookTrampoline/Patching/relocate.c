// The relocator — moves the first instructions of a body to another place.
//
// Owns the knowledge which instructions depend on their own address, and what
// does the same elsewhere. Decides which bodies cannot be diverted at all.
// Writes nothing but the caller's buffer.
//
// A moved window behaves as the original would, with two additions:
//   1. A moved call leaves the ORIGINAL return address: callees, unwinders and
//      profilers never see an address inside a stub.
//   2. Jumps from the window to the window stay inside the copy.
//
// What cannot be seen: targets of jump tables. An entry window is never a case
// of a switch unless code follows an unconditional jump within five bytes of the
// entry; exactly that is refused when the body has indirect jumps.
#include <string.h>

#include "../Reading/decoder.h"
#include "relocate.h"

// MARK: Decoding

/// A decoder that finds lengths, opcodes and immediates only: a third of the time.
static ZydisDecoder quick_decoder(void) {
  ZydisDecoder decoder = hkt_decoder();
  ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
  return decoder;
}

/// Where control goes after the instruction. It looks at opcode bytes alone, which a decoder in minimal mode finds, too.
static HKTCourse course_of(const ZydisDecodedInstruction *i) {
  if (i->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return HKT_COURSE_NEXT;
  uint8_t op = i->opcode, reg = i->raw.modrm.reg;
  if (i->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) {
    if (op >= 0x70 && op <= 0x7f) return HKT_COURSE_CONDITIONAL;
    if (op >= 0xe0 && op <= 0xe3) return HKT_COURSE_COUNTER;
    switch (op) {
      case 0xe8: return HKT_COURSE_CALL;
      case 0xe9: case 0xeb: return HKT_COURSE_JUMP;
      case 0xc2: case 0xc3: return HKT_COURSE_RETURN;
      case 0xca: case 0xcb: case 0xcf: return HKT_COURSE_UNMOVABLE;
      case 0xcc: return HKT_COURSE_BREAKPOINT;
      case 0xf4: return HKT_COURSE_TRAP;
      case 0xc7: return i->raw.modrm.offset && reg == 7 && i->raw.modrm.mod == 3 ? HKT_COURSE_UNMOVABLE : HKT_COURSE_NEXT;  // xbegin
      case 0xff:
        if (reg == 2) return HKT_COURSE_CALL_INDIRECT;
        if (reg == 4) return HKT_COURSE_JUMP_INDIRECT;
        return reg == 3 || reg == 5 ? HKT_COURSE_UNMOVABLE : HKT_COURSE_NEXT;
      default: return HKT_COURSE_NEXT;
    }
  }
  if (i->opcode_map == ZYDIS_OPCODE_MAP_0F) {
    if (op >= 0x80 && op <= 0x8f) return HKT_COURSE_CONDITIONAL;
    if (op == 0x0b) return HKT_COURSE_TRAP;
  }
  return HKT_COURSE_NEXT;
}

static bool is_direct(HKTCourse f) { return f == HKT_COURSE_JUMP || f == HKT_COURSE_CONDITIONAL || f == HKT_COURSE_COUNTER || f == HKT_COURSE_CALL; }
static bool ends(HKTCourse f) {
  return f == HKT_COURSE_JUMP || f == HKT_COURSE_JUMP_INDIRECT || f == HKT_COURSE_RETURN || f == HKT_COURSE_TRAP;
}

/// Length and course of one instruction: mostly the quick decoder will do. False for what is none.
static bool look(const uint8_t *code, uint64_t left, HKTQuickDecode *seen) {
  if (hkt_quick_decode(code, left, seen)) return true;
  ZydisDecoder decoder = quick_decoder();
  ZydisDecodedInstruction i;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, left, &i))) return false;
  HKTCourse course = course_of(&i);
  *seen = (HKTQuickDecode){.length = i.length, .course = course, .opcode = i.opcode, .distance = is_direct(course) ? (int32_t)i.raw.imm[0].value.s : 0};
  return true;
}

// MARK: Writing moved code

typedef struct Writer {
  HKTMovedWindow *out;
  uint64_t destination;
  bool full;
} Writer;

/// Where the next byte of the moved window will lie.
static uint64_t here(const Writer *w) { return w->destination + w->out->length; }

/// Appends bytes; notes that the room is full where they do not fit.
static void put(Writer *w, const void *bytes, size_t n) {
  if (w->out->length + n > sizeof w->out->bytes) { w->full = true; return; }
  memcpy(w->out->bytes + w->out->length, bytes, n);
  w->out->length += (uint32_t)n;
}
static void put8(Writer *w, uint8_t v) { put(w, &v, 1); }
static void put32(Writer *w, uint32_t v) { put(w, &v, 4); }
static void put64(Writer *w, uint64_t v) { put(w, &v, 8); }

static bool fits32(int64_t d) { return d == (int32_t)d; }

/// jmp target: five bytes in reach, else fourteen with the address behind the jump.
static void put_jump(Writer *w, uint64_t target) {
  int64_t distance = (int64_t)(target - (here(w) + 5));
  if (fits32(distance)) {
    put8(w, 0xe9);
    put32(w, (uint32_t)distance);
  } else {
    put(w, "\xff\x25\0\0\0", 6);
    put64(w, target);
  }
}

// MARK: One instruction

typedef struct Moving {
  Writer writer;
  uint64_t body;
  uint32_t offset;        // of the instruction in the body
  const uint8_t *bytes;   // of the instruction
  HKTQuickDecode seen;         // of it
  const ZydisDecodedInstruction *instruction;  // NULL where the quick decoder told all
  const ZydisDecodedOperand *operands;
  HKTRefusal *refusal;
  // Jumps from the window into the window: patched when every copy's place is known.
  struct { uint32_t at; uint32_t target; } inner[HKT_DIVERSION_SIZE];
  uint32_t inner_count;
} Moving;

/// Where the instruction that is moved lies in the body.
static uint64_t address_of(const Moving *m) { return m->body + m->offset; }
/// Where the instruction behind it lies in the body.
static uint64_t next_of(const Moving *m) { return address_of(m) + m->seen.length; }

/// Refuses the body because of the instruction that is moved; false, for the caller to return.
static bool refuse_here(Moving *m, HKTReason reason, uint64_t value) {
  return hkt_refuse(m->refusal, (HKTRefusal){.reason = reason, .body = m->body, .address = address_of(m), .value = value});
}

/// The rel32 of the last four bytes written goes to the copy of the window's instruction at `target`.
static void remember_inner(Moving *m, uint32_t target) {
  m->inner[m->inner_count].at = m->writer.out->length - 4;
  m->inner[m->inner_count++].target = target;
}

/// jmp rel, jcc rel, loop and jrcxz, with a wide displacement.
static void move_branch(Moving *m, HKTCourse course, uint64_t target, uint32_t window) {
  Writer *w = &m->writer;
  bool inner = target >= m->body && target - m->body < window;
  int64_t distance = (int64_t)(target - (here(w) + 6));
  if (course == HKT_COURSE_CONDITIONAL && (inner || fits32(distance))) {
    put8(w, 0x0f);
    put8(w, (uint8_t)(0x80 | (m->seen.opcode & 0xf)));
    put32(w, (uint32_t)distance);
  } else {
    if (course == HKT_COURSE_CONDITIONAL) {  // out of reach: the opposite condition steps over an absolute jump
      put8(w, (uint8_t)(0x70 | ((m->seen.opcode & 0xf) ^ 1)));
      put8(w, 14);
    } else if (course == HKT_COURSE_COUNTER) {  // these have no wide form: step over "not taken"
      if (m->instruction->address_width == 32) put8(w, 0x67);  // counts in ecx
      put8(w, m->seen.opcode);
      put8(w, 2);
      put8(w, 0xeb);
      put8(w, inner || fits32((int64_t)(target - (here(w) + 1 + 5))) ? 5 : 14);
    }
    if (inner) {
      put8(w, 0xe9);
      put32(w, 0);
    } else {
      put_jump(w, target);
    }
  }
  if (inner) remember_inner(m, (uint32_t)(target - m->body));
}

/// The address that an operand lies at by its distance from rip, if the instruction has one.
static bool relative_operand(const Moving *m, uint64_t *target) {
  if (!m->seen.relative_at) return false;
  int32_t distance;
  memcpy(&distance, m->bytes + m->seen.relative_at, 4);
  *target = next_of(m) + (uint64_t)(int64_t)distance;
  return true;
}

/// Whether an operand of the decoded instruction lies at a distance from this register.
static bool has_base(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operands, ZydisRegister base) {
  for (int k = 0; k < i->operand_count; k++)
    if (operands[k].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[k].mem.base == base) return true;
  return false;
}

static bool is_stack_pointer(ZydisRegister r) {
  return r == ZYDIS_REGISTER_RSP || r == ZYDIS_REGISTER_ESP || r == ZYDIS_REGISTER_SP;
}

/// Copies the instruction; a displacement from rip is rewritten so that it names the same address.
/// A `modrm_reg` other than 0 replaces the opcode extension.
static bool move_copy(Moving *m, uint8_t modrm_reg) {
  Writer *w = &m->writer;
  uint8_t copy[ZYDIS_MAX_INSTRUCTION_LENGTH];
  memcpy(copy, m->bytes, m->seen.length);
  uint64_t target;
  if (m->instruction && has_base(m->instruction, m->operands, ZYDIS_REGISTER_EIP)) return refuse_here(m, HKT_UNMOVABLE, 0);
  if (relative_operand(m, &target)) {
    int64_t distance = (int64_t)(target - (here(w) + m->seen.length));
    if (!fits32(distance)) return refuse_here(m, HKT_OPERAND_OUT_OF_REACH, target);
    int32_t narrow = (int32_t)distance;
    memcpy(copy + m->seen.relative_at, &narrow, 4);
  }
  if (modrm_reg) {
    uint8_t *modrm = copy + m->instruction->raw.modrm.offset;
    *modrm = (uint8_t)((*modrm & ~0x38) | modrm_reg << 3);
  }
  put(w, copy, m->seen.length);
  return true;
}

/// call target: the original return address is pushed, then the target is jumped to.
static bool move_call(Moving *m, uint64_t target) {
  Writer *w = &m->writer;
  bool near = fits32((int64_t)(target - (here(w) + 6 + 5)));
  put(w, "\xff\x35", 2);  // push the literal behind the jump: one instruction, no register, no flag
  put32(w, near ? 5 : 6);
  if (near) {
    put_jump(w, target);
    put64(w, next_of(m));
  } else {
    put(w, "\xff\x25", 2);
    put32(w, 8);
    put64(w, next_of(m));
    put64(w, target);
  }
  return true;
}

/// call reg or call mem: the same, with the jump taking the call's operand.
static bool move_indirect_call(Moving *m) {
  const ZydisDecodedOperand *o = &m->operands[0];
  // The push changes rsp, so an operand that uses it would mean something else.
  if (o->type == ZYDIS_OPERAND_TYPE_REGISTER ? is_stack_pointer(o->reg.value) : is_stack_pointer(o->mem.base))
    return refuse_here(m, HKT_UNMOVABLE, 0);
  Writer *w = &m->writer;
  put(w, "\xff\x35", 2);
  put32(w, m->seen.length);
  if (!move_copy(m, 4)) return false;  // FF /2 is call, FF /4 jmp
  put64(w, next_of(m));
  return true;
}

/// Moves one instruction, or refuses the body.

/// - window: the bytes that are moved in all.
static bool move_one(Moving *m, uint32_t window) {
  HKTCourse course = m->seen.course;
  if (course == HKT_COURSE_CALL || course == HKT_COURSE_CALL_INDIRECT) {
    if (m->offset + m->seen.length < HKT_DIVERSION_SIZE) return refuse_here(m, HKT_CALL_RETURNS_INTO_WINDOW, next_of(m));
    if (hkt_shadow_stack()) return refuse_here(m, HKT_SHADOW_STACK, 0);
  }
  if (is_direct(course) && m->instruction && m->instruction->raw.imm[0].size == 16) return refuse_here(m, HKT_UNMOVABLE, 0);
  uint64_t target = next_of(m) + (uint64_t)(int64_t)m->seen.distance;
  switch (course) {
    case HKT_COURSE_JUMP: case HKT_COURSE_CONDITIONAL: case HKT_COURSE_COUNTER: move_branch(m, course, target, window); return true;
    case HKT_COURSE_CALL: return move_call(m, target);
    case HKT_COURSE_CALL_INDIRECT: return move_indirect_call(m);
    case HKT_COURSE_BREAKPOINT: case HKT_COURSE_UNMOVABLE: return refuse_here(m, HKT_UNMOVABLE, 0);
    default: return move_copy(m, 0);
  }
}

// MARK: The window

/// What a first look at the window found.
typedef struct Window {
  uint32_t moved;     // bytes of instructions that are moved
  uint32_t size;      // bytes that belong to us: `moved`, and padding when the body is shorter than a jump
  uint32_t count;
  bool falls_through; // the last instruction goes on behind the window
  bool code_after_end;// instructions follow an unconditional jump inside the window
} Window;

/// Whether bytes up to offset `needed` are padding: breakpoints and no-ops, whole instructions.
static bool is_padding(const uint8_t *code, uint32_t from, uint32_t needed, uint64_t available) {
  ZydisDecoder decoder = hkt_decoder();
  uint64_t offset = from;
  while (offset < needed) {
    if (offset >= available) return false;
    if (code[offset] == 0xcc) { offset++; continue; }
    ZydisDecodedInstruction i;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + offset, available - offset, &i))) return false;
    if (i.mnemonic != ZYDIS_MNEMONIC_NOP) return false;
    offset += i.length;
  }
  return true;
}

/// Finds how many bytes have to be moved, in whole instructions, and whether control falls out of them. false: refused.
static bool measure(const uint8_t *code, const HKTBody *body, Window *window, HKTRefusal *refusal) {
  *window = (Window){.falls_through = true};
  uint64_t available = body->available > body->size ? body->available : body->size;
  bool ended = false;
  while (window->moved < HKT_DIVERSION_SIZE) {
    if (window->moved >= body->size) {
      // The body is over. Its padding may be overwritten if nothing runs into it.
      if (!ended || !is_padding(code, window->moved, HKT_DIVERSION_SIZE, available))
        return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_TOO_SHORT, .body = body->address, .value = available});
      break;
    }
    HKTQuickDecode i;
    if (!look(code + window->moved, body->size - window->moved, &i))
      return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_UNDECODABLE, .body = body->address,
                                              .address = body->address + window->moved});
    if (ended) window->code_after_end = true;
    ended = ends(i.course);
    // A moved call does not come back to the copy: its return address is the original one.
    window->falls_through = !ended && i.course != HKT_COURSE_CALL && i.course != HKT_COURSE_CALL_INDIRECT;
    window->moved += i.length;
    window->count++;
  }
  window->size = window->moved < HKT_DIVERSION_SIZE ? HKT_DIVERSION_SIZE : window->moved;
  return true;
}

/// Looks at every instruction behind the window for jumps into it.
static bool scan_body(const uint8_t *code, const HKTBody *body, const Window *window, HKTRefusal *refusal) {
  bool indirect = false;
  for (uint64_t offset = window->moved; (offset = hkt_quick_decode_over(code, offset, body->size, window->size)) < body->size;) {
    HKTQuickDecode i;
    if (!look(code + offset, body->size - offset, &i))
      return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_UNDECODABLE, .body = body->address, .address = body->address + offset});
    if (i.course == HKT_COURSE_JUMP_INDIRECT) indirect = true;
    if (is_direct(i.course)) {
      uint64_t target = offset + i.length + (uint64_t)(int64_t)i.distance;  // from the body; wraps when before it
      HKTReason reason = HKT_OK;
      if (target == 0 && i.course != HKT_COURSE_CALL) reason = HKT_JUMP_TO_ENTRY;
      if (target > 0 && target < window->size) reason = HKT_JUMP_INTO_WINDOW;
      if (reason)
        return hkt_refuse(refusal, (HKTRefusal){.reason = reason, .body = body->address,
                                                .address = body->address + offset, .value = body->address + target});
    }
    offset += i.length;
  }
  if (indirect && window->code_after_end)
    return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_HIDDEN_JUMP_TARGET, .body = body->address, .address = body->address});
  return true;
}

/// The bytes that are moved are those of the file; refuses the body where they are not. Without a file it is believed.
static bool same_as_file(const uint8_t *code, const HKTBody *body, const Window *window, HKTRefusal *refusal) {
  if (!body->file_bytes) return true;
  for (uint32_t i = 0; i < window->moved; i++)
    if (code[i] != body->file_bytes[i])
      return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_DIFFERS_FROM_FILE, .body = body->address,
                                              .address = body->address + i, .value = code[i], .expected = body->file_bytes[i]});
  return true;
}

/// Moves the instruction at the moving's place as a decoder reads it.
static bool move_decoded(Moving *m, uint64_t left, uint32_t window) {
  ZydisDecoder decoder = hkt_decoder();
  ZydisDecodedInstruction i;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, m->bytes, left, &i, operands)))
    return hkt_refuse(m->refusal, (HKTRefusal){.reason = HKT_UNDECODABLE, .body = m->body, .address = address_of(m)});
  HKTCourse course = course_of(&i);
  m->seen = (HKTQuickDecode){.length = i.length, .course = course, .opcode = i.opcode,
                        .relative_at = has_base(&i, operands, ZYDIS_REGISTER_RIP) ? i.raw.disp.offset : 0,
                        .distance = is_direct(course) ? (int32_t)i.raw.imm[0].value.s : 0};
  m->instruction = &i;
  m->operands = operands;
  bool ok = move_one(m, window);
  m->instruction = NULL;
  return ok;
}

/// Moves the instructions one by one, then joins the jumps among them.
static bool move_all(const uint8_t *code, const HKTBody *body, const Window *window, uint64_t destination, HKTMovedWindow *out,
                     HKTRefusal *refusal) {
  *out = (HKTMovedWindow){.window = window->size};
  Moving m = {.writer = {.out = out, .destination = destination}, .body = body->address, .refusal = refusal};
  while (m.offset < window->moved) {
    out->from[out->count] = (uint8_t)m.offset;
    out->to[out->count++] = (uint8_t)out->length;
    m.bytes = code + m.offset;
    uint32_t left = window->moved - m.offset;
    // Of a call by an operand the quick decoder tells too little.
    bool is_quick = hkt_quick_decode(m.bytes, left, &m.seen) && m.seen.course != HKT_COURSE_CALL_INDIRECT;
    if (!(is_quick ? move_one(&m, window->moved) : move_decoded(&m, left, window->moved))) return false;
    m.offset += m.seen.length;
  }
  if (window->falls_through) put_jump(&m.writer, body->address + window->moved);
  for (uint32_t j = 0; j < m.inner_count; j++) {
    uint32_t k = 0;
    while (k < out->count && out->from[k] != m.inner[j].target) k++;
    if (k == out->count)  // into the middle of an instruction
      return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_JUMP_INTO_WINDOW, .body = body->address,
                                              .address = body->address, .value = body->address + m.inner[j].target});
    int32_t distance = (int32_t)out->to[k] - (int32_t)(m.inner[j].at + 4);
    memcpy(out->bytes + m.inner[j].at, &distance, 4);
  }
  return !m.writer.full || hkt_refuse(refusal, (HKTRefusal){.reason = HKT_UNMOVABLE, .body = body->address, .address = body->address});
}

bool hkt_relocate(const uint8_t *code, const HKTBody *body, uint64_t destination, bool scan,
                  HKTMovedWindow *moved, HKTRefusal *refusal) {
  Window window;
  if (!measure(code, body, &window, refusal)) return false;
  if (!same_as_file(code, body, &window, refusal)) return false;
  if (scan && !scan_body(body->file_bytes ? body->file_bytes : code, body, &window, refusal)) return false;
  return move_all(code, body, &window, destination, moved, refusal);
}

bool hkt_move_window(const HKTBody *body, uint64_t destination, HKTMovedWindow *moved, HKTRefusal *refusal) {
  return hkt_relocate((const uint8_t *)body->address, body, destination, true, moved, refusal);
}
