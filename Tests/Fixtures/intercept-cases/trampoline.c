// Registers and unwinding.
#define _GNU_SOURCE
#include "cases.h"

#include <execinfo.h>
#include <unistd.h>

typedef struct RegisterFile {
  uint64_t integer[16];  // rax rbx rcx rdx rsi rdi rbp rsp r8-r15
  uint8_t xmm[16][16];
  uint64_t stack[16];
  uint32_t mxcsr, pad;
} RegisterFile;

enum { RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15 };

void call_with(const RegisterFile *in, RegisterFile *out, void *target);
SUBJECT(record_everything);
RegisterFile seen, answer;

static void fill(RegisterFile *f, uint8_t seed) {
  uint8_t *bytes = (uint8_t *)f;
  for (size_t i = 0; i < sizeof *f; i++) bytes[i] = (uint8_t)(seed + i * 37 + (i >> 8) * 11);
}

/// Puts garbage into everything a handler may put garbage into.
__attribute__((noinline)) static void trash(void) {
  __asm__ volatile(
      "mov $-1, %%rax; mov %%rax, %%rcx; mov %%rax, %%rdx; mov %%rax, %%rsi; mov %%rax, %%rdi; mov %%rax, %%r8; mov %%rax, %%r9;"
      "mov %%rax, %%r10; mov %%rax, %%r11; mov %%rax, %%rbx; mov %%rax, %%r12; mov %%rax, %%r13; mov %%rax, %%r14; mov %%rax, %%r15;"
      "pcmpeqd %%xmm0, %%xmm0; movaps %%xmm0, %%xmm1; movaps %%xmm0, %%xmm2; movaps %%xmm0, %%xmm3; movaps %%xmm0, %%xmm4;"
      "movaps %%xmm0, %%xmm5; movaps %%xmm0, %%xmm6; movaps %%xmm0, %%xmm7" ::
          : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
            "xmm4", "xmm5", "xmm6", "xmm7", "memory");
}

static HKTAction trash_and_pass(HKTFrame *frame, HKTSite *site) {
  (void)frame;
  (void)site;
  trash();
  return HKT_CONTINUE;
}

static HKTAction trash_and_call(HKTFrame *frame, HKTSite *site) {
  trash();
  hkt_invoke(frame, site->original, 128);
  trash();
  return HKT_RETURN;
}

/// Changes every argument by one before the original sees it.
static HKTAction change_arguments(HKTFrame *frame, HKTSite *site) {
  (void)site;
  uint64_t *words = (uint64_t *)frame;
  for (int i = 0; i < 11; i++) words[i]++;  // integer[6] … r10
  for (int i = 0; i < 8; i++) frame->xmm[i][3]++;
  for (int i = 0; i < 16; i++) frame->stack[i]++;
  return HKT_CONTINUE;
}

/// Returns without a call.
static HKTAction answer_alone(HKTFrame *frame, HKTSite *site) {
  (void)site;
  for (int i = 0; i < 4; i++) frame->results.integer[i] = 100 + (uint64_t)i;
  memset(frame->results.xmm, 0x5a, sizeof frame->results.xmm);
  return HKT_RETURN;
}

static const int arguments[] = {RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R12, R13, R14};
static const int preserved[] = {RBX, RBP, R15, R14};
static const int results[] = {RAX, RCX, RDX, R8, R12, R13};
#define EACH(list, r) for (size_t i_ = 0; i_ < sizeof list / sizeof *list; i_++) for (int r = list[i_], once_ = 1; once_; once_ = 0)

static void arrives(const RegisterFile *in, uint64_t more) {
  EACH(arguments, r) CHECK(seen.integer[r] == in->integer[r] + more, "register %d: %lx, expected %lx", r, seen.integer[r], in->integer[r] + more);
  for (int i = 0; i < 8; i++) {
    uint8_t expected[16];
    memcpy(expected, in->xmm[i], 16);
    expected[3] += (uint8_t)more;
    CHECK(memcmp(seen.xmm[i], expected, 16) == 0, "xmm%d", i);
  }
  for (int i = 0; i < 16; i++) CHECK(seen.stack[i] == in->stack[i] + more, "stack slot %d", i);
}

static void comes_back(const RegisterFile *in, const RegisterFile *out) {
  EACH(preserved, r) if (r != R14) CHECK(out->integer[r] == in->integer[r], "callee-saved register %d", r);
  CHECK(out->integer[RSP] == 0, "stack pointer moved by %ld", (long)out->integer[RSP]);
  CHECK(out->mxcsr == seen.mxcsr, "floating point control");
  EACH(results, r) CHECK(out->integer[r] == answer.integer[r], "result %d: %lx, expected %lx", r, out->integer[r], answer.integer[r]);
  for (int i = 0; i < 4; i++) CHECK(memcmp(out->xmm[i], answer.xmm[i], 16) == 0, "result xmm%d", i);
}

void registers_survive(void) {
  HKTSite *site = prepared(record_everything, SIZE(record_everything));
  installed(site);
  for (int seed = 1; seed < 250; seed += 3) {
    RegisterFile in, out;
    fill(&in, (uint8_t)seed);
    fill(&answer, (uint8_t)(seed * 7 + 1));

    hkt_disable(site);
    call_with(&in, &out, record_everything);
    arrives(&in, 0);
    comes_back(&in, &out);
    uint64_t rsp = seen.integer[RSP];

    hkt_enable(site);
    site->handler = trash_and_pass;
    memset(&seen, 0, sizeof seen);
    call_with(&in, &out, record_everything);
    arrives(&in, 0);
    comes_back(&in, &out);
    CHECK(seen.integer[RSP] == rsp, "the original must see the stack pointer of its caller");
    CHECK(out.integer[R14] == in.integer[R14], "r14");

    site->handler = trash_and_call;
    memset(&seen, 0, sizeof seen);
    call_with(&in, &out, record_everything);
    arrives(&in, 0);
    comes_back(&in, &out);
    CHECK(seen.integer[RSP] % 16 == 8, "the stack must be aligned at a call");
    CHECK(out.integer[R14] == in.integer[R14], "r14");

    site->handler = change_arguments;
    memset(&seen, 0, sizeof seen);
    call_with(&in, &out, record_everything);
    arrives(&in, 1);
    comes_back(&in, &out);

    site->handler = answer_alone;
    memset(&seen, 0, sizeof seen);
    call_with(&in, &out, record_everything);
    CHECK(seen.integer[RDI] == 0, "the original must not run");
    CHECK(out.integer[RAX] == 100 && out.integer[RDX] == 101 && out.integer[RCX] == 102 && out.integer[R8] == 103);
    static const int kept[] = {RBX, RBP, R12, R13, R14, R15};
    EACH(kept, r) CHECK(out.integer[r] == in.integer[r], "register %d", r);
    CHECK(out.xmm[3][15] == 0x5a && out.integer[RSP] == 0);
  }
}

// MARK: Unwinding

static void *frames[64];
static int frame_count;

// In a section of its own: the linker tells its size.
extern char __stop_walks_text[];
__attribute__((noinline, section("walks_text"))) long walks(long a, long b) {
  frame_count = backtrace(frames, 64);
  return a + b;
}

static bool walked_through(const void *function, size_t size) {
  for (int i = 0; i < frame_count; i++)
    if ((char *)frames[i] >= (char *)function && (char *)frames[i] < (char *)function + size) return true;
  return false;
}

static HKTAction walk_and_pass(HKTFrame *frame, HKTSite *site) {
  (void)frame;
  (void)site;
  frame_count = backtrace(frames, 64);
  return HKT_CONTINUE;
}

static HKTAction walk_in_original(HKTFrame *frame, HKTSite *site) {
  hkt_invoke(frame, site->original, 64);
  return HKT_RETURN;
}

__attribute__((noinline)) void unwinding_passes(void) {
  Two volatile call = walks;
  HKTSite *site = prepared((void *)walks, (size_t)(__stop_walks_text - (char *)walks));
  installed(site);
  call(1, 2);
  int plain = frame_count;
  hkt_enable(site);
  site->handler = walk_and_pass;
  CHECK(call(1, 2) == 3);
  // After a handler that continued, the body has its own frame and nothing of ours.
  CHECK(frame_count == plain, "%d frames, without a hook %d", frame_count, plain);
  CHECK(walked_through((void *)unwinding_passes, 600));
  site->handler = walk_in_original;
  CHECK(call(1, 2) == 3);
  CHECK(frame_count == plain + 3, "%d frames, without a hook %d: body, hkt_invoke, handler, trampoline", frame_count, plain);
  CHECK(walked_through((void *)unwinding_passes, 600));
}
