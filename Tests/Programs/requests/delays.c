// Delays planted before a program's own calls: preloaded, in milliseconds by DELAY_QUEUE (before libcurl gets a request), DELAY_LOOKUP and
// DELAY_CONNECT, whose calls are told in DELAY_LOG as long as they took. TRUSTED is read in place of the
// system's certificates, whose path Foundation gives to libcurl.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void pause_for(const char *name) {
  const char *text = getenv(name);
  if (text) usleep((useconds_t)atoi(text) * 1000);
}

/// A line in DELAY_LOG: what, when it began and when it was over, by the clock that the records have.
static void note(const char *what, uint64_t begun) {
  const char *path = getenv("DELAY_LOG");
  char line[96];
  int length = snprintf(line, sizeof line, "%s %lu %lu\n", what, (unsigned long)begun, (unsigned long)now());
  int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  if (write(file, line, (size_t)length) < 0) abort();
  close(file);
}

static FILE *opened(const char *function, const char *path, const char *mode) {
  FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, function);
  const char *trusted = getenv("TRUSTED");
  return next(trusted && strcmp(path, "/etc/ssl/certs/ca-certificates.crt") == 0 ? trusted : path, mode);
}
FILE *fopen(const char *path, const char *mode) { return opened("fopen", path, mode); }
FILE *fopen64(const char *path, const char *mode) { return opened("fopen64", path, mode); }

void *curl_easy_init(void) {
  void *(*next)(void) = dlsym(RTLD_NEXT, "curl_easy_init");
  uint64_t begun = now();
  pause_for("DELAY_QUEUE");
  note("queue", begun);
  return next();
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
  bool is_name = node && (!hints || !(hints->ai_flags & AI_NUMERICHOST));
  uint64_t begun = now();
  if (is_name) pause_for("DELAY_LOOKUP");
  // A name that no name server has to know.
  int result = next(node && strcmp(node, "shop.test") == 0 ? "127.0.0.1" : node, service, hints, found);
  if (is_name) note("lookup", begun);
  return result;
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
  int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
  uint64_t begun = now();
  if (address->sa_family == AF_INET) pause_for("DELAY_CONNECT");
  int result = next(descriptor, address, length);
  int error = errno;
  if (address->sa_family == AF_INET) note("connect", begun);
  errno = error;
  return result;
}
