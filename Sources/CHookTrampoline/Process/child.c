// A child that the program does not notice: this process is copied without a signal at its end, and the copy starts the child, waits
// for it and kills it at the limit. In the copy only calls that take no lock are made: other threads held them when it was made.
#define _GNU_SOURCE
#include "HKTChild.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_DESCRIPTOR = 10 };  // above those of the child

typedef struct Ending { int32_t error, status, is_late; } Ending;
typedef struct Pipe { int from, to; } Pipe;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// MARK: The copy

/// Waits for the child's end and leaves its status to be taken; false: the limit, or nobody listens any more.
static bool await_end(pid_t child, uint64_t limit, int channel) {
  uint64_t begin = now();
  for (int turn = 0;; turn++) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != EINTR) return true;
    if (info.si_pid == child) return true;
    if (now() - begin >= limit) return false;
    struct pollfd listener = {.fd = channel, .events = 0};
    if (poll(&listener, 1, turn < 100 ? 2 : 20) > 0) return false;
  }
}

/// In the copy: runs the program, waits for its end as long as it may take, and writes how it ended to the channel.
static _Noreturn void run_and_tell(const HKTChild *child, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attributes, int channel) {
  // Where the program ignores its children's ends, their status is lost.
  struct sigaction plain = {.sa_handler = SIG_DFL};
  sigaction(SIGCHLD, &plain, NULL);
  Ending end = {0};
  pid_t pid = 0;
  end.error = posix_spawn(&pid, child->path, files, attributes, child->arguments, child->environment);
  if (end.error == 0) {
    end.is_late = !await_end(pid, child->limit, channel);
    // Itself first: before it made its session there is no group. What it started goes with it.
    if (end.is_late) kill(pid, SIGKILL);
    kill(-pid, SIGKILL);
    while (waitpid(pid, &end.status, 0) < 0 && errno == EINTR) {}
  }
  ssize_t ignored = write(channel, &end, sizeof end);
  (void)ignored;
  _exit(0);
}

// MARK: The caller

/// Makes a pipe whose ends are descriptors from FIRST_DESCRIPTOR on; the error number, or 0.
static int make_pipe(Pipe *made) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  made->from = fcntl(ends[0], F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
  made->to = fcntl(ends[1], F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
  int code = made->from < 0 || made->to < 0 ? errno : 0;
  close(ends[0]);
  close(ends[1]);
  return code;
}

/// Closes one end of a pipe, once.
static void close_end(int *descriptor) {
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
}

/// Reads what is there into the end of `buffer`. Where it is full its first half goes.
static bool take(int from, char *buffer, size_t room, size_t *length) {
  char piece[512];
  ssize_t count = read(from, piece, sizeof piece);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  size_t size = (size_t)count;
  if (*length + size > room && room >= 2 * sizeof piece) {
    size_t dropped = room / 2 < *length ? room / 2 : *length;
    memmove(buffer, buffer + dropped, *length - dropped);
    *length -= dropped;
  }
  if (size > room - *length) size = room - *length;
  memcpy(buffer + *length, piece, size);
  *length += size;
  return true;
}

/// Reads until the copy tells how it ended, and what is left then.
static int listen_to(Pipe *said, Pipe *answer, Pipe *channel, HKTChildEnd *end) {
  enum { MOST_TURNS = 64 };  // behind the end: somebody may have kept the pipe
  Ending ending = {0};
  bool has_ended = false;
  for (int turns = 0; turns < MOST_TURNS;) {
    turns += has_ended;
    struct pollfd polled[3] = {{.fd = said->from, .events = POLLIN}, {.fd = answer->from, .events = POLLIN}, {.fd = has_ended ? -1 : channel->from, .events = POLLIN}};
    int ready = poll(polled, 3, has_ended ? 0 : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    if (polled[0].revents && !take(said->from, end->said, end->said_room, &end->said_length)) close_end(&said->from);
    if (polled[1].revents && !take(answer->from, end->answer, end->answer_room, &end->answer_length)) close_end(&answer->from);
    if (!polled[2].revents) continue;
    ssize_t count = read(channel->from, &ending, sizeof ending);
    if (count < 0 && errno == EINTR) continue;
    // Somebody killed the copy: nothing is known of the child.
    if (count != sizeof ending) return ECHILD;
    has_ended = true;
  }
  end->status = ending.status;
  end->is_late = ending.is_late;
  return ending.error;
}

/// Makes the copy of this process that runs the child; the error number, or 0. No signal is handled in the copy.
static int start(const HKTChild *child, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attributes, Pipe pipes[3], HKTChildEnd *end) {
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  long copy = syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
  if (copy == 0) {
    for (int i = 0; i < 3; i++) close(pipes[i].from);
    run_and_tell(child, files, attributes, pipes[2].to);
  }
  int code = copy < 0 ? errno : 0;
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  if (code) return code;
  for (int i = 0; i < 3; i++) close_end(&pipes[i].to);
  code = listen_to(&pipes[0], &pipes[1], &pipes[2], end);
  for (int i = 0; i < 3; i++) close_end(&pipes[i].from);
  while (waitpid((pid_t)copy, NULL, __WALL) < 0 && errno == EINTR) {}
  return code;
}

/// Says which files the child begins with, and with which signals; the error number, or 0.
static int prepare(const HKTChild *child, const Pipe pipes[3], posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes) {
  sigset_t none;
  sigemptyset(&none);
  int code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  if (!code) code = posix_spawnattr_setsigmask(attributes, &none);
  if (!code) code = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
  if (!code) code = posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0);
  if (!code) code = posix_spawn_file_actions_adddup2(files, pipes[0].to, 2);
  if (!code) code = posix_spawn_file_actions_adddup2(files, pipes[1].to, HKT_CHILD_ANSWER);
  if (!code && child->file) code = posix_spawn_file_actions_addopen(files, HKT_CHILD_FILE, child->file, O_RDONLY, 0);
  return code;
}

void hkt_run_child(const HKTChild *child, HKTChildEnd *end) {
  Pipe pipes[3] = {{-1, -1}, {-1, -1}, {-1, -1}};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  end->answer_length = end->said_length = 0;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  int code = 0;
  for (int i = 0; i < 3 && !code; i++) code = make_pipe(&pipes[i]);
  if (!code) code = prepare(child, pipes, &files, &attributes);
  if (!code) code = start(child, &files, &attributes, pipes, end);
  end->error = code;
  for (int i = 0; i < 3; i++) {
    close_end(&pipes[i].from);
    close_end(&pipes[i].to);
  }
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
}

// MARK: The child

void hkt_become_child(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  fcntl(HKT_CHILD_ANSWER, F_SETFD, FD_CLOEXEC);
}
