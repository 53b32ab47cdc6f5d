internal import Synchronization

/// The entries that one call on an actor calls.
///
/// ## Thread safety
/// The thread that makes it uses it until it enqueues the call, and then the actor.
final class CalledEntries: @unchecked Sendable {
  // Sendable: see "Thread safety"; the lock of the mailbox hands it over.

  private var entries: ContiguousArray<Entry>
  /// How many of them were called.
  private var next = 0
  /// Those that their own mailboxes call, or that are blocked, which the actor releases too.
  private var others: ContiguousArray<Entry> = []

  init(_ entries: ContiguousArray<Entry>) {
    self.entries = entries
  }

  var isEmpty: Bool { entries.isEmpty && others.isEmpty }

  /// Appends `envelope` to the mailboxes of those that were added on `home`, and calls only the
  /// rest later, without those that are blocked now.
  ///
  /// - Returns: the number of mailboxes in which it waits, and of the rest that may be called now.
  func appendPlaced(on home: any Actor, _ envelope: Envelope) -> Int {
    var delivered = 0
    var rest: ContiguousArray<Entry> = []
    for entry in entries {
      guard !entry.isBlocked else {
        others.append(entry)
        continue
      }
      guard let mailbox = entry.head.pointee.placedMailbox?.takeUnretainedValue() as? ActorMailbox,
        mailbox.isOn(home)
      else {
        rest.append(entry)
        continue
      }
      others.append(entry)
      if entry.mayBeCalled && mailbox.enqueue(envelope, for: .passUnretained(entry)) {
        delivered += 1
      }
    }
    entries = rest
    return delivered + rest.count { $0.mayBeCalled }
  }

  /// Calls `body` with the value of each of the next entries that may still be called. Called on
  /// the actor, which releases all of them after the last one.
  ///
  /// - Parameter limit: how many entries to go through; at least 1.
  /// - Returns: through how many it went, and whether none is left.
  func call<Value>(
    atMost limit: Int, in registry: Registry?, _ body: @Sendable (Value) -> Void
  ) -> (calls: Int, isComplete: Bool) {
    let first = next
    next = min(entries.count, first + limit)
    let isComplete = next == entries.count
    let called = entries[first..<next]
    var released = (ContiguousArray<Entry>(), ContiguousArray<Entry>())
    if isComplete {
      swap(&released.0, &entries)
      swap(&released.1, &others)
    }
    defer { withExtendedLifetime(released) {} }
    var invocation = Invocation(ThreadCallStack.current)
    for entry in called {
      guard !entry.isBlocked else {
        _ = invocation.isLive(.passUnretained(entry))  // Finds out whether it is dead.
        continue
      }
      invocation.passForMailbox(.passUnretained(entry)) { head in
        let call = MeasuredCall(of: head)
        Entry.value(head, as: Value.self).pointee.pass(to: body)
        call.end()
      }
    }
    for entry in released.1 { _ = invocation.isLive(.passUnretained(entry)) }  // Likewise.
    invocation.end()
    if invocation.sawDead { registry?.pruneAfterInvocation() }
    return (called.count, isComplete)
  }
}

extension Entry {
  /// Whether it is registered and not blocked, and its target, which is not retained, not known to
  /// be dead.
  fileprivate var mayBeCalled: Bool {
    // Acquiring: pairs with the thread that removed the entry.
    EntryHead.isCallable(head.pointee.state.load(ordering: .acquiring)) && !isKnownDead
  }
}
