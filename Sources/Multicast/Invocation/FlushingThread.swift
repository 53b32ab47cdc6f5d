/// What cannot proceed while the calling thread blocks in a flush: the mailboxes of the callbacks
/// that it is inside, and the hubs whose events it is delivering.
///
/// ## Thread safety
/// For the calling thread only.
struct FlushingThread {
  let mailboxes: [Unmanaged<Mailbox>]
  let roles: [DeliveryRole]

  init() {
    mailboxes = ThreadCallStack.callsOfThisThread.compactMap { entry in
      // SAFETY: this thread is calling the entry, so it holds it; the entry owns its mailbox.
      Unmanaged<Entry>.fromOpaque(entry)._withUnsafeGuaranteedRef { $0.head.pointee.mailbox }
    }
    roles = DeliveryRole.ofThisThread
  }
}

extension FlushingThread {
  /// Whether other callbacks that flush must not wait for this thread.
  var isInCallback: Bool { !mailboxes.isEmpty || !roles.isEmpty }

  /// Whether a flush must not wait for `mailbox`.
  func excludes(_ mailbox: Mailbox) -> Bool {
    isInCallback && mailbox.isBlockedInFlush
  }

  /// Whether this thread is inside a callback of `mailbox`.
  func isInside(_ mailbox: Mailbox) -> Bool {
    mailboxes.contains { $0.toOpaque() == Unmanaged.passUnretained(mailbox).toOpaque() }
  }

  /// Whether a flush must not wait for the thread that has `role`.
  func excludes(_ role: DeliveryRole) -> Bool {
    isInCallback && role.isBlockedInFlush
  }

  /// Runs `body` while other threads find that this one is blocked in a flush.
  func blocked<R>(_ body: () -> R) -> R {
    add(1)
    defer { add(-1) }
    return body()
  }

  private func add(_ difference: Int) {
    // SAFETY: this thread is calling the entries, which own their mailboxes.
    for mailbox in mailboxes {
      mailbox._withUnsafeGuaranteedRef { $0.addBlockedFlushes(difference) }
    }
    for role in roles { role.addBlockedFlushes(difference) }
  }
}
