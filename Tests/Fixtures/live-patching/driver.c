// Diverts and restores every function of the Swift module `Subject` while four threads run it.
//
//   LIVE_SECONDS (default 1), LIVE_CYCLES (default 0): it stops when both are reached.
//
// Prints one line; the status is 1 when a result was wrong or a transaction was refused.
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "CHookTrampoline.h"

long subject_round(long n);

static atomic_bool stop;
static atomic_long wrong, rounds, handled;

static HKTAction pass(HKTFrame *f, HKTSite *s) {
  (void)f;
  (void)s;
  atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
  return HKT_CONTINUE;
}
static HKTAction through(HKTFrame *f, HKTSite *s) {
  atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
  hkt_invoke(f, s->original, 96);
  return HKT_RETURN;
}

static void *run(void *unused) {
  (void)unused;
  long n = 0, bad = 0;
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) bad += subject_round(n++);
  wrong += bad;
  rounds += n;
  return NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int first_base(struct dl_phdr_info *info, size_t size, void *base) {
  (void)size;
  *(uint64_t *)base = info->dlpi_addr;
  return 1;
}

static int by_value(const void *a, const void *b) {
  const Elf64_Sym *x = a, *y = b;
  return x->st_value < y->st_value ? -1 : x->st_value > y->st_value;
}

enum { MAX = 4096 };
static HKTSite *sites[MAX];
static int count, refused[32], all;

/// Prepares every function of the module, from this program's own symbols.
static void find_sites(void) {
  int fd = open("/proc/self/exe", O_RDONLY);
  struct stat s;
  fstat(fd, &s);
  uint8_t *file = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  Elf64_Ehdr *header = (Elf64_Ehdr *)file;
  Elf64_Shdr *sections = (Elf64_Shdr *)(file + header->e_shoff);
  uint64_t base = 0;
  dl_iterate_phdr(first_base, &base);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char *names = (const char *)file + sections[sections[i].sh_link].sh_offset;
    size_t n = sections[i].sh_size / sizeof(Elf64_Sym), kept = 0;
    Elf64_Sym *symbols = malloc(n * sizeof *symbols), *table = (Elf64_Sym *)(file + sections[i].sh_offset);
    for (size_t k = 0; k < n; k++)
      if (ELF64_ST_TYPE(table[k].st_info) == STT_FUNC && table[k].st_shndx && table[k].st_size) symbols[kept++] = table[k];
    qsort(symbols, kept, sizeof *symbols, by_value);
    for (size_t k = 0; k < kept; k++) {
      const char *name = names + symbols[k].st_name;
      if (!strstr(name, "7Subject") || (k && symbols[k - 1].st_value == symbols[k].st_value) || count == MAX) continue;
      size_t next = k + 1;
      while (next < kept && symbols[next].st_value == symbols[k].st_value) next++;
      const Elf64_Shdr *text = &sections[symbols[k].st_shndx];
      uint64_t end = next < kept && symbols[next].st_shndx == symbols[k].st_shndx ? symbols[next].st_value : text->sh_addr + text->sh_size;
      HKTBody body = {base + symbols[k].st_value, symbols[k].st_size, end - symbols[k].st_value,
                      file + text->sh_offset + (symbols[k].st_value - text->sh_addr)};
      HKTRefusal r;
      all++;
      HKTSite *site = hkt_prepare(&body, &r);
      if (!site) {
        refused[r.reason]++;
        if (getenv("LIVE_SHOW")) printf("refused %d: %s\n", r.reason, name);
        continue;
      }
      site->handler = count & 1 ? through : pass;
      sites[count++] = site;
    }
  }
}

int main(int argc, char **argv) {
  const char *label = argc > 1 ? argv[1] : "";
  double seconds = getenv("LIVE_SECONDS") ? atof(getenv("LIVE_SECONDS")) : 1;
  long wanted = getenv("LIVE_CYCLES") ? atol(getenv("LIVE_CYCLES")) : 0, cycles = 0, moved = 0;
  find_sites();
  if (!count) return printf("no functions of the module found\n"), 1;
  HKTRefusal r;
  HKTTransactionReport report;
  // First alone: everything on, one round.
  for (int i = 0; i < count; i++) hkt_enable(sites[i]);
  if (!hkt_install(sites, (size_t)count, &r, &report)) return printf("install alone: reason %d errno %d\n", r.reason, r.error), 1;
  for (int i = 0; i < 32; i++) wrong += subject_round(i);
  if (!hkt_unpatch(sites, (size_t)count, &r, &report)) return printf("unpatch alone: reason %d\n", r.reason), 1;

  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run, NULL);
  double start = now(), total = 0, worst = 0;
  unsigned seed = (unsigned)getpid();
  while (now() - start < seconds || cycles < wanted) {
    for (int i = 0; i < count; i++) (rand_r(&seed) & 1 ? hkt_enable : hkt_disable)(sites[i]);
    if (!hkt_install(sites, (size_t)count, &r, &report))
      return printf("%s install: reason %d errno %d thread %d %s\n", label, r.reason, r.error, r.thread, r.thread_name), 1;
    moved += report.counters_moved;
    total += (double)report.nanoseconds;
    if ((double)report.nanoseconds > worst) worst = (double)report.nanoseconds;
    if (!hkt_unpatch(sites, (size_t)count, &r, &report))
      return printf("%s unpatch: reason %d errno %d\n", label, r.reason, r.error), 1;
    cycles++;
  }
  stop = true;
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("%s: %d of %d functions, %.1f s, %ld cycles, %ld rounds, %ld handled, %ld wrong, %ld counters moved, %u traps, install %.2f ms (worst %.2f); refused:",
         label, count, all, now() - start, cycles, rounds, handled, wrong, moved, report.traps, total / (double)cycles / 1e6, worst / 1e6);
  for (int i = 0; i < 32; i++)
    if (refused[i]) printf(" reason %d: %d", i, refused[i]);
  printf("\n");
  return wrong != 0;
}
