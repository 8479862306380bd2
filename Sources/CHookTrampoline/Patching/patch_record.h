// Private to this target: what the runtime keeps about a site besides HKTSite.
#ifndef HKT_PATCH_RECORD_H
#define HKT_PATCH_RECORD_H

#include <stdatomic.h>

#include "CHookTrampoline.h"

typedef enum HKTState : uint8_t {
  HKT_PREPARED = 0,  // the body holds its original bytes
  HKT_CHANGING,      // a transaction is writing it; byte 0 may be a breakpoint
  HKT_INSTALLED,     // the body starts with our jump
} HKTState;

/// One diverted body. The site comes first: pointers to both are the same.
/// Never freed and, but for `state`, never changed after hkt_prepare.
typedef struct HKTPatch {
  HKTSite site;
  uint8_t original[HKT_WINDOW_MAX + 1];       // the window's bytes before us
  uint8_t diversion[HKT_DIVERSION_SIZE];      // jmp stub
  uint8_t count;                              // instructions in the window
  uint8_t from[HKT_DIVERSION_SIZE];           // where each starts, from the body
  uint8_t to[HKT_DIVERSION_SIZE];             // where its copy starts, from site.original
  _Atomic HKTState state;
} HKTPatch;
_Static_assert(offsetof(HKTPatch, site) == 0, "a site's address is its patch's address");

/// Bytes a stub needs before its moved code.
#define HKT_STUB_HEAD 16

/// Where the stub is in executable memory, and the moved code behind its head.
static inline uint64_t hkt_moved_code(const HKTPatch *p) { return (uint64_t)p->site.original; }
static inline uint64_t hkt_stub_of(const HKTPatch *p) { return hkt_moved_code(p) - HKT_STUB_HEAD; }

static inline HKTPatch *hkt_patch(const HKTSite *site) { return (HKTPatch *)site; }

/// Fills the refusal when there is one and answers false, so that callers can `return hkt_refuse(...)`.
static inline bool hkt_refuse(HKTRefusal *refusal, HKTRefusal facts) {
  if (refusal) *refusal = facts;
  return false;
}

#endif
