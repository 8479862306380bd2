// What a process may be like: hardened, unprivileged, short of memory, forked, traced by others.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_bool stop;
static void *stay(void *unused) {
  (void)unused;
  while (!stop) CHECK(((Two volatile)(Two)w_load)(1, 2) == 78);
  return NULL;
}

/// Installs, handles, takes out: alone, then beside a thread that calls.
static void whole_course(void) {
  HKTSite *site = prepared(w_load, SIZE(w_load));
  hkt_enable(site);
  for (int live = 0; live < 2; live++) {
    pthread_t t;
    if (live) pthread_create(&t, NULL, stay, NULL);
    long before = handled;
    CHECK(installed(site).live == (unsigned)live);
    CHECK(((Two volatile)(Two)w_load)(5, 0) == 82);
    CHECK(handled > before);
    taken_out(site);
    stop = true;
    if (live) pthread_join(t, NULL);
    stop = false;
  }
  CHECK((uint8_t)w_load[0] == 0x48);
}

// MARK: Hardened, unprivileged

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

static void *no_map_near(void *a, size_t n, int p, int f, int fd, off_t o) {
  if (p & PROT_EXEC) return errno = ENOMEM, MAP_FAILED;
  return mmap(a, n, p, f, fd, o);
}
static int no_memfd(const char *name, unsigned flags) {
  (void)name;
  (void)flags;
  errno = EPERM;
  return -1;
}

static void without_memfd(void) {
  hkt_system.memfd = no_memfd;
  whole_course();
  HKTProbe probe;
  hkt_probe(&probe);
  CHECK(!probe.stubs_in_memfd && probe.stub_space.reason == HKT_OK);
}

void deny_write_execute(void) {
  CHECK(prctl(PR_SET_MDWE, 1, 0, 0, 0) == 0 || errno == EINVAL, "errno %d", errno);
  HKTProbe probe;
  hkt_probe(&probe);
  CHECK(probe.code_write.reason == HKT_OK && probe.stub_space.reason == HKT_OK && probe.live.reason == HKT_OK);
  CHECK(probe.deny_write_execute == (prctl(66, 0, 0, 0, 0) > 0));
  in_child(whole_course, 0);
  in_child(without_memfd, 0);
  whole_course();
}

/// Becomes another user, then starts anew: a process of that user from its first instruction.
void another_user(char **argv) {
  int self = open("/proc/self/exe", O_RDONLY);
  CHECK(self >= 0);
  if (geteuid() == 0) CHECK(setgid(65534) == 0 && setuid(65534) == 0);
  char *arguments[] = {argv[0], "as-another-user", NULL};
  char *environment[] = {NULL};
  syscall(SYS_execveat, self, "", arguments, environment, AT_EMPTY_PATH);
  CHECK(false, "errno %d", errno);
}

void as_another_user(void) {
  CHECK(geteuid() != 0);
  in_child(whole_course, 0);
  deny_write_execute();
}

/// A daemon that opens everything as root and then becomes someone else: /proc/self belongs to root from then on.
void dropped_privileges(void) {
  if (geteuid() != 0) return;
  HKTProbe probe;
  hkt_probe(&probe);
  CHECK(probe.code_write.reason == HKT_OK);
  CHECK(setgid(65534) == 0 && setuid(65534) == 0);
  CHECK(open("/proc/self/mem", O_RDWR) < 0, "this process may still open its memory: nothing is tested");
  whole_course();
}

// MARK: Every failure once

static long budget;
static bool spend(void) { return budget-- > 0; }
static void *counted_map(void *a, size_t n, int p, int f, int fd, off_t o) {
  if (!spend()) return errno = ENOMEM, MAP_FAILED;
  return mmap(a, n, p, f, fd, o);
}
static int counted_memfd(const char *name, unsigned flags) { return spend() ? (int)syscall(SYS_memfd_create, name, flags) : (errno = EMFILE, -1); }
static int counted_open(const char *path, int flags) { return spend() ? open(path, flags) : (errno = EMFILE, -1); }
static ssize_t counted_write(int fd, const void *bytes, size_t n, off_t at) { return spend() ? pwrite(fd, bytes, n, at) : (errno = EIO, -1); }

/// Every call that may fail fails once, in turn, until none does. Alone, and beside another thread.
static void fail_in_turn(bool live) {
  HKTSystem real = hkt_system;
  pthread_t t;
  if (live) pthread_create(&t, NULL, stay, NULL);
  uint8_t load[16], pushes[16];
  memcpy(load, w_load, 16);
  memcpy(pushes, w_pushes, 16);
  int refusals = 0, undone = 0;
  for (long limit = 0;; limit++) {
    hkt_system = (HKTSystem){counted_map, counted_memfd, counted_open, counted_write, real.protect};
    budget = limit;
    HKTRefusal r = {0};
    HKTSite *sites[2] = {hkt_prepare(&(HKTBody){(uint64_t)w_load, SIZE(w_load), 0, NULL}, &r), NULL};
    if (sites[0]) sites[1] = hkt_prepare(&(HKTBody){(uint64_t)w_pushes, SIZE(w_pushes), 0, NULL}, &r);
    bool ok = sites[0] && sites[1] && hkt_install(sites, 2, &r, NULL);
    bool out = ok && hkt_unpatch(sites, 2, &r, NULL);
    long left = budget;
    hkt_system = real;
    if (out && left > 0) break;
    CHECK(limit < 500);
    if (!ok) {
      refusals++;
      CHECK(r.reason != HKT_OK && r.reason != HKT_UNDECODABLE, "reason %d", r.reason);
    }
    // Writes go on failing while a change is undone: then the refusal says so, calls go on through the trap handler, and the case is over.
    if (r.reason == HKT_NOT_UNDONE) {
      undone++;
      CHECK(((Two volatile)(Two)w_load)(5, 0) == 82 && ((Two volatile)(Two)w_pushes)(5, 6) == 17);
      break;
    }
    if (!ok) CHECK(memcmp(load, w_load, 16) == 0 && memcmp(pushes, w_pushes, 16) == 0, "limit %ld, reason %d", limit, r.reason);
    if (ok && !out) {
      CHECK(hkt_is_installed(sites[0]) && (uint8_t)w_load[0] == 0xe9, "limit %ld", limit);
      CHECK(hkt_unpatch(sites, 2, &r, NULL));
    }
    CHECK(((Two volatile)(Two)w_load)(5, 0) == 82 && ((Two volatile)(Two)w_pushes)(5, 6) == 17);
  }
  stop = true;
  if (live) pthread_join(t, NULL);
  printf("failures %s: %d refusals, %d not undone\n", live ? "live" : "alone", refusals, undone);
  CHECK(refusals > 3);
}
static void fail_alone(void) { fail_in_turn(false); }
static void fail_live(void) { fail_in_turn(true); }

/// One write fails, the others work: everything must be as before, whatever write it is.
static long failing_write;
static ssize_t one_write_fails(int fd, const void *bytes, size_t n, off_t at) {
  if (failing_write-- == 0) return errno = EIO, -1;
  return pwrite(fd, bytes, n, at);
}

static void roll_back(bool live) {
  HKTSystem real = hkt_system;
  pthread_t t;
  if (live) pthread_create(&t, NULL, stay, NULL);
  HKTSite *sites[2] = {prepared(w_load, SIZE(w_load)), prepared(w_pushes, SIZE(w_pushes))};
  uint8_t before[2][16];
  memcpy(before[0], w_load, 16);
  memcpy(before[1], w_pushes, 16);
  hkt_enable(sites[0]);
  HKTRefusal r;
  HKTProbe probe;
  hkt_probe(&probe);
  int rolled = 0;
  for (long k = 0;; k++) {
    failing_write = k;
    hkt_system.write_code = one_write_fails;
    bool ok = hkt_install(sites, 2, &r, NULL);
    hkt_system = real;
    CHECK(((Two volatile)(Two)w_load)(5, 0) == 82 && ((Two volatile)(Two)w_pushes)(5, 6) == 17);
    if (ok) break;
    CHECK(r.reason == HKT_CODE_NOT_WRITABLE && r.error == EIO);
    CHECK(memcmp(before[0], w_load, 16) == 0 && memcmp(before[1], w_pushes, 16) == 0);
    CHECK(!hkt_is_installed(sites[0]) && !hkt_is_installed(sites[1]));
    rolled++;
  }
  uint8_t diverted[5];
  memcpy(diverted, w_load, 5);
  for (long k = 0;; k++) {
    failing_write = k;
    hkt_system.write_code = one_write_fails;
    bool ok = hkt_unpatch(sites, 2, &r, NULL);
    hkt_system = real;
    if (ok) break;
    CHECK(memcmp(diverted, w_load, 5) == 0 && hkt_is_installed(sites[0]) && hkt_is_installed(sites[1]));
    rolled++;
  }
  CHECK(memcmp(before[0], w_load, 16) == 0 && memcmp(before[1], w_pushes, 16) == 0);
  stop = true;
  if (live) pthread_join(t, NULL);
  printf("rolled back %d times %s\n", rolled, live ? "live" : "alone");
  CHECK(rolled >= (live ? 12 : 2));
}
static void roll_back_alone(void) { roll_back(false); }
static void roll_back_live(void) { roll_back(true); }

static void no_space(void) {
  HKTRefusal r;
  hkt_system.map = no_map_near;
  CHECK(!hkt_prepare(&(HKTBody){(uint64_t)w_load, SIZE(w_load), 0, NULL}, &r) && r.reason == HKT_NO_STUB_SPACE && r.error == ENOMEM);
  HKTProbe probe;
  hkt_probe(&probe);
  CHECK(probe.stub_space.reason == HKT_NO_STUB_SPACE && probe.code_write.reason == HKT_OK);
}

void every_failure_once(void) {
  in_child(without_memfd, 0);
  in_child(no_space, 0);
  in_child(fail_alone, 0);
  in_child(fail_live, 0);
  in_child(roll_back_alone, 0);
  in_child(roll_back_live, 0);
}

// MARK: Forks

static HKTSite *first, *second_site;
static void change_in_child(void) {
  CHECK(hkt_is_installed(first) && ((Two volatile)(Two)w_load)(1, 0) == 78);
  taken_out(first);
  second_site = prepared(w_pushes, SIZE(w_pushes));
  hkt_enable(second_site);
  installed(second_site);
  CHECK(((Two volatile)(Two)w_pushes)(5, 6) == 17 && handled >= 2);
}

void forked_copies(void) {
  first = prepared(w_load, SIZE(w_load));
  hkt_enable(first);
  installed(first);
  uint8_t pushes[16];
  memcpy(pushes, w_pushes, 16);
  in_child(change_in_child, 0);
  CHECK((uint8_t)w_load[0] == 0xe9 && memcmp(pushes, w_pushes, 16) == 0, "the child wrote into its parent");
  HKTSite *third = prepared(w_frame, SIZE(w_frame));
  hkt_enable(third);
  installed(third);
  CHECK(((Two volatile)(Two)w_frame)(9, 4) == 5 && ((Two volatile)(Two)w_load)(1, 0) == 78);
  in_child(change_in_child, 0);
  CHECK(((Two volatile)(Two)w_frame)(9, 4) == 5);
}

// MARK: Other people's breakpoints

static atomic_int foreign;
static void count_traps(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)context;
  CHECK(info->si_code > 0);
  foreign++;
}
static struct sigaction chained;
/// Counts those of the main thread. The other one may have met a breakpoint of ours just before this handler was put above ours: a
/// thread may be put off the processor between its trap and the delivery.
static void count_and_chain(int signal, siginfo_t *info, void *context) {
  if (syscall(SYS_gettid) == getpid()) foreign += 10;
  chained.sa_sigaction(signal, info, context);
}

static void own_breakpoint_kills(void) {
  pthread_t t;
  pthread_create(&t, NULL, stay, NULL);
  HKTSite *site = prepared(w_load, SIZE(w_load));
  installed(site);
  prctl(PR_SET_DUMPABLE, 0);
  __asm__ volatile("int3");
}

static void two_handlers(void) {
  struct sigaction a = {.sa_sigaction = count_traps, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &a, NULL);
  pthread_t t;
  pthread_create(&t, NULL, stay, NULL);
  HKTSite *site = prepared(w_load, SIZE(w_load));
  installed(site);
  __asm__ volatile("int3");
  CHECK(foreign == 1);
  // Another one above ours, which chains to ours; then we go above it again.
  struct sigaction b = {.sa_sigaction = count_and_chain, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &b, &chained);
  __asm__ volatile("int3");
  CHECK(foreign == 12, "%d", foreign);
  taken_out(site);
  __asm__ volatile("int3");
  CHECK(foreign == 23, "%d", foreign);
  installed(site);
  stop = true;
  pthread_join(t, NULL);
}

void foreign_traps(void) {
  in_child(own_breakpoint_kills, SIGTRAP);
  in_child(two_handlers, 0);
}

// MARK: Descriptors

void closed_descriptors(void) {
  HKTSite *site = prepared(w_load, SIZE(w_load));
  installed(site);
  // The program closes everything and opens a file of its own on every number.
  char path[] = "/tmp/intercept-cases-XXXXXX";
  int file = mkstemp(path);
  CHECK(file >= 0 && unlink(path) == 0 && write(file, "untouched", 9) == 9);
  for (int fd = 3; fd < 300; fd++)
    if (fd != file) dup2(file, fd);
  taken_out(site);
  CHECK((uint8_t)w_load[0] == 0x48);
  char found[16] = {0};
  struct stat s;
  CHECK(fstat(file, &s) == 0 && s.st_size == 9 && pread(file, found, 16, 0) == 9 && strcmp(found, "untouched") == 0);
}

// MARK: Someone else changed it

static void poke(uint64_t address, const void *bytes, size_t n) {
  int fd = open("/proc/self/mem", O_RDWR);
  CHECK(pwrite(fd, bytes, n, (off_t)address) == (ssize_t)n);
  close(fd);
}

void changed_elsewhere(void) {
  HKTSite *site = prepared(w_load, SIZE(w_load)), *other = prepared(w_pushes, SIZE(w_pushes));
  HKTSite *both[2] = {site, other};
  HKTRefusal r;
  uint8_t pushes[8];
  memcpy(pushes, w_pushes, 8);
  // Between prepare and install: a breakpoint.
  poke((uint64_t)w_load, "\xcc", 1);
  CHECK(!hkt_install(both, 2, &r, NULL) && r.reason == HKT_CHANGED_ELSEWHERE && r.body == (uint64_t)w_load);
  CHECK((r.value & 0xff) == 0xcc && (r.expected & 0xff) == 0x48);
  CHECK(memcmp(pushes, w_pushes, 8) == 0, "the other body must be untouched");
  poke((uint64_t)w_load, "\x48", 1);
  CHECK(hkt_install(both, 2, &r, NULL));
  // After install: another hook on top. It is left alone, and so is the rest of the transaction.
  uint8_t ours[5], theirs[5] = {0xe9, 1, 2, 3, 4};
  memcpy(ours, w_load, 5);
  poke((uint64_t)w_load, theirs, 5);
  CHECK(!hkt_unpatch(both, 2, &r, NULL) && r.reason == HKT_CHANGED_ELSEWHERE);
  CHECK(memcmp(w_load, theirs, 5) == 0 && hkt_is_installed(other) && (uint8_t)w_pushes[0] == 0xe9);
  poke((uint64_t)w_load, ours, 5);
  CHECK(hkt_unpatch(both, 2, &r, NULL));
  // Twice is fine.
  CHECK(hkt_unpatch(both, 2, &r, NULL) && r.reason == HKT_OK);
}

void probe_reports(void) {
  HKTProbe probe;
  hkt_probe(&probe);
  CHECK(probe.code_write.reason == HKT_OK && probe.stub_space.reason == HKT_OK && probe.live.reason == HKT_OK);
  CHECK(probe.stubs_in_memfd && probe.rendezvous_signal == 0);
  struct sigaction a;
  CHECK(sigaction(SIGTRAP, NULL, &a) == 0 && a.sa_handler == SIG_DFL, "a probe installs no handler");
}
