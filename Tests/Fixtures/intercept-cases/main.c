// intercept-cases NAME… — cases of the interception core that need a process of their own.
//
// Without a name, all of them run, each in a child. Prints one line per case; the status tells.
#define _GNU_SOURCE
#include "cases.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Atomic long handled;

HKTAction pass(HKTFrame *frame, HKTSite *site) {
  (void)frame;
  (void)site;
  handled++;
  return HKT_CONTINUE;
}

HKTAction call_through(HKTFrame *frame, HKTSite *site) {
  handled++;
  hkt_invoke(frame, site->original, 128);
  return HKT_RETURN;
}

HKTSite *prepared(void *body, size_t size) {
  HKTRefusal r;
  HKTSite *site = hkt_prepare(&(HKTBody){.address = (uint64_t)body, .size = size, .available = size}, &r);
  CHECK(site, "reason %d, errno %d, at %lx", r.reason, r.error, r.address);
  site->handler = pass;
  return site;
}

HKTTransactionReport installed(HKTSite *site) {
  HKTRefusal r;
  HKTTransactionReport report;
  CHECK(hkt_install(&site, 1, &r, &report), "reason %d, errno %d, thread %d %s", r.reason, r.error, r.thread, r.thread_name);
  return report;
}

HKTTransactionReport taken_out(HKTSite *site) {
  HKTRefusal r;
  HKTTransactionReport report;
  CHECK(hkt_unpatch(&site, 1, &r, &report), "reason %d, errno %d, thread %d %s", r.reason, r.error, r.thread, r.thread_name);
  return report;
}

void in_child(void (*body)(void), int status) {
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    body();
    fflush(NULL);
    _exit(0);
  }
  int found;
  CHECK(waitpid(child, &found, 0) == child);
  CHECK(found == status, "child's status %x, expected %x", found, status);
}

static double seconds_wanted = 2;
static long cycles_wanted;
static void stress_as_asked(void) { stress(seconds_wanted, cycles_wanted); }

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
    {"registers", registers_survive},
    {"unwinding", unwinding_passes},
    {"windows", windows_of_every_class},
    {"refusals", windows_that_are_refused},
    {"far", windows_far_away},
    {"many", many_at_once},
    {"stress", stress_as_asked},
    {"threads", threads_come_and_go},
    {"sleepers", sleepers_are_left_alone},
    {"masks", masks_of_every_kind},
    {"profiler", profiler_signals},
    {"parked-window", parked_in_windows},
    {"parked-stub", parked_in_stubs},
    {"parked-handler", parked_below_a_handler},
    {"mdwe", deny_write_execute},
    {"dropped", dropped_privileges},
    {"failures", every_failure_once},
    {"fork", forked_copies},
    {"traps", foreign_traps},
    {"descriptors", closed_descriptors},
    {"changed", changed_elsewhere},
    {"probe", probe_reports},
    {"slots", slots_of_every_kind},
    {"slots-failing", slots_that_fail},
    {"slots-threads", slots_beside_threads},
};

static void run_case(const char *name, void (*run)(void)) {
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  in_child(run, 0);
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("ok %s (%.0f ms)\n", name, (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6);
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  // The package manager links Swift's runtime into every program, and that handles SIGTRAP for its crash reports.
  signal(SIGTRAP, SIG_DFL);
  if (argc > 1 && strcmp(argv[1], "corpus") == 0) return corpus(argc - 1, argv + 1);
  if (argc > 1 && strcmp(argv[1], "as-another-user") == 0) return as_another_user(), 0;
  if (argc > 1 && strcmp(argv[1], "another-user") == 0) return another_user(argv), 0;
  if (getenv("STRESS_SECONDS")) seconds_wanted = atof(getenv("STRESS_SECONDS"));
  if (getenv("STRESS_CYCLES")) cycles_wanted = atol(getenv("STRESS_CYCLES"));
  int known = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int k = 1; k < argc || (argc == 1 && k == 1); k++)
      if (argc == 1 || strcmp(argv[k], cases[i].name) == 0) {
        run_case(cases[i].name, cases[i].run);
        known++;
      }
  CHECK(known, "no such case");
  return 0;
}
