// client PORT REQUESTS THREADS PATH…: asks a server on localhost so often, each time on a connection of its own, for one path after the other; prints
// the requests a second.
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct addrinfo *place;
static int each, paths;
static char **path;

static int ask(const char *path) {
  char text[512];
  int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
  int connection = socket(place->ai_family, SOCK_STREAM, 0);
  if (connection < 0 || connect(connection, place->ai_addr, place->ai_addrlen) != 0 || write(connection, text, length) != length) return 0;
  long count, whole = 0;
  char head[16] = "", buffer[65536];
  while ((count = read(connection, buffer, sizeof buffer)) > 0) {
    if (whole == 0) memcpy(head, buffer, count < 15 ? count : 15);
    whole += count;
  }
  close(connection);
  return strncmp(head, "HTTP/1.1 200", 12) == 0;
}

static void *drive(void *unused) {
  for (int number = 0; number < each; number++) {
    if (!ask(path[number % paths])) {
      fprintf(stderr, "a request for '%s' was not answered with 200\n", path[number % paths]);
      exit(1);
    }
  }
  return unused;
}

int main(int count, char **words) {
  if (count < 5 || getaddrinfo("localhost", words[1], &(struct addrinfo){.ai_socktype = SOCK_STREAM}, &place) != 0) return 2;
  // The server listens at one of the addresses.
  for (; place; place = place->ai_next) {
    int probe = socket(place->ai_family, SOCK_STREAM, 0);
    int refused = connect(probe, place->ai_addr, place->ai_addrlen);
    close(probe);
    if (!refused) break;
  }
  if (!place) return 3;
  int threads = atoi(words[3]);
  each = atoi(words[2]) / threads;
  path = words + 4;
  paths = count - 4;
  struct timespec from, to;
  pthread_t running[64];
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int index = 0; index < threads; index++) pthread_create(&running[index], NULL, drive, NULL);
  for (int index = 0; index < threads; index++) pthread_join(running[index], NULL);
  clock_gettime(CLOCK_MONOTONIC, &to);
  printf("%.1f\n", each * threads / ((to.tv_sec - from.tv_sec) + (to.tv_nsec - from.tv_nsec) / 1e9));
  return 0;
}
