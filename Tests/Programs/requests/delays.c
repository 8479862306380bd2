// Delays planted before a program's own calls: preloaded, in milliseconds by DELAY_LOOKUP and DELAY_CONNECT. TRUSTED is read in place of the
// system's certificates, whose path Foundation gives to libcurl.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void pause_for(const char *name) {
  const char *text = getenv(name);
  if (text) usleep((useconds_t)atoi(text) * 1000);
}

static FILE *opened(const char *function, const char *path, const char *mode) {
  FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, function);
  const char *trusted = getenv("TRUSTED");
  return next(trusted && strcmp(path, "/etc/ssl/certs/ca-certificates.crt") == 0 ? trusted : path, mode);
}
FILE *fopen(const char *path, const char *mode) { return opened("fopen", path, mode); }
FILE *fopen64(const char *path, const char *mode) { return opened("fopen64", path, mode); }

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
  if (node && (!hints || !(hints->ai_flags & AI_NUMERICHOST))) pause_for("DELAY_LOOKUP");
  // A name that no name server has to know.
  return next(node && strcmp(node, "shop.test") == 0 ? "127.0.0.1" : node, service, hints, found);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
  int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
  if (address->sa_family == AF_INET) pause_for("DELAY_CONNECT");
  return next(descriptor, address, length);
}
