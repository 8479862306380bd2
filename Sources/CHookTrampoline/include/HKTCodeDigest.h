// HKTCodeDigest — a number that tells whether a function's code is still the same, wherever the linker has put it and what it names.
#ifndef HKT_CODE_DIGEST_H
#define HKT_CODE_DIGEST_H

#include "HKTFlow.h"

typedef struct HKTDigestHost {
  void *context;
  /// A number for what lies at `target`, which the code names by its distance: the same wherever that is. `size`: the bytes that an instruction
  /// reads or writes there, 0 where it goes there or takes the address.
  uint64_t (*named)(void *context, uint64_t target, uint64_t size);
} HKTDigestHost;

/// Goes on from `digest` with the instructions of the code. What they name by distance is what the host says it is; what lies in the function
/// itself counts by its place there. false: some instruction cannot be decoded. Any thread.
bool hkt_digest_code(const HKTCode *code, const HKTDigestHost *host, uint64_t *digest);

/// Goes on from `digest` with bytes: 64-bit FNV-1a, for telling apart what nobody has made to be alike.
uint64_t hkt_digest_bytes(uint64_t digest, const void *bytes, uint64_t size);

/// Where a digest begins.
static const uint64_t HKT_DIGEST_START = UINT64_C(0xcbf29ce484222325);

#endif
