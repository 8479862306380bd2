// HKTSynthesizedMethods — code that tables of our own point at: implementations that handlers make up, and functions that answer a
// constant.
//
// A class or a witness table made at run time lies in our own memory. Its entries are the stubs of sites (HKTSlots.h makes
// them) whose handler is hkt_synthesized_method: what the layers do is what the method does, so they run for every call, also for
// those that ScriptHost makes for its own purposes, and also where a handler calls the method it handles.
#ifndef HKT_STAND_INS_H
#define HKT_STAND_INS_H

#include "HKTCalls.h"
#include "HKTPatching.h"

/// The handler of a site that stands for an implementation. Its record has a plan before the site is enabled.
HKTAction hkt_synthesized_method(HKTFrame *frame, HKTSite *site);

/// Hooks are off in this process: a forked copy that did not ask for them. Stand-ins run all the same.
bool hkt_is_passive(void);

/// The address of code that returns `value` in rax and 0 in rdx, at most 2 GiB from `near`: an accessor of metadata. It is
/// never freed. 0 with the facts in `refusal`.
uint64_t hkt_constant_function(uint64_t near, uint64_t value, HKTRefusal *refusal);

#endif
