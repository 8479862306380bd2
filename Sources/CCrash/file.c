// The crash file: made, mapped, filled with breadcrumbs.
#define _GNU_SOURCE 1
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

CCrashFile *_Atomic ccrash_file;
static char file_path[4096];

static uint64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/// Copies a text, cut where it does not fit. `room` is in bytes, one of which is the NUL's.
static void copy_text(char *to, size_t room, const char *from) {
  size_t length = strlen(from);
  if (length >= room) length = room - 1;
  memcpy(to, from, length);
  to[length] = 0;
}

/// When the process began, in clock ticks since the machine's boot; 0 when that cannot be read.
static uint64_t process_start(void) {
  char text[1024];
  int descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  ssize_t count = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  if (count <= 0) return 0;
  text[count] = 0;
  char *at = strrchr(text, ')');
  unsigned long long ticks = 0;
  if (at) sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &ticks);
  return ticks;
}

/// Another process: its parent's file is not its own.
static void forked_child(void) { atomic_store(&ccrash_file, NULL); }

int ccrash_open(const char *path, const char *program, const char *build_id, const char *boot_id, int32_t arguments) {
  if (atomic_load(&ccrash_file) || strlen(path) >= sizeof file_path) return EINVAL;
  int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return errno;
  // Allocated: a store into a hole of a file on a full disk would be a crash of its own.
  int error = posix_fallocate(descriptor, 0, sizeof(CCrashFile));
  void *memory = error ? MAP_FAILED : mmap(NULL, sizeof(CCrashFile), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (!error && memory == MAP_FAILED) error = errno;
  close(descriptor);
  if (error) {
    unlink(path);
    return error;
  }
  CCrashFile *file = memory;
  copy_text(file_path, sizeof file_path, path);
  copy_text(file->program, sizeof file->program, program);
  copy_text(file->build_id, sizeof file->build_id, build_id);
  copy_text(file->boot_id, sizeof file->boot_id, boot_id);
  file->size = sizeof *file;
  file->state = CCRASH_RUNNING;
  file->process = getpid();
  file->process_start = process_start();
  file->arguments = arguments;
  file->started_wall = now(CLOCK_REALTIME);
  file->started_monotonic = now(CLOCK_MONOTONIC);
  file->magic = CCRASH_MAGIC;
  pthread_atfork(NULL, NULL, forked_child);
  atomic_store(&ccrash_file, file);
  return 0;
}

const void *ccrash_memory(size_t *size) {
  *size = sizeof(CCrashFile);
  return atomic_load(&ccrash_file);
}

void ccrash_end(void) {
  CCrashFile *file = atomic_load(&ccrash_file);
  if (!file || file->process != getpid()) return;
  __atomic_store_n(&file->state, CCRASH_ENDED, __ATOMIC_RELEASE);
  unlink(file_path);
}

void ccrash_set_boot_level(uint32_t level) {
  CCrashFile *file = atomic_load(&ccrash_file);
  if (file) file->boot_level = level;
}

void ccrash_settle(void) {
  CCrashFile *file = atomic_load(&ccrash_file);
  if (file) __atomic_store_n(&file->settled, 1, __ATOMIC_RELEASE);
}

void ccrash_reach_main(void) {
  CCrashFile *file = atomic_load(&ccrash_file);
  if (!file) return;
  file->main_monotonic = now(CLOCK_MONOTONIC);
  __atomic_store_n(&file->reached_main, 1, __ATOMIC_RELEASE);
}

// MARK: Patches

uint32_t ccrash_add_patch(const char *path, uint64_t changed) {
  CCrashFile *file = atomic_load(&ccrash_file);
  if (!file) return 0;
  bool fits = strlen(path) < sizeof file->patches[0].path;
  uint32_t index = fits ? __atomic_fetch_add(&file->patch_count, 1, __ATOMIC_RELAXED) : CCRASH_PATCHES;
  if (index >= CCRASH_PATCHES) {
    __atomic_store_n(&file->patch_count, CCRASH_PATCHES + 1, __ATOMIC_RELAXED);
    return 0;
  }
  CCrashPatch *patch = &file->patches[index];
  patch->changed = changed;
  copy_text(patch->path, sizeof patch->path, path);
  return index + 1;
}

void ccrash_set_live(uint32_t patch, bool is_live) {
  CCrashFile *file = atomic_load(&ccrash_file);
  if (file && patch) __atomic_store_n(&file->patches[patch - 1].is_live, is_live, __ATOMIC_RELEASE);
}

// MARK: Owners

uint32_t ccrash_add_owner(const char *patch, const char *selector, const char *position, const char *source, int32_t line) {
  CCrashFile *file = atomic_load(&ccrash_file);
  if (!file) return 0;
  uint32_t index = __atomic_fetch_add(&file->owner_count, 1, __ATOMIC_RELAXED);
  if (index >= CCRASH_OWNERS) {
    __atomic_store_n(&file->owner_count, CCRASH_OWNERS, __ATOMIC_RELAXED);
    return 0;
  }
  CCrashOwner *owner = &file->owners[index];
  copy_text(owner->patch, sizeof owner->patch, patch);
  copy_text(owner->selector, sizeof owner->selector, selector);
  copy_text(owner->position, sizeof owner->position, position);
  copy_text(owner->source, sizeof owner->source, source);
  owner->line = line;
  return index + 1;
}

/// Owners by context: open addressing, twice the room there are owners. Entries are only added or changed.
enum { CONTEXTS = 2 * CCRASH_OWNERS };
static struct { _Atomic(uintptr_t) context; _Atomic(uint32_t) owner; } contexts[CONTEXTS];

static uint32_t place_of(uintptr_t context) { return (uint32_t)((context >> 4) * 0x9e3779b1u) % CONTEXTS; }

void ccrash_own(const void *context, uint32_t owner) {
  uintptr_t wanted = (uintptr_t)context;
  for (uint32_t i = 0, at = place_of(wanted); owner && i < CONTEXTS; i++, at = (at + 1) % CONTEXTS) {
    uintptr_t found = 0;
    if (atomic_compare_exchange_strong(&contexts[at].context, &found, wanted) || found == wanted) {
      atomic_store(&contexts[at].owner, owner);
      return;
    }
  }
}

uint32_t ccrash_owner_of(uint64_t context) {
  for (uint32_t i = 0, at = place_of(context); i < CONTEXTS; i++, at = (at + 1) % CONTEXTS) {
    uintptr_t found = atomic_load(&contexts[at].context);
    if (found == context) return atomic_load(&contexts[at].owner);
    if (!found) return 0;
  }
  return 0;
}

// MARK: Breadcrumbs

/// The place of the thread's newest call: one more of the same handler is counted there.
static __thread CCrashCall *newest __attribute__((tls_model("initial-exec")));
static __thread int32_t thread_id __attribute__((tls_model("initial-exec")));

static int32_t this_thread(void) {
  if (!thread_id) {
    thread_id = (int32_t)syscall(SYS_gettid);
    // A thread that runs handlers for the first time: so that an overflow of its stack is reported.
    ccrash_arm_thread();
  }
  return thread_id;
}

/// Begins a step of its own. Not in line: what it needs registers for is not on the way of a handler that runs again.
static __attribute__((noinline)) void begin_call(CCrashFile *file, uint32_t owner) {
  CCrashCall *call = &file->calls[__atomic_fetch_add(&file->next_call, 1, __ATOMIC_RELAXED) % CCRASH_CALLS];
  call->time = now(CLOCK_MONOTONIC_COARSE);
  call->owner = owner;
  call->thread = this_thread();
  call->count = 1;
  call->changed = 0;
  __atomic_store_n(&call->sequence, __atomic_add_fetch(&file->sequence, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
  newest = call;
}

void ccrash_note_call(uint32_t owner) {
  CCrashFile *file = atomic_load_explicit(&ccrash_file, memory_order_relaxed);
  if (!file || !owner) return;
  CCrashCall *call = newest;
  if (call && call->owner == owner && call->thread == thread_id) call->count++;
  else begin_call(file, owner);
}

void ccrash_begin_step(uint32_t owner) {
  ccrash_note_call(owner);
  CCrashFile *file = atomic_load(&ccrash_file);
  if (file && owner) file->owners[owner - 1].at_work = this_thread();
}

void ccrash_end_step(uint32_t owner) {
  CCrashFile *file = atomic_load(&ccrash_file);
  if (file && owner) file->owners[owner - 1].at_work = 0;
}

void ccrash_note_change(uint32_t owner) {
  CCrashCall *call = newest;
  // Other handlers ran inside this one, or something was noted: the change is a step of its own.
  if (!call || call->owner != owner || call->thread != thread_id) {
    ccrash_note_call(owner);
    call = newest;
  }
  // A step that is as old as the ring may be another thread's by now.
  if (call && call->owner == owner && call->thread == thread_id) call->changed = now(CLOCK_MONOTONIC_COARSE);
}

void ccrash_note(uint32_t kind, const char *text, size_t length) {
  CCrashFile *file = atomic_load_explicit(&ccrash_file, memory_order_relaxed);
  if (!file) return;
  CCrashCrumb *crumb = &file->crumbs[__atomic_fetch_add(&file->next_crumb, 1, __ATOMIC_RELAXED) % CCRASH_CRUMBS];
  __atomic_store_n(&crumb->sequence, 0, __ATOMIC_RELEASE);
  if (length > CCRASH_CRUMB_TEXT) length = CCRASH_CRUMB_TEXT;
  crumb->time = now(CLOCK_MONOTONIC_COARSE);
  crumb->thread = this_thread();
  crumb->kind = (uint16_t)kind;
  crumb->length = (uint16_t)length;
  memcpy(crumb->text, text, length);
  __atomic_store_n(&crumb->sequence, __atomic_add_fetch(&file->sequence, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
  // What comes after it is not part of the calls before.
  newest = NULL;
}
