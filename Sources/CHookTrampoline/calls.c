// The dispatcher: from a trampoline to the layers of a selector and back.
//
// Invariants
//   1. `thread->top` is the innermost hooked call of the thread; records live on
//      the stack of that call and are unlinked before it returns.
//   2. A layer set is freed only when it is unpublished and no hazard slot and no
//      deep user names it. Entering threads store the slot, then read the
//      published pointer again; retiring threads unpublish, run a barrier on all
//      threads (membarrier), then read the slots.
//   3. Nothing here allocates on the path of a call, except a thread's first
//      record and the undo copy of a handler's first change.
#define _GNU_SOURCE 1
#include "HKTCalls.h"
#include "calls_internal.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

_Static_assert(sizeof(HKTLayer) == 24, "HookRuntime/Dispatch writes layers");

enum { HAZARDS = sizeof(((HKTThread *)0)->hazard) / sizeof(void *) };

static void (*release_values)(void *releases);
static void (*release_scratch)(void *scratch);
void hkt_set_release_values(void (*release)(void *)) { release_values = release; }
void hkt_set_release_scratch(void (*release)(void *)) { release_scratch = release; }

// MARK: Threads

// Initial-exec: one word of the static TLS reserve, read without a call on every hooked entry.
static __thread HKTThread *this_thread __attribute__((tls_model("initial-exec")));
static _Atomic(HKTThread *) all_threads;
static pthread_key_t thread_key;
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;
static _Atomic(int) need_fence = -1;  // 1: no membarrier here, entering threads pay for the fence
static _Atomic(bool) passive;

static void thread_ended(void *record) {
  HKTThread *t = record;
  t->top = NULL;
  for (int i = 0; i < HAZARDS; i++) atomic_store_explicit(&t->hazard[i], NULL, memory_order_release);
  this_thread = NULL;
  atomic_store_explicit(&t->in_use, 0, memory_order_release);
}

static void make_thread_key(void) {
  pthread_key_create(&thread_key, thread_ended);
  long answer = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  atomic_store(&need_fence, answer == 0 ? 0 : 1);
}

static void read_stack_bounds(HKTThread *t) {
  pthread_attr_t attributes;
  void *low = NULL;
  size_t size = 0;
  t->stack_low = 0;
  t->stack_high = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    t->stack_low = (uint64_t)low;
    t->stack_high = (uint64_t)low + size;
  }
  pthread_attr_destroy(&attributes);
}

static __attribute__((noinline)) HKTThread *make_thread(void) {
  int saved_errno = errno;
  pthread_once(&thread_key_once, make_thread_key);
  HKTThread *t = NULL;
  for (HKTThread *each = atomic_load(&all_threads); each; each = each->next) {
    int32_t free_mark = 0;
    if (atomic_compare_exchange_strong(&each->in_use, &free_mark, 1)) { t = each; break; }
  }
  if (!t) {
    t = calloc(1, sizeof *t);
    if (!t) { errno = saved_errno; return NULL; }
    atomic_store(&t->in_use, 1);
    HKTThread *head = atomic_load(&all_threads);
    do t->next = head; while (!atomic_compare_exchange_weak(&all_threads, &head, t));
  }
  t->top = NULL;
  t->depth = t->host = t->protected_count = 0;
  t->forwarded.from = NULL;
  t->tid = (int32_t)syscall(SYS_gettid);
  t->errno_place = &errno;
  t->host = 1;  // reading the stack bounds may call hooked C functions
  this_thread = t;
  read_stack_bounds(t);
  t->host = 0;
  pthread_setspecific(thread_key, t);
  errno = saved_errno;
  return t;
}

HKTThread *hkt_thread(void) { return __builtin_expect(this_thread != NULL, 1) ? this_thread : make_thread(); }
HKTThread *hkt_thread_if_known(void) { return this_thread; }
void hkt_set_passive(bool value) { atomic_store(&passive, value); }

// MARK: Counting calls

/// Counts in the thread's own record: a counter that every thread writes would move between the processors' caches.
static inline void count_call(HKTThread *t, HKTBodyRecord *record) {
  HKTCount *count = &t->counts[((uintptr_t)record >> 6) % HKT_COUNTS];
  HKTBodyRecord *counted = atomic_load_explicit(&count->record, memory_order_relaxed);
  uint64_t calls = atomic_load_explicit(&count->calls, memory_order_relaxed);
  if (__builtin_expect(counted != record, 0)) {
    if (counted) atomic_fetch_add_explicit(&counted->calls, calls, memory_order_relaxed);
    atomic_store_explicit(&count->record, record, memory_order_relaxed);
    calls = 0;
  }
  atomic_store_explicit(&count->calls, calls + 1, memory_order_relaxed);
}

uint64_t hkt_record_calls(HKTBodyRecord *record) {
  uint64_t calls = atomic_load_explicit(&record->calls, memory_order_relaxed);
  for (HKTThread *t = atomic_load(&all_threads); t; t = t->next) {
    HKTCount *count = &t->counts[((uintptr_t)record >> 6) % HKT_COUNTS];
    if (atomic_load_explicit(&count->record, memory_order_relaxed) == record)
      calls += atomic_load_explicit(&count->calls, memory_order_relaxed);
  }
  return calls;
}

// MARK: Time

static uint64_t start_ns, start_ticks;

uint64_t hkt_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((constructor)) static void note_start(void) {
  start_ns = hkt_now_ns();
  start_ticks = __rdtsc();
}

uint64_t hkt_ticks(void) { return __rdtsc(); }

uint64_t hkt_ticks_to_ns(uint64_t ticks) {
  // The ratio gets better with the age of the process; it is good to 1% after 10 microseconds.
  static _Atomic(double) ns_per_tick;
  static _Atomic(uint64_t) measured_over;
  uint64_t age = __rdtsc() - start_ticks;
  if (age > 2 * atomic_load_explicit(&measured_over, memory_order_relaxed)) {
    double ratio = (double)(hkt_now_ns() - start_ns) / (double)age;
    atomic_store_explicit(&ns_per_tick, ratio, memory_order_relaxed);
    atomic_store_explicit(&measured_over, age, memory_order_relaxed);
  }
  return (uint64_t)((double)ticks * atomic_load_explicit(&ns_per_tick, memory_order_relaxed));
}

uint64_t hkt_call_duration_ns(const HKTCall *call) {
  return call->began_ticks ? hkt_ticks_to_ns(__rdtsc() - call->began_ticks) : 0;
}

// MARK: Layer sets

static pthread_mutex_t retire_lock = PTHREAD_MUTEX_INITIALIZER;
static HKTLayers *retired;
static uint32_t retired_count;

HKTLayers *hkt_layers_new(uint32_t count) {
  HKTLayers *layers = calloc(1, sizeof(HKTLayers) + count * sizeof(HKTLayer));
  if (layers) layers->count = count;
  return layers;
}

HKTLayers *hkt_record_publish(HKTBodyRecord *record, HKTLayers *layers) {
  return __atomic_exchange_n(&record->layers, layers, __ATOMIC_ACQ_REL);
}

void hkt_site_add_record(HKTSite *site, HKTBodyRecord *record) {
  record->next = __atomic_load_n((HKTBodyRecord **)&site->owner, __ATOMIC_ACQUIRE);
  __atomic_store_n((HKTBodyRecord **)&site->owner, record, __ATOMIC_RELEASE);
}

static bool in_use(HKTLayers *layers) {
  for (HKTThread *t = atomic_load(&all_threads); t; t = t->next)
    for (int i = 0; i < HAZARDS; i++)
      if (atomic_load_explicit(&t->hazard[i], memory_order_acquire) == layers) return true;
  // Last: an async call counts itself before it gives its thread's slot back.
  return atomic_load(&layers->deep_users) > 0;
}

static void free_layers(HKTLayers *layers) {
  if (layers->on_free) layers->on_free(layers->owner);
  free(layers);
}

void hkt_layers_retire(HKTLayers *layers) {
  if (!layers) return;
  HKTThread *self = hkt_thread();
  if (self) self->host++;
  pthread_once(&thread_key_once, make_thread_key);
  HKTLayers *to_free = NULL;
  pthread_mutex_lock(&retire_lock);
  layers->next_retired = retired;
  retired = layers;
  retired_count++;
  if (atomic_load(&need_fence) == 0) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  else atomic_thread_fence(memory_order_seq_cst);
  for (HKTLayers **link = &retired; *link;) {
    HKTLayers *each = *link;
    if (in_use(each)) { link = &each->next_retired; continue; }
    *link = each->next_retired;
    each->next_retired = to_free;
    to_free = each;
    retired_count--;
  }
  pthread_mutex_unlock(&retire_lock);
  while (to_free) {  // outside the lock: on_free may retire others
    HKTLayers *next = to_free->next_retired;
    free_layers(to_free);
    to_free = next;
  }
  if (self) self->host--;
}

uint32_t hkt_layers_waiting(void) {
  pthread_mutex_lock(&retire_lock);
  uint32_t n = retired_count;
  pthread_mutex_unlock(&retire_lock);
  return n;
}

/// Takes the published set of `record` so that it cannot be freed before `release_layers`.
static inline HKTLayers *protect_layers(HKTThread *t, HKTBodyRecord *record) {
  uint32_t slot = t->protected_count++;
  for (;;) {
    HKTLayers *layers = __atomic_load_n(&record->layers, __ATOMIC_ACQUIRE);
    if (!layers) return NULL;
    if (__builtin_expect(slot < HAZARDS, 1)) {
      atomic_store_explicit(&t->hazard[slot], layers, memory_order_relaxed);
      if (__builtin_expect(atomic_load_explicit(&need_fence, memory_order_relaxed) != 0, 0))
        atomic_thread_fence(memory_order_seq_cst);
      else atomic_signal_fence(memory_order_seq_cst);
      if (__builtin_expect(layers == __atomic_load_n(&record->layers, __ATOMIC_ACQUIRE), 1)) return layers;
    } else {
      // Deeper than the slots: the outer calls' slots of this thread may not cover this set, so it is counted
      // under the lock that retiring takes.
      pthread_mutex_lock(&retire_lock);
      layers = __atomic_load_n(&record->layers, __ATOMIC_ACQUIRE);
      if (layers) atomic_fetch_add(&layers->deep_users, 1);
      pthread_mutex_unlock(&retire_lock);
      return layers;
    }
  }
}

static inline void release_layers(HKTThread *t, HKTLayers *layers) {
  uint32_t slot = --t->protected_count;
  if (__builtin_expect(slot < HAZARDS, 1)) atomic_store_explicit(&t->hazard[slot], NULL, memory_order_release);
  else if (layers) atomic_fetch_sub(&layers->deep_users, 1);
}

// MARK: Running a call

// `state` is written as the whole word it is read as: a compiler that narrows `&=` to one byte makes the next read
// wait for the store.
static inline bool is_set(const HKTCall *call, uint32_t bits) {
  return __atomic_load_n(&call->state, __ATOMIC_RELAXED) & bits;
}
static inline void set_state(HKTCall *call, uint32_t bits) {
  __atomic_store_n(&call->state, __atomic_load_n(&call->state, __ATOMIC_RELAXED) | bits, __ATOMIC_RELAXED);
}
static inline void clear_state(HKTCall *call, uint32_t bits) {
  __atomic_store_n(&call->state, __atomic_load_n(&call->state, __ATOMIC_RELAXED) & ~bits, __ATOMIC_RELAXED);
}

static inline HKTOutcome run_handler(HKTCall *call, HKTLayer *layer, HKTPhase phase) {
  HKTThread *t = call->thread;
  int saved_errno = *t->errno_place;
  uint32_t is_host_work = layer->is_host_work;
  set_state(call, HKT_CALL_IN_HANDLER);
  t->host += is_host_work;
  HKTOutcome outcome = layer->function(call, layer->context, phase);
  t->host -= is_host_work;
  clear_state(call, HKT_CALL_IN_HANDLER);
  *t->errno_place = saved_errno;
  return outcome;
}

/// Bytes of stack arguments to copy for the original: all that can be arguments where their number is not known.
///
/// Arguments lie in the caller's frame, below the place its rbp points at: Swift keeps frame pointers (rbp is the caller's, or
/// that of the function it jumped out of, whose frame holds the arguments then). The trampoline has pushed it. For callers
/// that use rbp otherwise there is no bound but the stack's end, and a round number.
static size_t stack_bytes_of(const HKTCall *call) {
  const HKTBodyRecord *body = call->body;
  if (__builtin_expect(body->flags & HKT_BODY_STACK_KNOWN, 1)) return body->stack_bytes;
  enum { NO_FRAME_POINTER = 8192, HEADROOM = 64 * 1024 };
  const HKTThread *t = call->thread;
  uint64_t from = (uint64_t)call->frame->stack, rbp = call->frame->stack[-2];
  bool is_own_stack = from >= t->stack_low && from < t->stack_high;
  uint64_t end = is_own_stack ? t->stack_high : from + body->stack_bytes;
  uint64_t bytes = rbp > from && rbp <= end && rbp % 8 == 0 ? rbp - from : end - from < NO_FRAME_POINTER ? end - from : NO_FRAME_POINTER;
  // A frame of that size is no list of arguments; the copy must not use up the stack.
  uint64_t room = is_own_stack ? (uint64_t)__builtin_frame_address(0) - t->stack_low : 0;
  if (bytes > body->stack_bytes && bytes + HEADROOM > room) bytes = body->stack_bytes < bytes ? body->stack_bytes : bytes;
  return bytes & ~(uint64_t)7;
}

static void run_original(HKTCall *call) {
  HKTThread *t = call->thread;
  uint32_t host = t->host;
  t->host = 0;
  if (call->body->flags & HKT_BODY_FORWARDS) set_state(call, HKT_CALL_FORWARDING);
  hkt_invoke(call->frame, call->site->original, stack_bytes_of(call));
  if (__builtin_expect(call->body->flags & HKT_BODY_X87, 0)) hkt_x87_take(call->frame);
  clear_state(call, HKT_CALL_FORWARDING);
  set_state(call, HKT_CALL_ORIGINAL_RAN);
  t->host = host;
}

static void run_from(HKTCall *call, uint32_t index) {
  if (index == call->layers->count) { run_original(call); return; }
  HKTLayer *layer = &call->layers->layer[index];
  uint32_t outer = call->index;
  uint32_t outer_ran = is_set(call, HKT_CALL_ORIGINAL_RAN) ? HKT_CALL_ORIGINAL_RAN : 0;
  call->index = index;
  if (layer->phases & HKT_ON_AROUND) {
    clear_state(call, HKT_CALL_ORIGINAL_RAN);
    if (run_handler(call, layer, HKT_AROUND) != HKT_HANDLED && !is_set(call, HKT_CALL_ORIGINAL_RAN)) {
      run_from(call, index + 1);
    }
  } else {
    if (layer->phases & HKT_ON_ENTER) run_handler(call, layer, HKT_ENTER);
    run_from(call, index + 1);
    call->index = index;
    set_state(call, HKT_CALL_ORIGINAL_RAN);  // or a layer below stood in for it: what a call consumes is gone
    if (layer->phases & HKT_ON_EXIT) run_handler(call, layer, HKT_EXIT);
  }
  set_state(call, outer_ran);
  call->index = outer;
}

void hkt_call_proceed(HKTCall *call) {
  uint32_t in_handler = is_set(call, HKT_CALL_IN_HANDLER) ? HKT_CALL_IN_HANDLER : 0;
  clear_state(call, HKT_CALL_IN_HANDLER);
  run_from(call, call->index + 1);
  set_state(call, in_handler | HKT_CALL_ORIGINAL_RAN);
}

/// The layers of a call that is left by a jump; true when all is done and the jump may happen.
static bool run_enter_only(HKTCall *call) {
  for (uint32_t i = call->first; i < call->layers->count; i++) {
    HKTLayer *layer = &call->layers->layer[i];
    call->index = i;
    if (layer->phases & HKT_ON_ENTER) run_handler(call, layer, HKT_ENTER);
  }
  return !is_set(call, HKT_CALL_MUST_RETURN);
}

static inline bool hands_on_to(const HKTBodyRecord *from, const HKTBodyRecord *to) {
  for (uint32_t i = 0; i < to->forwarder_count; i++)
    if (to->forwarder[i].record == from) return true;
  return false;
}

/// True when this entry continues a call of the same selector that was delivered already: a base body that hands
/// its call on to a clone, an allocating initialiser to the initialising one.
static inline bool continues_delivered_call(HKTThread *t, HKTFrame *frame, HKTBodyRecord *body) {
  if (body->forwarder_count == 0) return false;
  if (t->forwarded.from && t->forwarded.stack == (uint64_t)frame->stack &&
      t->forwarded.return_address == frame->stack[-1] && hands_on_to(t->forwarded.from, body)) {
    // The clone may hand on, too.
    if (body->flags & HKT_BODY_FORWARDS) t->forwarded.from = body;
    else t->forwarded.from = NULL;
    return true;
  }
  HKTCall *top = t->top;
  if (top && is_set(top, HKT_CALL_FORWARDING) && hands_on_to(top->body, body)) {
    // Entered straight from the base that run_original called: as its tail call (the return address is
    // hkt_invoke's) or as its only direct call (checked below by range).
    extern const char hkt_invoke_returns_here[];
    if (frame->stack[-1] == (uint64_t)hkt_invoke_returns_here) {
      if (!(body->flags & HKT_BODY_FORWARDS)) clear_state(top, HKT_CALL_FORWARDING);
      return true;
    }
  }
  uint64_t from = frame->stack[-1];
  for (uint32_t i = 0; i < body->forwarder_count; i++)
    if (from - body->forwarder[i].begin <= body->forwarder[i].end - body->forwarder[i].begin) return true;
  return false;
}

/// Unlinks records of frames that were left without returning (longjmp, a foreign exception).
static inline void drop_abandoned(HKTThread *t, HKTFrame *frame) {
  while (__builtin_expect(t->top && (uint64_t)t->top < (uint64_t)frame, 0)) {
    uint64_t here = (uint64_t)frame, there = (uint64_t)t->top;
    if (here < t->stack_low || here >= t->stack_high || there < t->stack_low || there >= t->stack_high) return;
    release_layers(t, t->top->layers);
    t->depth--;
    t->top = t->top->up;
  }
}

/// Whether the call is this record's selector's: its thunk's constants are in the argument registers.
static inline bool is_call_of(const HKTBodyRecord *record, const HKTFrame *frame) {
  for (uint32_t mask = record->guard_mask, i = 0; mask; mask >>= 1, i++)
    if ((mask & 1) && frame->integer[i] != record->guard_value[i]) return false;
  return true;
}

static void (*planner)(HKTBodyRecord *);
static pthread_mutex_t plan_lock = PTHREAD_MUTEX_INITIALIZER;

void hkt_set_planner(void (*function)(HKTBodyRecord *)) { __atomic_store_n(&planner, function, __ATOMIC_RELEASE); }

bool hkt_record_plan(HKTBodyRecord *record, void *plan, uint32_t stack_bytes, uint32_t flags) {
  pthread_mutex_lock(&plan_lock);
  bool is_first = !record->plan;
  if (is_first) {
    record->stack_bytes = stack_bytes;
    __atomic_fetch_or(&record->flags, flags, __ATOMIC_RELAXED);
    __atomic_store_n(&record->plan, plan, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&plan_lock);
  return is_first;
}

__attribute__((noinline, visibility("hidden"))) void hkt_make_plan(HKTThread *t, HKTBodyRecord *body) {
  void (*make)(HKTBodyRecord *) = __atomic_load_n(&planner, __ATOMIC_ACQUIRE);
  if (!make) return;
  int saved_errno = *t->errno_place;
  t->host++;
  make(body);
  t->host--;
  *t->errno_place = saved_errno;
}

HKTAction hkt_dispatch(HKTFrame *frame, HKTSite *site) {
  HKTThread *t = hkt_thread();
  if (__builtin_expect(!t || t->host || atomic_load_explicit(&passive, memory_order_relaxed), 0)) return HKT_CONTINUE;
  HKTBodyRecord *body = __atomic_load_n((HKTBodyRecord **)&site->owner, __ATOMIC_ACQUIRE);
  if (__builtin_expect(body->guard_mask != 0, 0)) {
    while (body && !is_call_of(body, frame)) body = body->next;
    if (!body) return HKT_CONTINUE;
  }
  drop_abandoned(t, frame);
  if (continues_delivered_call(t, frame, body)) return HKT_CONTINUE;

  HKTLayers *layers = protect_layers(t, body);
  if (!layers) { release_layers(t, NULL); return HKT_CONTINUE; }
  hkt_need_plan(t, body);
  uint32_t first = 0;
  HKTCall *top = t->top;
  if (top && is_set(top, HKT_CALL_IN_HANDLER) && top->body->family == body->family) first = top->index + 1;

  HKTCall call = {
    .frame = frame, .site = site, .body = body, .layers = layers, .thread = t, .up = top, .depth = t->depth, .first = first,
  };
  t->top = &call;
  t->depth++;
  count_call(t, body);
  if (__builtin_expect(body->flags & HKT_BODY_X87, 0)) frame->x87_count = 0;
  bool by_jump = !(layers->phases & (HKT_ON_AROUND | HKT_ON_EXIT));
  if (by_jump) {
    if (!run_enter_only(&call) && !(body->flags & HKT_BODY_ENTER_ONLY)) {
      run_original(&call);
      by_jump = false;
    }
  } else {
    if (layers->phases & HKT_TIMED) call.began_ticks = __rdtsc();
    // A replaced call returns r12 and r13 as a callee would, as they came in: the trampoline has put them there.
    run_from(&call, first);
  }
  t->depth--;
  t->top = top;
  release_layers(t, layers);
  if (__builtin_expect(call.releases != NULL || call.scratch != NULL, 0)) {
    t->host++;
    if (call.releases) release_values(call.releases);
    if (call.scratch) release_scratch(call.scratch);
    t->host--;
  }
  if (!by_jump) {
    // Nothing but the way back to the caller comes after it.
    if (__builtin_expect(body->flags & HKT_BODY_X87, 0)) hkt_x87_give(frame);
    return HKT_RETURN;
  }
  if (body->flags & HKT_BODY_FORWARDS) {
    t->forwarded.from = body;
    t->forwarded.stack = (uint64_t)frame->stack;
    t->forwarded.return_address = frame->stack[-1];
  }
  return HKT_CONTINUE;
}

// MARK: For async.c

bool hkt_passes_through(HKTThread *t) { return !t || t->host || atomic_load_explicit(&passive, memory_order_relaxed); }
bool hkt_lies_on_stack(uint64_t address) {
  for (HKTThread *t = atomic_load(&all_threads); t; t = t->next)
    if (address >= t->stack_low && address < t->stack_high && atomic_load(&t->in_use)) return true;
  return false;
}
bool hkt_is_passive(void) { return atomic_load_explicit(&passive, memory_order_relaxed); }
bool hkt_is_call_of(const HKTBodyRecord *record, const HKTFrame *frame) { return is_call_of(record, frame); }
bool hkt_hands_on_to(const HKTBodyRecord *from, const HKTBodyRecord *to) { return hands_on_to(from, to); }
void hkt_count_call(HKTThread *t, HKTBodyRecord *record) { count_call(t, record); }

HKTLayers *hkt_layers_hold(HKTThread *t, HKTBodyRecord *record) {
  HKTLayers *layers = protect_layers(t, record);
  if (layers) atomic_fetch_add(&layers->deep_users, 1);
  release_layers(t, layers);
  return layers;
}
void hkt_layers_let_go(HKTLayers *layers) { atomic_fetch_sub(&layers->deep_users, 1); }

HKTOutcome hkt_run_layer(HKTCall *call, HKTLayer *layer, HKTPhase phase) {
  HKTThread *t = call->thread;
  drop_abandoned(t, (HKTFrame *)__builtin_frame_address(0));
  call->up = t->top;
  t->top = call;
  t->depth++;
  HKTOutcome outcome = run_handler(call, layer, phase);
  t->depth--;
  t->top = call->up;
  return outcome;
}

void hkt_release_kept(HKTCall *call) {
  if (!call->releases && !call->scratch) return;
  call->thread->host++;
  if (call->releases) release_values(call->releases);
  if (call->scratch) release_scratch(call->scratch);
  call->thread->host--;
}
