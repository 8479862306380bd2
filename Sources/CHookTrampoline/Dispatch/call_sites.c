// Call sites by their return addresses.
//
// Invariants
//   1. An entry is complete before it is in the table, and stays there.
//   2. Nothing here reads code: who does is set at start. It may be asked for one address by several threads; one answer stays.
#include "CHookTrampoline.h"
#include "HKTAsync.h"
#include "HKTPeek.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { PLACES = 1 << 14, MOST_PROBES = 64, MOST_FRAMES = 8 };

static _Atomic(HKTCallSite *) table[PLACES];
static void (*_Atomic reader)(HKTCallSite *);

void hkt_set_call_site_reader(void (*read)(HKTCallSite *)) { atomic_store(&reader, read); }

static size_t place_of(uint64_t address) { return (address * UINT64_C(0x9e3779b97f4a7c15)) >> 50; }

/// Reads the code at an address and enters what it does; NULL when nobody reads or memory runs out. Any thread.
/// - at: where the table is searched from.
static HKTCallSite *make(uint64_t address, bool resumes, size_t at) {
  void (*read)(HKTCallSite *) = atomic_load(&reader);
  HKTCallSite *site = read ? calloc(1, sizeof *site) : NULL;
  if (!site) return NULL;
  site->return_address = address;
  site->resumes = resumes;
  site->frame = HKT_NO_OFFSET;
  read(site);
  for (size_t probe = 0; probe < MOST_PROBES; probe++) {
    _Atomic(HKTCallSite *) *place = &table[(at + probe) % PLACES];
    HKTCallSite *there = NULL;
    if (atomic_compare_exchange_strong(place, &there, site)) return site;
    if (there->return_address == address && there->resumes == resumes) {
      free(site);
      return there;
    }
  }
  // Full around here: it is as one that was not read.
  free(site);
  return NULL;
}

/// What was read at the address, read now where nobody did. Without a lock. NULL: it cannot be kept.
static inline HKTCallSite *find(uint64_t address, bool resumes) {
  size_t at = place_of(address);
  for (size_t probe = 0; probe < MOST_PROBES; probe++) {
    HKTCallSite *site = atomic_load_explicit(&table[(at + probe) % PLACES], memory_order_acquire);
    if (!site) return make(address, resumes, at);
    if (site->return_address == address && site->resumes == resumes) return site;
  }
  return NULL;
}

HKTCallSite *hkt_call_site(uint64_t return_address) { return find(return_address, false); }
HKTCallSite *hkt_resumption(uint64_t address) {
  return address == (uint64_t)hkt_async_return ? NULL : find(address, true);
}

/// Where the caller is that an address returns to: of an original that a handler runs, the caller of that handler's call.
typedef struct Caller {
  const HKTCall *call;    // the innermost whose original the caller is in, or the one that is asked about
  const uint64_t *stack;  // its stack arguments, below which is the address
} Caller;

static Caller behind_handlers(Caller caller) {
  extern const char hkt_invoke_returns_here[];
  while (caller.stack[-1] == (uint64_t)hkt_invoke_returns_here) {
    const HKTCall *up = caller.call->up;
    while (up && !(up->state & HKT_CALL_IN_ORIGINAL)) up = up->up;
    if (!up) break;
    caller = (Caller){up, up->frame->stack};
  }
  return caller;
}

/// The caller that the site's function returns to. Its frame is known.
static Caller caller_around(Caller caller, const HKTCallSite *site) {
  caller.stack = (const uint64_t *)((const char *)caller.stack + site->frame) + 1;
  return behind_handlers(caller);
}

static Caller caller_of(const HKTCall *call) { return behind_handlers((Caller){call, call->frame->stack}); }

const uint64_t *hkt_caller_stack(const HKTCall *call) { return caller_of(call).stack; }

/// The context, or what stood in it before records of ours did, that says where its function's caller is resumed; NULL where a handler called
/// the function: it takes whatever comes.
static const HKTAsyncContext *behind_records(const HKTAsyncContext *context) {
  while (context->resume_parent == (void *)hkt_async_return) {
    if (((const HKTAsyncCall *)context->parent)->is_callee) return NULL;
    context = context->parent;
  }
  return context;
}

/// What the context of the async call's callee held; NULL as above.
static const HKTAsyncContext *context_of(const HKTCall *call) {
  return behind_records((const HKTAsyncContext *)((const char *)call - offsetof(HKTAsyncCall, call)));
}

/// Where the async call's caller is resumed.
static uint64_t resumes_at(const HKTCall *call) {
  const HKTAsyncContext *context = context_of(call);
  return context ? (uint64_t)context->resume_parent : (uint64_t)hkt_async_return;
}

uint64_t hkt_goes_on_at(const HKTCall *call) { return call->is_async ? resumes_at(call) : hkt_caller_stack(call)[-1]; }

bool hkt_caller_may_know(const HKTCall *call) {
  // Nobody knows the code of closures made here.
  if (!call->site) return false;
  uint64_t address = hkt_goes_on_at(call);
  if (address == (uint64_t)hkt_async_return) return false;
  const HKTCallSite *site = find(address, call->is_async);
  if (!site) return true;
  if (site->image_end && call->site->body - site->image_begin >= site->image_end - site->image_begin) return false;
  return !site->is_known || site->is_direct || site->resumes;
}

static HKTVariableUse (*_Atomic variable_reader)(uint64_t, int64_t, uint32_t);
void hkt_set_variable_reader(HKTVariableUse (*read)(uint64_t, int64_t, uint32_t)) { atomic_store(&variable_reader, read); }

HKTVariableUse hkt_variable_use_after(const uint64_t *stack, uint64_t variable, uint32_t size) {
  HKTCallSite *site = hkt_call_site(stack[-1]);
  uint64_t offset = variable - (uint64_t)stack;
  if (!site || !site->is_known || site->frame == HKT_NO_OFFSET) return HKT_VARIABLE_MAY_BE_USED;
  if (offset >= (uint64_t)site->frame) return HKT_VARIABLE_ELSEWHERE;
  uint64_t key = offset << 32 | (uint64_t)size << 4 | 4;
  enum { KEPT = sizeof site->variables / sizeof *site->variables };
  for (int i = 0; i < KEPT; i++) {
    uint64_t known = __atomic_load_n(&site->variables[i], __ATOMIC_RELAXED);
    if ((known & ~UINT64_C(3)) == key) return (HKTVariableUse)(known & 3);
  }
  HKTVariableUse (*read)(uint64_t, int64_t, uint32_t) = atomic_load(&variable_reader);
  HKTVariableUse use = read ? read(site->return_address, (int64_t)offset, size) : HKT_VARIABLE_MAY_BE_USED;
  for (int i = 0; i < KEPT; i++) {
    uint64_t empty = 0;
    if (__atomic_compare_exchange_n(&site->variables[i], &empty, key | use, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
  }
  return use;
}

HKTResultUse hkt_result_use(const HKTCall *call, HKTPlaces asked) {
  Caller caller = caller_of(call);
  HKTResultUse use = {.return_address = caller.stack[-1]};
  HKTPlaces certain = ~UINT64_C(0);  // the callers so far do nothing else with it
  for (int depth = 0; asked && depth < MOST_FRAMES; depth++) {
    const HKTCallSite *site = hkt_call_site(caller.stack[-1]);
    if (!site || !site->is_known) return use;
    use.read |= asked & site->read & certain;
    certain &= ~site->possible;
    use.unread |= asked & ~site->possible & ~site->returned;
    asked &= site->returned & ~site->possible;
    if (site->frame == HKT_NO_OFFSET) return use;
    caller = caller_around(caller, site);
  }
  return use;
}

bool hkt_ignores_error(const HKTCall *call, uint64_t *return_address) {
  Caller caller = caller_of(call);
  for (int depth = 0; depth < MOST_FRAMES; depth++) {
    const HKTCallSite *site = hkt_call_site(caller.stack[-1]);
    *return_address = caller.stack[-1];
    if (!site || !site->is_known || site->tests_error) return false;
    if (!(site->returned & HKT_GPR(12))) return true;
    if (site->frame == HKT_NO_OFFSET) return false;
    caller = caller_around(caller, site);
  }
  return false;
}

HKTErrorUse hkt_async_error_use(const HKTCall *call) {
  const HKTPlaces error = HKT_GPR(13);
  const HKTAsyncContext *context = context_of(call);
  for (int depth = 0; depth < MOST_FRAMES; depth++) {
    if (!context) break;
    const HKTCallSite *site = hkt_resumption((uint64_t)context->resume_parent);
    if (!site || !site->is_known) break;
    if (site->read & error) return HKT_ERROR_IS_READ;
    if (!(site->possible & error)) return HKT_ERROR_IS_UNREAD;
    if (!(site->returned & error) || !context->parent) break;
    context = behind_records(context->parent);
  }
  return HKT_ERROR_USE_UNKNOWN;
}

static uint64_t error_class;
void hkt_set_error_class(uint64_t isa) { __atomic_store_n(&error_class, isa, __ATOMIC_RELAXED); }

bool hkt_may_be_error(uint64_t word) {
  uint64_t isa = 0;
  return word > 0xFFFF && word % 8 == 0 && hkt_peek(word, &isa, sizeof isa) && isa == __atomic_load_n(&error_class, __ATOMIC_RELAXED);
}

bool hkt_must_not_return(const HKTCall *call) {
  if (call->is_async || !call->site) return false;
  const HKTCallSite *site = hkt_call_site(hkt_caller_stack(call)[-1]);
  return site && site->ends;
}

uint64_t hkt_frames_end(const uint64_t *stack, uint32_t frames) {
  for (; frames > 0; frames--) {
    const HKTCallSite *site = hkt_call_site(stack[-1]);
    if (!site || site->frame == HKT_NO_OFFSET) return UINT64_MAX;
    stack = (const uint64_t *)((const char *)stack + site->frame) + 1;
  }
  return (uint64_t)(stack - 1);
}
