// What the files of this program share.
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CHookTrampoline.h"

/// Ends the process with one line when a condition does not hold.
#define CHECK(condition, ...)                                          \
  do {                                                                 \
    if (!(condition)) {                                                \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);  \
      fprintf(stderr, "" __VA_ARGS__);                                 \
      fprintf(stderr, "\n");                                           \
      fflush(NULL);                                                    \
      _exit(1);                                                        \
    }                                                                  \
  } while (0)

void _exit(int) __attribute__((noreturn));

typedef long (*Two)(long, long);

/// Prepares a body or ends the process.
HKTSite *prepared(void *body, size_t size);
/// Installs or takes out one site, or ends the process.
HKTTransactionReport installed(HKTSite *site);
HKTTransactionReport taken_out(HKTSite *site);

/// Runs `body` in a child; its status must be `status`.
void in_child(void (*body)(void), int status);

// Handlers.
HKTAction pass(HKTFrame *frame, HKTSite *site);        // HKT_CONTINUE
HKTAction call_through(HKTFrame *frame, HKTSite *site);  // hkt_invoke with 128 stack bytes, HKT_RETURN
extern _Atomic long handled;

// Subjects (subjects.S).
#define SUBJECT(name) extern char name[], name##_end[]
#define SIZE(name) ((size_t)(name##_end - name))
SUBJECT(w_plain);
SUBJECT(w_pushes);
SUBJECT(w_frame);
SUBJECT(w_load);
SUBJECT(w_call);
SUBJECT(w_inner_loop);
SUBJECT(many_bodies);

// Cases by file.
int corpus(int argc, char **argv);
void registers_survive(void);
void unwinding_passes(void);
void windows_of_every_class(void);
void windows_that_are_refused(void);
void windows_far_away(void);
void many_at_once(void);
void stress(double seconds, long cycles);
void threads_come_and_go(void);
void sleepers_are_left_alone(void);
void masks_of_every_kind(void);
void profiler_signals(void);
void parked_in_windows(void);
void parked_in_stubs(void);
void parked_below_a_handler(void);
void deny_write_execute(void);
void another_user(char **argv);
void as_another_user(void);
void dropped_privileges(void);
void every_failure_once(void);
void forked_copies(void);
void foreign_traps(void);
void closed_descriptors(void);
void changed_elsewhere(void);
void probe_reports(void);
void slots_of_every_kind(void);
void slots_that_fail(void);
void slots_beside_threads(void);

#endif
