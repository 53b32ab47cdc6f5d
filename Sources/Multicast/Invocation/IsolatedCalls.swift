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
  /// An actor, and an entry with the mailbox for it, which stands for the hub.
  private typealias ActorEntry = (home: WeakActor, entry: Entry)

  private final class Table: @unchecked Sendable {
    // Sendable: the variables are used only inside `lock`.

    /// Guards the variables. Nothing is destroyed inside.
    let lock = Lock()
    var entries: [ObjectIdentifier: ActorEntry] = [:]
    /// The number of entries at which those of actors that are gone are removed.
    var limit = 16
  }

  private let table = LazyReference<Table>()

  init() {}
}

extension IsolatedCalls {
  /// Appends `call` to what waits for `home`.
  borrowing func enqueue(_ call: Envelope, on home: any Actor) {
    let entry = entry(for: home)
    entry.mailbox?.enqueue(call, for: .passUnretained(entry))
  }

  /// The entries whose mailboxes a flush of the hub includes.
  var entries: [Entry] {
    guard let table = table.current else { return [] }
    return table.lock.withLock { table.entries.values.map(\.entry) }
  }

  /// The entry with the mailbox for `home`.
  private borrowing func entry(for home: any Actor) -> Entry {
    let table = table.current(or: Table())
    let identifier = ObjectIdentifier(home)
    let existing = table.lock.withLock { table.entries[identifier] }
    if let existing, !existing.home.isStale { return existing.entry }
    let caller = IsolatedCaller()
    let mailbox = ActorMailbox(
      on: home, limit: .max, whenFull: .dropNewest, whenExhausted: { _ in caller.forget() })
    mailbox.receiver = .passUnretained(caller)  // Kept by the entry.
    mailbox.progress = caller.progress
    let entry = Entry.make(caller, ownership: .strong, mailbox: mailbox)
    let new = (home: WeakActor(home), entry: entry)
    let (concurrent, replaced) = table.lock.withLock { () -> (Entry?, ActorEntry?) in
      if let concurrent = table.entries[identifier], concurrent.entry !== existing?.entry {
        return (concurrent.entry, nil)
      }
      return (nil, table.entries.updateValue(new, forKey: identifier))
    }
    withExtendedLifetime(replaced) {}  // Destroyed here, outside the lock.
    removeDead(table)
    return concurrent ?? new.entry
  }

  /// Removes the entries of actors that are gone, if there are too many entries.
  private borrowing func removeDead(_ table: Table) {
    let entries = table.lock.withLock { table.entries.count > table.limit ? table.entries : [:] }
    guard !entries.isEmpty else { return }
    let dead = entries.filter { $0.value.home.isDead }
    let removed = table.lock.withLock {
      let removed = dead.compactMap { identifier, found -> ActorEntry? in
        guard table.entries[identifier]?.entry === found.entry else { return nil }
        return table.entries.removeValue(forKey: identifier)
      }
      table.limit = max(16, 2 * table.entries.count)
      return removed
    }
    withExtendedLifetime((entries, removed)) {}  // Destroyed here, outside the lock.
  }
}
