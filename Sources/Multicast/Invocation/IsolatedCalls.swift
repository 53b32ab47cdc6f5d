// Invocations that a hub makes on an actor.
//
// An invocation with an isolated closure becomes one element of the mailbox that the hub has for
// the actor. The element holds the entries that were registered when the invocation began. Its
// delivery, on the actor, calls those that are still active, one after the other. So an invocation
// costs its sender one allocation and an append, however the actor is busy, and a burst wakes the
// actor once.

internal import Synchronization

/// The mailboxes of one hub for invocations on actors, made when they are first needed.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
struct IsolatedCalls: ~Copyable, Sendable {

  /// The mailboxes, by actor.
  private final class Table: @unchecked Sendable {
    // Sendable: `lanes` is used only inside `lock`.

    /// Guards `lanes`. Nothing is destroyed inside.
    let lock = Lock()
    /// Each with an entry of its own, which stands for the hub.
    var lanes: [ObjectIdentifier: (home: WeakActor, entry: Entry)] = [:]
    /// The number of lanes at which those of actors that are gone are removed.
    var limit = 16
  }

  private let table = LazyReference<Table>()

  init() {}
}

extension IsolatedCalls {
  /// Appends `call` to what waits for `home`.
  borrowing func enqueue(_ call: Envelope, on home: any Actor) {
    let entry = lane(of: home)
    entry.mailbox?.enqueue(call, for: .passUnretained(entry))
  }

  /// The entries whose mailboxes a flush of the hub includes.
  var lanes: [Entry] {
    guard let table = table.current else { return [] }
    return table.lock.withLock { table.lanes.values.map(\.entry) }
  }

  private borrowing func lane(of home: any Actor) -> Entry {
    let table = table.current(or: Table())
    let identifier = ObjectIdentifier(home)
    let existing = table.lock.withLock { table.lanes[identifier] }
    if let existing, !existing.home.isStale { return existing.entry }
    let caller = IsolatedCaller()
    let mailbox = ActorMailbox(
      on: home, limit: .max, whenFull: .dropNewest, whenExhausted: { _ in caller.forget() })
    mailbox.receiver = .passUnretained(caller)  // Kept by the entry.
    mailbox.progress = caller.progress
    let entry = Entry.make(caller, ownership: .strong, mailbox: mailbox)
    let new = (home: WeakActor(home), entry: entry)
    let (concurrent, replaced) = table.lock.withLock { () -> (Entry?, [Any]) in
      if let concurrent = table.lanes[identifier], concurrent.entry !== existing?.entry {
        return (concurrent.entry, [])
      }
      let replaced = table.lanes.updateValue(new, forKey: identifier)
      return (nil, replaced.map { [$0] } ?? [])
    }
    withExtendedLifetime(replaced) {}  // Destroyed here, outside the lock.
    removeDead(table)
    return concurrent ?? new.entry
  }

  /// Removes the lanes of actors that are gone, if there are too many lanes.
  private borrowing func removeDead(_ table: Table) {
    let lanes = table.lock.withLock { table.lanes.count > table.limit ? table.lanes : [:] }
    guard !lanes.isEmpty else { return }
    let dead = lanes.filter { $0.value.home.isDead }
    let removed = table.lock.withLock {
      let removed = dead.compactMap { identifier, lane -> (home: WeakActor, entry: Entry)? in
        guard table.lanes[identifier]?.entry === lane.entry else { return nil }
        return table.lanes.removeValue(forKey: identifier)
      }
      table.limit = max(16, 2 * table.lanes.count)
      return removed
    }
    withExtendedLifetime((lanes, removed)) {}  // Destroyed here, outside the lock.
  }
}
