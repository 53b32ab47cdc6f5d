internal import DequeModule
internal import NIOConcurrencyHelpers

/// The newest keys of publishers, with the ids of their events, so that what is published again is
/// recognised.
///
/// A key belongs to its topic. While an event is being published, further publications with its key
/// wait for the result.
final class PublicationKeys: Sendable {
  struct Name: Hashable, Sendable {
    let topic: Topic
    let key: PublicationKey
  }

  private enum Entry {
    /// The event is being published; those who wait are resumed at the end.
    case pending([CheckedContinuation<Void, Never>])
    case published(EventID)
  }

  private struct State {
    var entries: [Name: Entry] = [:]
    /// The names of published events, the oldest first.
    var order: Deque<Name> = []

    mutating func add(_ name: Name, _ id: EventID, limit: Int) {
      // It is there if a store has it twice, because the server remembered fewer keys in between.
      if entries.updateValue(.published(id), forKey: name) != nil,
        let older = order.firstIndex(of: name)
      {
        order.remove(at: older)
      }
      order.append(name)
      while order.count > limit, let oldest = order.popFirst() { entries[oldest] = nil }
    }

    mutating func removeAll(after last: EventID) {
      for name in order {
        if case .published(let id) = entries[name], id > last { entries[name] = nil }
      }
      let remaining = entries
      order.removeAll { remaining[$0] == nil }
    }

    /// - Precondition: the event is being published.
    mutating func wait(for name: Name, _ continuation: CheckedContinuation<Void, Never>) {
      // Removed, so that the array is not copied: very many may wait.
      guard case .pending(var waiting) = entries.removeValue(forKey: name) else {
        preconditionFailure("an event for which a publication waits is not being published")
      }
      waiting.append(continuation)
      entries[name] = .pending(waiting)
    }
  }

  let limit: Int
  private let state = NIOLockedValueBox(State())

  /// - Parameter limit: how many keys it remembers, in addition to those of events that are being
  ///   published.
  init(limit: Int) {
    self.limit = limit
  }
}

extension PublicationKeys {
  /// Begins to publish events, all at the same time. Waits while one of them is being published.
  ///
  /// - Parameter names: without duplicates.
  /// - Returns: the ids of those that were published before. The caller publishes the others, and
  ///   then calls ``end(_:)``.
  func begin(_ names: [Name]) async -> [Name: EventID] {
    while true {
      var published: [Name: EventID]?
      await withCheckedContinuation { continuation in
        published = state.withLockedValue { Self.begin(names, &$0, continuation) }
        if published != nil { continuation.resume() }
      }
      if let published { return published }
    }
  }

  /// - Returns: `nil` if `continuation` waits for one of them.
  private static func begin(
    _ names: [Name], _ state: inout State, _ continuation: CheckedContinuation<Void, Never>
  ) -> [Name: EventID]? {
    var published: [Name: EventID] = [:]
    for name in names {
      switch state.entries[name] {
      case .pending:
        state.wait(for: name, continuation)
        return nil
      case .published(let id): published[name] = id
      case nil: break
      }
    }
    for name in names where published[name] == nil { state.entries[name] = .pending([]) }
    return published
  }

  /// Ends what ``begin(_:)`` has begun.
  ///
  /// - Parameter names: the ids of the events; `nil`: the event was not published, or that is
  ///   unknown.
  func end(_ names: [(Name, EventID?)]) {
    let waiting = state.withLockedValue { state in
      names.flatMap { name, id in
        guard case .pending(let waiting) = state.entries[name] else {
          return [] as [CheckedContinuation<Void, Never>]
        }
        state.entries[name] = nil
        if let id { state.add(name, id, limit: limit) }
        return waiting
      }
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Adds a key of an event from before the start of the server.
  func restore(_ name: Name, _ id: EventID) {
    state.withLockedValue { $0.add(name, id, limit: limit) }
  }

  /// Forgets the keys of events after `id`, because ids begin again there.
  func forget(after id: EventID) {
    state.withLockedValue { $0.removeAll(after: id) }
  }
}
