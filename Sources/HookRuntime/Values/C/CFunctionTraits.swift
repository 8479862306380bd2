// CFunctionTraits — C functions that cannot be hooked like others, and why.
//
// A function that is called from a handler (`around`, `after`) sees our frame where its caller's was, and must come back
// there. Some look at who called them, some come back twice or never; a hook on those is left by a jump, before the function,
// with nothing of ours on the stack. Some are part of what carries a hook, and are never hooked.

/// How a hook may stand before a function.
package enum CFunctionTrait: Equatable, Sendable {
  case ordinary
  /// `before` only; the sentence says why.
  case beforeOnly(String)
  /// Layers that neither allocate memory nor wait for a lock.
  case allocation
  case never(String)
}

extension CFunctions {
  package static func trait(_ symbol: String) -> CFunctionTrait {
    if let known = traits[symbol] { return known }
    return families.first { symbol.hasPrefix($0.prefix) }?.trait ?? .ordinary
  }

  private static let looksAtCaller = CFunctionTrait.beforeOnly("it looks at the code it returns to, to learn which library calls it")
  private static let returnsTwice = CFunctionTrait.beforeOnly("it returns more than once, the later times to a frame that would be gone")
  private static let neverReturns = CFunctionTrait.beforeOnly("it does not return to its caller")
  private static let movesStack = CFunctionTrait.beforeOnly("it goes on with another stack than the one it was called on")

  private static let traits: [String: CFunctionTrait] = {
    var table: [String: CFunctionTrait] = [:]
    func set(_ trait: CFunctionTrait, _ names: String) { for name in names.split(separator: " ") { table[String(name)] = trait } }
    set(looksAtCaller, "dlopen dlmopen dlsym dlvsym")
    set(returnsTwice, "setjmp _setjmp sigsetjmp __sigsetjmp getcontext vfork __vfork")
    set(
      neverReturns,
      "exit _exit _Exit quick_exit abort pthread_exit thrd_exit longjmp _longjmp siglongjmp __longjmp_chk __assert_fail "
        + "__assert_perror_fail __stack_chk_fail __fortify_fail __chk_fail __cxa_throw __cxa_rethrow err errx verr verrx"
    )
    set(movesStack, "setcontext swapcontext makecontext clone")
    set(
      .allocation,
      "malloc calloc realloc reallocarray free cfree posix_memalign aligned_alloc memalign valloc pvalloc malloc_usable_size")
    set(.never("hooks themselves find their thread by it"), "__tls_get_addr")
    set(.never("the program has called it already"), "__libc_start_main")
    set(.never("compiled code calls it by a convention of its own"), "__fentry__ mcount _mcount __chkstk __morestack")
    set(
      .never("the unwinder calls it while it walks the stack"),
      "__gxx_personality_v0 __gcc_personality_v0 __register_frame_info __deregister_frame_info __cxa_begin_catch __cxa_end_catch")
    return table
  }()

  private static let families: [(prefix: String, trait: CFunctionTrait)] = [
    ("swift_", .never("it belongs to the Swift runtime's own machinery, which is never hooked")),
    ("_swift_", .never("it belongs to the Swift runtime's own machinery, which is never hooked")),
    ("__swift_", .never("it belongs to the Swift runtime's own machinery, which is never hooked")),
    ("_Unwind_", .never("the unwinder walks the stack that a hook stands on")),
    ("_dl_", .never("it belongs to the dynamic loader's own machinery")),
    ("__asan_", .never("it belongs to a sanitizer's own machinery")), ("__tsan_", .never("it belongs to a sanitizer's own machinery")),
    ("__ubsan_", .never("it belongs to a sanitizer's own machinery")),
    ("__sanitizer_", .never("it belongs to a sanitizer's own machinery")),
    ("hkt_", .never("it is ScriptHost's own")), ("shl_", .never("it is ScriptHost's own")),
  ]
}
