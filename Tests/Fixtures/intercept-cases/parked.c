// A tracer parks a thread at an exact instruction, another thread changes the code, the first goes on.
#define _GNU_SOURCE
#include "cases.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/// What tracer and subject say to each other, in memory both see.
typedef struct Board {
  atomic_int thread;      // of the walker, once it exists
  atomic_int go;          // 1: the walker may call
  atomic_int change;      // 1: install, 2: take out
  atomic_int changed;     // 1: done
  atomic_int moved;       // counters moved by the change
  atomic_long result;
  atomic_int finished;
  atomic_int in_handler, leave_handler;
  void *body;
  long a, b;
} Board;
static Board *board;

static void wait_for(atomic_int *flag, int value) {
  for (int i = 0; atomic_load(flag) != value; i++) {
    CHECK(i < 300000, "nobody answered");
    usleep(100);
  }
}

static void *walk(void *unused) {
  (void)unused;
  board->thread = (int)syscall(SYS_gettid);
  while (!board->go) __builtin_ia32_pause();
  board->result = ((Two volatile)(Two)board->body)(board->a, board->b);
  board->finished = 1;
  return NULL;
}

static void linger(int signal) {
  (void)signal;
  board->in_handler = 1;
  while (!board->leave_handler) __builtin_ia32_pause();
}

/// The traced process: one thread calls the body, the other changes it when told.
static void subject(size_t size, bool start_installed) {
  struct sigaction a = {.sa_handler = linger};
  sigaction(SIGUSR1, &a, NULL);
  HKTSite *site = prepared(board->body, size);
  hkt_enable(site);
  if (start_installed) installed(site);
  pthread_t walker;
  pthread_create(&walker, NULL, walk, NULL);
  while (!board->change) usleep(100);
  HKTTransactionReport report = board->change == 1 ? installed(site) : taken_out(site);
  board->moved = (int)report.counters_moved;
  board->changed = 1;
  pthread_join(walker, NULL);
  // And the next call passes the new code.
  CHECK(((Two volatile)(Two)board->body)(board->a, board->b) == board->result);
  _exit(0);
}

static void start(pid_t *child, void *body, size_t size, long a, long b, bool start_installed) {
  board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  board->body = body;
  board->a = a;
  board->b = b;
  fflush(NULL);
  *child = fork();
  CHECK(*child >= 0);
  if (*child == 0) subject(size, start_installed);
  for (int i = 0; board->thread == 0; i++) {
    CHECK(i < 50000 && waitpid(*child, NULL, WNOHANG) == 0, "the subject ended early");
    usleep(100);
  }
}

static void await_stop(pid_t thread) {
  int status;
  CHECK(waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status), "status %x", status);
}

static uint64_t counter_of(pid_t thread) {
  struct user_regs_struct r;
  CHECK(ptrace(PTRACE_GETREGS, thread, 0, &r) == 0);
  return r.rip;
}

/// Steps the walker until its counter is `address`.
static bool park_at(pid_t thread, uint64_t address) {
  CHECK(ptrace(PTRACE_SEIZE, thread, 0, 0) == 0, "this test needs permission to trace its child");
  CHECK(ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0);
  await_stop(thread);
  board->go = 1;
  for (int i = 0; i < 4000 && !board->finished; i++) {
    if (counter_of(thread) == address) return true;
    CHECK(ptrace(PTRACE_SINGLESTEP, thread, 0, 0) == 0);
    await_stop(thread);
  }
  return false;
}

/// Lets the walker go on once a signal waits for it, or the change is done without one.
static void go_on(pid_t child, pid_t thread) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/task/%d/status", child, thread);
  for (int i = 0; i < 200000 && !board->changed; i++) {
    unsigned long pending = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) sscanf(line, "SigPnd: %lx", &pending);
    if (f) fclose(f);
    if (pending) break;
    usleep(100);
  }
  CHECK(ptrace(PTRACE_DETACH, thread, 0, 0) == 0);
}

static void finish(pid_t child, long expected, const char *what, uint64_t offset) {
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0, "%s parked at +%lu: status %x", what, offset, status);
  CHECK(board->result == expected, "%s parked at +%lu: %ld, expected %ld", what, offset, board->result, expected);
  munmap(board, sizeof *board);
}

// MARK: Inside a window

static const struct Row {
  const char *name;
  char *body, *end;
  long a, b, result;
  int boundaries[6];  // offsets of instructions, inside the window and just behind it
  int inside;         // how many of them are inside
} rows[] = {
    {"pushes", w_pushes, w_pushes_end, 5, 6, 17, {1, 2, 3, 4, 5, 9}, 4},
    {"frame", w_frame, w_frame_end, 50, 8, 42, {1, 4, 6, 10, 14, 18}, 2},
    {"plain", w_plain, w_plain_end, 5, 6, 33, {3, 7, 11, 0, 0, 0}, 1},
    {"inner loop", w_inner_loop, w_inner_loop_end, 4, 0, 0, {3, 5, 8, 0, 0, 0}, 1},
};

void parked_in_windows(void) {
  int moved = 0, parked = 0;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int i = 0; i < 6 && (i == 0 || rows[k].boundaries[i]); i++) {
      const struct Row *row = &rows[k];
      pid_t child;
      start(&child, row->body, (size_t)(row->end - row->body), row->a, row->b, false);
      pid_t thread = board->thread;
      CHECK(park_at(thread, (uint64_t)row->body + (uint64_t)row->boundaries[i]), "%s: never at +%d", row->name, row->boundaries[i]);
      board->change = 1;
      go_on(child, thread);
      wait_for(&board->changed, 1);
      CHECK(board->moved == (i < row->inside), "%s at +%d: %d counters moved", row->name, row->boundaries[i], board->moved);
      moved += board->moved;
      parked++;
      finish(child, row->result, row->name, (uint64_t)row->boundaries[i]);
    }
  printf("parked-window: %d places, %d counters moved\n", parked, moved);
}

// MARK: Inside a stub, or below a moved call

void parked_in_stubs(void) {
  // The stub's address in the child is the same as here: both come from the same fork.
  static char *const bodies[] = {w_pushes, w_call};
  static const size_t sizes[] = {14, 9};
  const long results[] = {17, (long)(w_call + 6)};
  int parked = 0;
  for (int k = 0; k < 2; k++) {
    HKTSite *site = prepared(bodies[k], sizes[k]);
    hkt_enable(site);
    uint8_t *stub = (uint8_t *)site->original - 16;
    // Every address of the stub and the moved code at which an instruction starts, found by stepping once.
    uint64_t stops[64];
    int count = 0;
    pid_t child;
    start(&child, bodies[k], sizes[k], 5, 6, true);
    pid_t thread = board->thread;
    CHECK(park_at(thread, (uint64_t)bodies[k]));
    for (int i = 0; i < 400 && !board->finished && count < 64; i++) {
      uint64_t at = counter_of(thread);
      if (at >= (uint64_t)stub && at < (uint64_t)stub + 80) stops[count++] = at;
      CHECK(ptrace(PTRACE_SINGLESTEP, thread, 0, 0) == 0);
      await_stop(thread);
    }
    CHECK(ptrace(PTRACE_DETACH, thread, 0, 0) == 0);
    board->change = 2;
    finish(child, results[k], "stub", 0);
    CHECK(count >= 5, "%d instructions seen in the stub", count);
    // In the callee of the moved call, which answers its return address.
    extern char w_pointer[];
    if (k == 1) stops[count++] = *(uint64_t *)w_pointer;
    for (int i = 0; i < count; i++, parked++) {
      start(&child, bodies[k], sizes[k], 5, 6, true);
      thread = board->thread;
      CHECK(park_at(thread, stops[i]), "never at %lx", stops[i]);
      board->change = 2;
      wait_for(&board->changed, 1);  // taking out asks nobody
      go_on(child, thread);
      finish(child, results[k], "stub", stops[i] - (uint64_t)stub);
    }
  }
  printf("parked-stub: %d places\n", parked);
}

// MARK: Inside a window, with another signal's handler on top

void parked_below_a_handler(void) {
  int moved = 0;
  for (int i = 0; i < rows[0].inside; i++) {
    const struct Row *row = &rows[0];
    pid_t child;
    start(&child, row->body, (size_t)(row->end - row->body), row->a, row->b, false);
    pid_t thread = board->thread;
    CHECK(park_at(thread, (uint64_t)row->body + (uint64_t)row->boundaries[i]));
    // The handler runs, and lingers, while the code changes.
    syscall(SYS_tgkill, child, thread, SIGUSR1);
    CHECK(ptrace(PTRACE_DETACH, thread, 0, 0) == 0);
    wait_for(&board->in_handler, 1);
    board->change = 1;
    wait_for(&board->changed, 1);
    CHECK(board->moved == 1, "%d counters moved", board->moved);
    moved += board->moved;
    board->leave_handler = 1;
    finish(child, row->result, "handler", (uint64_t)row->boundaries[i]);
  }
  printf("parked-handler: %d counters moved in frames of other signals\n", moved);
}
