// Moves the windows of real functions and checks every copy with an independent reading.
//
//   intercept-cases corpus FILE.elf COUNT SEED
//
// The file's segments are laid out in memory (never run), COUNT functions are drawn
// from its symbols, each window is moved to a place near the image, and the copy is
// decoded again: each instruction must name the address the original named. The
// check shares no code with the relocator: it asks Zydis for absolute addresses and
// branch types. Prints one line of counts; the status is 1 when a copy is wrong.
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "CHookTrampoline.h"
#include "cases.h"

typedef struct Function {
  uint64_t offset, size, available;
} Function;

static uint8_t *image;
static Function *functions;
static size_t function_count;
static ZydisDecoder decoder;
static int wrong;

static int by_offset(const void *a, const void *b) {
  const Function *x = a, *y = b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void load(const char *path) {
  int fd = open(path, O_RDONLY);
  struct stat s;
  if (fd < 0 || fstat(fd, &s)) { perror(path); exit(2); }
  uint8_t *file = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  Elf64_Ehdr *header = (Elf64_Ehdr *)file;
  Elf64_Phdr *segments = (Elf64_Phdr *)(file + header->e_phoff);
  uint64_t end = 0, text_end = 0;
  for (int i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr + segments[i].p_memsz > end) end = segments[i].p_vaddr + segments[i].p_memsz;
  image = mmap(NULL, end + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (int i = 0; i < header->e_phnum; i++) {
    if (segments[i].p_type != PT_LOAD) continue;
    memcpy(image + segments[i].p_vaddr, file + segments[i].p_offset, segments[i].p_filesz);
    if (segments[i].p_flags & PF_X) text_end = segments[i].p_vaddr + segments[i].p_filesz;
  }
  Elf64_Shdr *sections = (Elf64_Shdr *)(file + header->e_shoff), *symbols = NULL;
  for (int i = 0; i < header->e_shnum; i++)
    if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !symbols)) symbols = &sections[i];
  size_t n = symbols->sh_size / sizeof(Elf64_Sym);
  Elf64_Sym *table = (Elf64_Sym *)(file + symbols->sh_offset);
  functions = malloc(n * sizeof *functions);
  for (size_t i = 0; i < n; i++)
    if (ELF64_ST_TYPE(table[i].st_info) == STT_FUNC && table[i].st_shndx && table[i].st_size)
      functions[function_count++] = (Function){table[i].st_value, table[i].st_size, 0};
  qsort(functions, function_count, sizeof *functions, by_offset);
  size_t kept = 0;
  for (size_t i = 0; i < function_count; i++)
    if (!kept || functions[kept - 1].offset != functions[i].offset) functions[kept++] = functions[i];
  function_count = kept;
  for (size_t i = 0; i < kept; i++) functions[i].available = (i + 1 < kept ? functions[i + 1].offset : text_end) - functions[i].offset;
}

// MARK: The independent reading

typedef struct Read {
  ZydisDecodedInstruction i;
  ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
} Read;

static int read_at(const uint8_t *bytes, size_t left, Read *r) {
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, left, &r->i, r->o));
}

static void complain(const HKTBody *body, const char *what) {
  wrong++;
  if (wrong < 20) printf("wrong copy of +0x%lx: %s\n", (unsigned long)(body->address - (uint64_t)image), what);
}

/// The address an instruction jumps to or refers to, 0 when it names none.
static uint64_t named_address(const Read *r, uint64_t at) {
  uint64_t result;
  for (int k = 0; k < r->i.operand_count; k++) {
    const ZydisDecodedOperand *o = &r->o[k];
    bool relative = (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o->imm.is_relative) ||
                    (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP);
    if (relative && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&r->i, o, at, &result))) return result;
  }
  return 0;
}

/// Where control goes from copied code at `at`: follows one jmp, direct or through a literal inside the copy.
static uint64_t final_target(const HKTMovedWindow *m, uint64_t destination, uint64_t at) {
  if (at < destination || at >= destination + m->length) return at;
  Read r;
  if (!read_at(m->bytes + (at - destination), m->length - (at - destination), &r) || r.i.mnemonic != ZYDIS_MNEMONIC_JMP) return at;
  uint64_t named = named_address(&r, at), literal;
  if (!named) return at;
  if (r.o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return named;
  if (named < destination || named + 8 > destination + m->length) return at;
  memcpy(&literal, m->bytes + (named - destination), 8);
  return literal;
}

/// The original address a target means: targets inside the copy stand for the instruction they were copied from.
static uint64_t meaning(const HKTBody *body, const HKTMovedWindow *m, uint64_t destination, uint64_t target) {
  if (target < destination || target >= destination + m->length) return target;
  for (uint32_t k = 0; k < m->count; k++)
    if (destination + m->to[k] == target) return body->address + m->from[k];
  return 0;
}

static bool same_but_address(const Read *a, const Read *b) {
  if (a->i.mnemonic != b->i.mnemonic || a->i.operand_count_visible != b->i.operand_count_visible || a->i.length != b->i.length) return false;
  for (int k = 0; k < a->i.operand_count_visible; k++) {
    const ZydisDecodedOperand *x = &a->o[k], *y = &b->o[k];
    if (x->type != y->type || x->size != y->size) return false;
    if (x->type == ZYDIS_OPERAND_TYPE_REGISTER && x->reg.value != y->reg.value) return false;
    if (x->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && x->imm.value.u != y->imm.value.u) return false;
    if (x->type == ZYDIS_OPERAND_TYPE_MEMORY &&
        (x->mem.base != y->mem.base || x->mem.index != y->mem.index || x->mem.scale != y->mem.scale || x->mem.segment != y->mem.segment ||
         (x->mem.base != ZYDIS_REGISTER_RIP && x->mem.disp.value != y->mem.disp.value)))
      return false;
  }
  return true;
}

static struct { int relative, branch, call, jump, plain; } seen;

static void check_call(const HKTBody *body, const HKTMovedWindow *m, uint64_t destination, const Read *original, uint64_t at,
                       const Read *push, uint64_t copy) {
  uint64_t pushed = 0, literal = named_address(push, copy);
  if (push->i.mnemonic != ZYDIS_MNEMONIC_PUSH || literal < destination || literal + 8 > destination + m->length)
    return complain(body, "a call must push a literal");
  memcpy(&pushed, m->bytes + (literal - destination), 8);
  if (pushed != at + original->i.length) return complain(body, "the pushed return address is not the original one");
  uint64_t next = copy + push->i.length;
  if (original->o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    if (final_target(m, destination, next) != named_address(original, at)) complain(body, "call target");
    return;
  }
  Read jump;
  if (!read_at(m->bytes + (next - destination), m->length - (next - destination), &jump) || jump.i.mnemonic != ZYDIS_MNEMONIC_JMP)
    return complain(body, "an indirect call must become push and jmp");
  if (named_address(original, at) != named_address(&jump, next)) complain(body, "call operand");
  jump.i.mnemonic = original->i.mnemonic;
  const ZydisDecodedOperand *a = &original->o[0], *b = &jump.o[0];
  if (a->type != b->type || (a->type == ZYDIS_OPERAND_TYPE_REGISTER && a->reg.value != b->reg.value) ||
      (a->type == ZYDIS_OPERAND_TYPE_MEMORY && (a->mem.base != b->mem.base || a->mem.index != b->mem.index || a->mem.scale != b->mem.scale ||
                                                (a->mem.base != ZYDIS_REGISTER_RIP && a->mem.disp.value != b->mem.disp.value))))
    complain(body, "call through another operand");
}

static void check_copy(const HKTBody *body, const HKTMovedWindow *m, uint64_t destination) {
  uint32_t offset = 0;
  bool ended = false;
  for (uint32_t k = 0; k < m->count; k++) {
    Read a, b;
    uint64_t at = body->address + offset, copy = destination + m->to[k];
    if (m->from[k] != offset) return complain(body, "instruction map");
    if (!read_at((uint8_t *)at, 15, &a) || !read_at(m->bytes + m->to[k], m->length - m->to[k], &b)) return complain(body, "cannot be decoded again");
    offset += a.i.length;
    ended = false;
    if (a.i.mnemonic == ZYDIS_MNEMONIC_CALL) {
      seen.call++;
      check_call(body, m, destination, &a, at, &b, copy);
      ended = true;
    } else if (a.i.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE && a.i.mnemonic != ZYDIS_MNEMONIC_RET &&
               a.o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      seen.branch++;
      uint64_t target = a.i.mnemonic == ZYDIS_MNEMONIC_JMP ? final_target(m, destination, copy) : named_address(&b, copy);
      if (a.i.mnemonic != ZYDIS_MNEMONIC_JMP && b.i.mnemonic != a.i.mnemonic) complain(body, "another condition");
      if (a.i.meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT && a.i.mnemonic >= ZYDIS_MNEMONIC_LOOP && a.i.mnemonic <= ZYDIS_MNEMONIC_LOOPNE)
        target = final_target(m, destination, target);
      if (meaning(body, m, destination, target) != named_address(&a, at)) complain(body, "branch target");
      ended = a.i.mnemonic == ZYDIS_MNEMONIC_JMP;
    } else {
      if (!same_but_address(&a, &b)) complain(body, "another instruction");
      uint64_t x = named_address(&a, at), y = named_address(&b, copy);
      if (x != y) complain(body, "operand address");
      if (x) seen.relative++; else seen.plain++;
      ended = a.i.mnemonic == ZYDIS_MNEMONIC_RET || a.i.mnemonic == ZYDIS_MNEMONIC_JMP || a.i.mnemonic == ZYDIS_MNEMONIC_UD2 || a.i.mnemonic == ZYDIS_MNEMONIC_HLT;
    }
  }
  if (ended) return;
  // The copy ends with a jump behind the window.
  Read last, copy;
  read_at((uint8_t *)body->address + m->from[m->count - 1], 15, &last);
  uint64_t back = destination + m->to[m->count - 1];
  if (!read_at(m->bytes + m->to[m->count - 1], 15, &copy)) return complain(body, "cannot be decoded again");
  back += copy.i.length;
  if (final_target(m, destination, back) != body->address + offset) complain(body, "the copy does not go on behind the window");
}

/// Whether any branch of the body goes strictly inside the window, by full decoding.
static bool jumps_into(const HKTBody *body, uint32_t window, bool *to_entry) {
  bool found = false;
  *to_entry = false;
  for (uint64_t offset = 0; offset < body->size;) {
    Read r;
    if (!read_at((uint8_t *)body->address + offset, body->size - offset, &r)) return found;
    if (offset >= window && r.i.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) {
      uint64_t target = named_address(&r, body->address + offset);
      if (r.o[0].type != ZYDIS_OPERAND_TYPE_MEMORY && target > body->address && target < body->address + window) found = true;
      if (r.o[0].type != ZYDIS_OPERAND_TYPE_MEMORY && target == body->address && r.i.mnemonic != ZYDIS_MNEMONIC_CALL) *to_entry = true;
    }
    offset += r.i.length;
  }
  return found;
}

// MARK: Glances

static long quick_decodes;

/// What a branch type is, as far as both readings tell it.
static HKTCourse course(const Read *r) {
  bool is_direct = r->o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (r->i.mnemonic) {
    case ZYDIS_MNEMONIC_CALL: return is_direct ? HKT_COURSE_CALL : HKT_COURSE_CALL_INDIRECT;
    case ZYDIS_MNEMONIC_JMP: return is_direct ? HKT_COURSE_JUMP : HKT_COURSE_JUMP_INDIRECT;
    case ZYDIS_MNEMONIC_RET: return HKT_COURSE_RETURN;
    case ZYDIS_MNEMONIC_UD2: return HKT_COURSE_TRAP;
    case ZYDIS_MNEMONIC_INT3: return HKT_COURSE_BREAKPOINT;
    default: return r->i.meta.category == ZYDIS_CATEGORY_COND_BR ? HKT_COURSE_CONDITIONAL : HKT_COURSE_NEXT;
  }
}

/// What the quick decoder answers is what the full decoder says.
static bool quick_decode_holds(const uint8_t *code, uint64_t left) {
  HKTQuickDecode seen;
  if (!hkt_quick_decode(code, left, &seen)) return true;
  quick_decodes++;
  Read r;
  if (!read_at(code, left, &r) || r.i.length != seen.length || course(&r) != seen.course || r.i.opcode != seen.opcode) return false;
  int relative_at = 0;
  for (int k = 0; k < r.i.operand_count; k++)
    if (r.o[k].type == ZYDIS_OPERAND_TYPE_MEMORY && r.o[k].mem.base == ZYDIS_REGISTER_RIP) relative_at = r.i.raw.disp.offset;
  bool is_direct = r.o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && r.o[0].imm.is_relative;
  return relative_at == seen.relative_at && seen.distance == (is_direct ? r.o[0].imm.value.s : 0);
}

/// A walk goes from instruction to instruction as the decoder does, over none that goes into the window or may.
static bool walk_holds(const uint8_t *code, uint64_t from, uint64_t size, uint32_t window) {
  uint64_t stop = hkt_quick_decode_over(code, from, size, window), offset = from;
  while (offset < stop) {
    Read r;
    if (!read_at(code + offset, size - offset, &r)) return false;
    HKTCourse goes = course(&r);
    bool is_direct = r.o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && r.o[0].imm.is_relative;
    offset += r.i.length;
    if (goes == HKT_COURSE_JUMP_INDIRECT || (is_direct && offset + (uint64_t)r.o[0].imm.value.s < window)) return false;
  }
  return offset == stop && stop <= size;
}

/// walk_holds is true from every place where a walk stops.
static bool walks_hold(const uint8_t *code, uint64_t from, uint64_t size, uint32_t window) {
  for (Read r; from < size; from += r.i.length) {
    if (!walk_holds(code, from, size, window)) return false;
    from = hkt_quick_decode_over(code, from, size, window);
    if (from >= size || !read_at(code + from, size - from, &r)) return true;
  }
  return true;
}

static void check_quick_decodes(const HKTBody *body) {
  if (!walks_hold((const uint8_t *)body->address, 0, body->size, 5)) complain(body, "a walk says something else than the decoder");
  for (uint64_t offset = 0; offset < body->size;) {
    Read r;
    const uint8_t *code = (const uint8_t *)body->address + offset;
    if (!quick_decode_holds(code, body->size - offset)) return complain(body, "the quick decoder says something else than the decoder");
    if (!read_at(code, body->size - offset, &r)) return;
    offset += r.i.length;
  }
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/// Bytes that nobody compiled, with and without prefixes, whole and cut off.
static void check_quick_decodes_at_random(uint64_t *state, int count) {
  static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x2e, 0x3e, 0x64, 0x40, 0x41, 0x44, 0x48, 0x4c, 0xf0};
  for (int k = 0; k < count; k++) {
    uint64_t words[3] = {next_random(state), next_random(state), next_random(state)};
    uint8_t code[24];
    memcpy(code, words, 24);
    uint32_t at = code[23] & 3;
    for (uint32_t i = 0; i < at; i++) code[i] = prefixes[code[20 + i % 3] % sizeof prefixes];
    if (code[22] & 1) code[at] = 0x0f;
    uint64_t left = code[19] & 7 ? 15 : code[18] % 15 + 1;
    if (quick_decode_holds(code, left) && walks_hold(code, 0, sizeof code, 24)) continue;
    wrong++;
    printf("wrong quick decode at");
    for (uint64_t i = 0; i < left; i++) printf(" %02x", code[i]);
    printf("\n");
  }
}

int corpus(int argc, char **argv) {
  if (argc < 4) return 2;
  load(argv[1]);
  size_t count = strtoul(argv[2], NULL, 10);
  uint64_t seed = strtoull(argv[3], NULL, 10), state = seed * 0x9e3779b97f4a7c15ull | 1;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  int refused[32] = {0}, moved = 0;
  uint64_t bytes = 0, nanoseconds = 0;
  for (size_t k = 0; k < count; k++) {
    Function *f = &functions[count >= function_count ? k % function_count : next_random(&state) % function_count];
    HKTBody body = {(uint64_t)image + f->offset, f->size, f->available, image + f->offset};
    // Near, at the far edge of reach, and out of reach of some targets.
    uint64_t destination = (uint64_t)image + (uint64_t[]){-(4ull << 20), -(1900ull << 20), 1900ull << 20}[k % 3];
    HKTMovedWindow m;
    HKTRefusal r = {0};
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    bool ok = hkt_move_window(&body, destination, &m, &r);
    clock_gettime(CLOCK_MONOTONIC, &b);
    nanoseconds += (uint64_t)((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec);
    bytes += f->size;
    check_quick_decodes(&body);
    bool to_entry;
    if (ok) {
      moved++;
      check_copy(&body, &m, destination);
      if (jumps_into(&body, m.window, &to_entry) || to_entry) complain(&body, "a jump into the window went unseen");
    } else {
      refused[r.reason]++;
      if (getenv("SHOW") && r.reason == atoi(getenv("SHOW"))) printf("+0x%lx refused at +0x%lx\n", f->offset, r.address - (uint64_t)image);
      if (r.reason == HKT_JUMP_INTO_WINDOW && !jumps_into(&body, 19, &to_entry)) complain(&body, "refused without a jump");
    }
    if (count >= function_count && k + 1 == function_count) break;
  }
  check_quick_decodes_at_random(&state, 1000000);
  printf("%s: seed %lu, functions %zu, moved %d (relative %d, branch %d, call %d), quick_decodes %ld, wrong %d, %.1f ns per body byte; refused:", argv[1], seed,
         function_count, moved, seen.relative, seen.branch, seen.call, quick_decodes, wrong, (double)nanoseconds / (double)bytes);
  static const char *const names[] = {"ok", "too short", "undecodable", "jump into window", "jump to entry", "differs from file", "operand out of reach",
                                      "call returns into window", "unmovable", "hidden jump target", "shadow stack"};
  for (int i = 0; i < 11; i++) if (refused[i]) printf(" %s %d", names[i], refused[i]);
  printf("\n");
  return wrong != 0;
}
