internal import Foundation

/// A stack of its own for the signal handlers of a thread: a call that has used up the usual stack
/// leaves them none there, and the process would end without a notice.
///
/// ## Thread safety
/// Each thread has its own.
enum SignalStack {
  /// More than the handlers need, and those of the runtime that follow them.
  private static let size = 64 << 10

  /// The stack of this thread; taken back and freed at its end.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let error = pthread_key_create(&key) { memory in
      #if !os(tvOS) && !os(watchOS)
        var none = stack_t()
        none.ss_flags = Int32(SS_DISABLE)
        sigaltstack(&none, nil)
      #endif
      free(memory)
    }
    require(error == 0, "pthread_key_create failed with error \(error)")
    return key
  }()

  /// Gives this thread such a stack, unless it has one: that of a sanitizer, say.
  static func install() {
    #if !os(tvOS) && !os(watchOS)  // They have no such stacks.
      var stack = stack_t()
      guard sigaltstack(nil, &stack) == 0, Int32(stack.ss_flags) & Int32(SS_DISABLE) != 0,
        let memory = malloc(size)
      else { return }
      stack.ss_sp = memory
      stack.ss_size = numericCast(size)
      stack.ss_flags = 0
      guard sigaltstack(&stack, nil) == 0 else { return free(memory) }
      pthread_setspecific(key, memory)
    #endif
  }
}
