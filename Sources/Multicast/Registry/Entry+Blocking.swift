internal import Synchronization

extension Entry {
  /// Whether the entry must not be called now.
  var isBlocked: Bool {
    // Acquiring: pairs with `setBlocked`.
    head.pointee.state.load(ordering: .acquiring) & EntryHead.blocked != 0
  }

  /// Whether it was not removed.
  var isRegistered: Bool {
    // Acquiring: pairs with the thread that removed the entry.
    EntryHead.isActive(head.pointee.state.load(ordering: .acquiring))
  }

  /// Makes every later call of the entry skip it, or not; does nothing if it was removed. The
  /// caller has the lock that guards the number of its blocks.
  func setBlocked(_ isBlocked: Bool) {
    // Relaxed: exchanged below.
    var state = head.pointee.state.load(ordering: .relaxed)
    while EntryHead.isActive(state) {
      let new = isBlocked ? state | EntryHead.blocked : state & ~EntryHead.blocked
      // Releasing: a call that skips the entry, or no longer does, sees what was written before, as
      // with a removal. Acquiring is not needed; only a block pays for it.
      let (isDone, current) = head.pointee.state.weakCompareExchange(
        expected: state, desired: new, ordering: .acquiringAndReleasing)
      if isDone { return }
      state = current
    }
  }

  /// Adds a block.
  ///
  /// - Parameter extras: those of the registry.
  func block(_ extras: RegistryExtras?) {
    BlockCounts.shared.block(self)
    mailbox?.adoptBlock(of: self, extras)
  }

  /// Removes a block. After the last one, what waits in the mailbox is delivered.
  ///
  /// - Parameter extras: those of the registry.
  func unblock(_ extras: RegistryExtras?) {
    BlockCounts.shared.unblock(self)
    if let mailbox {
      mailbox.adoptBlock(of: self, extras)
    } else if !isBlocked {
      extras?.blockEnded(of: self)
    }
  }

  /// - Precondition: `count`, the number of blocks before `unblock`, is positive, or the entry was
  ///   removed.
  func requireBlock(_ count: Int) {
    guard isRegistered else { return }
    Self.requireBlock(count)
  }

  /// - Precondition: `count`, the number of blocks before `unblock`, is positive.
  static func requireBlock(_ count: Int) {
    require(
      count > 0,
      """
      Multicast: unblock() without block(). Call it once for each block(), or use withBlocked, \
      which does so.
      """)
  }
}
