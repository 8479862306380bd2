// Private to this target: the mappings of this process, read without allocating.
#ifndef HKT_MAPS_H
#define HKT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HKTMapping {
  uint64_t start, end;
  int protection;   // PROT_*
  bool is_private;
} HKTMapping;

typedef struct HKTMaps {
  int fd;
  size_t have, at;
  char buffer[4096];
} HKTMaps;

/// False with errno when the list cannot be read.
bool hkt_maps_open(HKTMaps *maps);
/// The next mapping, in order of addresses; false at the end.
bool hkt_maps_next(HKTMaps *maps, HKTMapping *mapping);
void hkt_maps_close(HKTMaps *maps);

#endif
