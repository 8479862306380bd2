// Reads /proc/self/maps: `start-end rwxp …`, one mapping a line.
#include "maps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "HKTPatching.h"

bool hkt_maps_open(HKTMaps *maps) {
  maps->fd = hkt_system.open_code("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  maps->have = maps->at = 0;
  return maps->fd >= 0;
}

void hkt_maps_close(HKTMaps *maps) { close(maps->fd); }

/// The next byte of the list; -1 at its end.
static int next_byte(HKTMaps *m) {
  if (m->at == m->have) {
    ssize_t n = read(m->fd, m->buffer, sizeof m->buffer);
    if (n <= 0) return -1;
    m->have = (size_t)n;
    m->at = 0;
  }
  return (unsigned char)m->buffer[m->at++];
}

/// Reads a hexadecimal number; answers the byte behind it, -1 at the list's end.
static int next_hex(HKTMaps *m, uint64_t *value) {
  *value = 0;
  for (int c;;) {
    c = next_byte(m);
    if (c >= '0' && c <= '9') *value = *value << 4 | (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f') *value = *value << 4 | (uint64_t)(c - 'a' + 10);
    else return c;
  }
}

bool hkt_maps_next(HKTMaps *maps, HKTMapping *mapping) {
  if (next_hex(maps, &mapping->start) != '-') return false;
  next_hex(maps, &mapping->end);
  int r = next_byte(maps), w = next_byte(maps), x = next_byte(maps);
  mapping->protection = (r == 'r' ? PROT_READ : 0) | (w == 'w' ? PROT_WRITE : 0) | (x == 'x' ? PROT_EXEC : 0);
  mapping->is_private = next_byte(maps) == 'p';
  for (int c = 0; c != '\n' && c >= 0;) c = next_byte(maps);
  return true;
}
