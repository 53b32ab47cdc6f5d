extension UnownedTaskExecutor {
  /// The executor, retained.
  var existential: any TaskExecutor {
    // SAFETY: an unowned reference to a task executor is the two words of the existential: the
    // object and its witness table, as `RuntimeContract` checks. (`asTaskExecutor()` does the same,
    // and needs a newer system.) The executor lives as long as a task prefers it.
    unsafeBitCast(self, to: (any TaskExecutor).self)
  }
}
