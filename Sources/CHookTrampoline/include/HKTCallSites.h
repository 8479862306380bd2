// HKTCallSites — what the code at a return address, or where an async call resumes its caller, does with what the call leaves there.
//
// A caller in the same optimised module may know what its callee returns and never look. Read once for each return address, when
// something of ours depends on it, and kept: a lookup takes no lock.
#ifndef HKT_CALL_SITES_H
#define HKT_CALL_SITES_H

#include "HKTFlow.h"

/// What was read at one return address. It is immutable but for `reported`, and never freed.
typedef struct HKTCallSite {
  uint64_t return_address;
  HKTPlaces read;      // results, and r12, that an instruction certainly takes
  HKTPlaces possible;  // those that some instruction may take: the others it certainly does not
  HKTPlaces returned;  // those that may still be there when the caller returns, for its own caller
  int32_t frame;       // bytes from the first stack argument of the call to the caller's own return address; HKT_NO_OFFSET: not known
  bool resumes;        // the address is where an async function goes on, with what it waited for in the registers of arguments
  bool is_known;       // the code was understood; else all that is above is empty
  bool is_direct;      // the call names its callee: the caller may know its code
  bool tests_error;    // looks whether there is an error
  bool ends;           // the caller has no code behind the call: it was compiled with a callee that does not return
  bool leaves;         // the call's caller is a part of an async function, which looks at no object before it is left
  uint64_t image_begin, image_end;  // of the caller's image in memory; 0: not known
  uint64_t module;     // names the caller's module; 0: not known, or it may be a copy that another one made
  uint64_t variables[4];    // of variables of the caller: offset and size, and 4 + what is done with them; 0: free
  uint32_t reported;   // set by hkt_call_site_report
  uint32_t changed;    // bit i: a handler has changed argument i of the call, which its callee was read for
} HKTCallSite;

/// Says who reads the code at a site's return address and fills the rest in, on the thread that asks. Set once at start.
void hkt_set_call_site_reader(void (*read)(HKTCallSite *site));

/// What is known of the call that returns to the address. NULL: nothing, for want of a reader or of memory.
HKTCallSite *hkt_call_site(uint64_t return_address);
/// What is known of the async call whose caller goes on there: `possible`, `is_known`, the image and the module.
HKTCallSite *hkt_resumption(uint64_t address);

struct HKTCall;
/// Where the call's caller put its stack arguments, below which is the address that it returns to: of a function that a hooked one goes on to by
/// a jump, the other's caller.
const uint64_t *hkt_caller_stack(const struct HKTCall *call);
/// Where the call's caller goes on: the address that it returns to, or of an async call the code that its caller is resumed in.
uint64_t hkt_goes_on_at(const struct HKTCall *call);
/// Whether the call's caller may have been compiled with what the callee does before its eyes: it calls it by name, and lies in the
/// same image, or nothing is known of it. Which function an async caller names is not known: the image alone decides.
bool hkt_caller_may_know(const struct HKTCall *call);

/// True for the first who asks: what is said of a call site is said once.
static inline bool hkt_call_site_report(HKTCallSite *site) { return __atomic_exchange_n(&site->reported, 1, __ATOMIC_RELAXED) == 0; }

/// True for the first who asks for the argument.
static inline bool hkt_call_site_change(HKTCallSite *site, uint32_t argument) {
  return argument < 32 && (__atomic_fetch_or(&site->changed, UINT32_C(1) << argument, __ATOMIC_RELAXED) >> argument & 1) == 0;
}

/// Says who reads what a caller does with a variable in its frame. Set once at start.
void hkt_set_variable_reader(HKTVariableUse (*read)(uint64_t return_address, int64_t variable, uint32_t size));

/// What the caller of the call with its first stack argument at `stack` does with a variable after it: HKT_VARIABLE_ELSEWHERE where
/// that does not lie in the caller's frame.
HKTVariableUse hkt_variable_use_after(const uint64_t *stack, uint64_t variable, uint32_t size);
enum { HKT_VARIABLE_ELSEWHERE = 8 };

/// What callers do with places that a call leaves behind.
typedef struct HKTResultUse {
  HKTPlaces read;    // certainly taken
  HKTPlaces unread;  // certainly not
  uint64_t return_address;  // of the call site that decided
} HKTResultUse;

/// Asks the call's caller, and the callers of that where it only hands the values on. Not for async calls.
HKTResultUse hkt_result_use(const struct HKTCall *call, HKTPlaces asked);

/// The caller goes on without a look at the error register, and so do those it returns it to. Tells the last call site looked at.
/// Not for async calls.
bool hkt_ignores_error(const struct HKTCall *call, uint64_t *return_address);

/// What those make of r13 that an async call resumes: an error is there, where there is one.
typedef enum HKTErrorUse {
  HKT_ERROR_USE_UNKNOWN,
  HKT_ERROR_IS_READ,    // the callee throws
  HKT_ERROR_IS_UNREAD,  // it does not
} HKTErrorUse;

/// Asks the code that the async call's caller is resumed in, and the callers of that where it only hands the register on (a witness). May read code:
/// takes the lock of the caller's image.
HKTErrorUse hkt_async_error_use(const struct HKTCall *call);

/// The class of the boxes that errors are in, their first word. Set once at start.
void hkt_set_error_class(uint64_t isa);
/// The word is the address of such a box, or of what was one.
bool hkt_may_be_error(uint64_t word);

/// The call's caller has no code to go on with, so that the call must not return. Not for async calls.
bool hkt_must_not_return(const struct HKTCall *call);

/// Where the frames end of that call's caller and the callers around it, `frames` in all: calls that begin further up the stack
/// find them gone. UINT64_MAX where the code does not tell.
uint64_t hkt_frames_end(const uint64_t *stack, uint32_t frames);

#endif
