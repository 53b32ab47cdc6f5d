import Dispatch
import Multicast
import MulticastTestSupport
import Testing

/// A way to receive the events of a hub with their positions.
enum FollowerKind: CaseIterable, Sendable {
  case sender, serialQueue, concurrentQueue, main, actor, owner, ownerActor, sequence, batches

  static let handlers = allCases.filter { $0 != .sequence && $0 != .batches }
}

/// What one subscriber received.
final class Follower<Event: Sendable>: Sendable {
  typealias Element = PositionedEvent<Event>

  private let content = Guarded<[Element]>([])

  var elements: [Element] { content.withLock { $0 } }
  var events: [Event] { elements.compactMap(\.event) }

  /// The ranges that were missed.
  var missed: [MissedEvents] {
    elements.compactMap { if case .missed(let range) = $0 { range } else { nil } }
  }

  func receive(_ element: Element) { content.withLock { $0.append(element) } }

  /// Whether the elements are every position after `start` up to `last` exactly once, in order,
  /// each as an event or in a missing range.
  func covers(after start: UInt64, through last: UInt64) -> Bool {
    var number = start
    for element in elements {
      switch element {
      case .event(_, let position):
        guard position.number == number + 1 else { return false }
        number += 1
      case .missed(let range):
        guard range.after.number == number, range.through.number > number else { return false }
        number = range.through.number
      }
    }
    return number == last
  }
}

/// The owner of a subscription.
final class FollowingOwner: Sendable {}

actor FollowingActor {
  private(set) var count = 0

  func add() { count += 1 }

  func follow<Event>(
    _ hub: EventHub<Event>, _ start: SubscriptionStart, _ filter: (@Sendable (Event) -> Bool)?,
    _ handler: @escaping @Sendable (PositionedEvent<Event>) -> Void
  ) -> EventSubscription {
    hub.subscribe(from: start, where: filter) { element in
      self.assertIsolated()
      handler(element)
    }
  }
}

/// A subscription, and what keeps its handler's place alive.
struct Following: Sendable {
  let subscription: EventSubscription?
  let owner: (any AnyObject & Sendable)?
  /// The task that iterates over a sequence.
  let task: Task<Void, Never>?

  func cancel() {
    subscription?.cancel()
    task?.cancel()
  }
}

extension EventHub {
  /// Adds a subscriber of this kind.
  func follow(
    _ kind: FollowerKind, from start: SubscriptionStart,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    _ handler: @escaping @Sendable (PositionedEvent<Event>) -> Void
  ) async -> Following {
    var subscription: EventSubscription?
    var owner: (any AnyObject & Sendable)?
    var task: Task<Void, Never>?
    switch kind {
    case .sender:
      subscription = subscribe(from: start, on: .sender, where: filter, handler)
    case .serialQueue:
      let queue = DispatchQueue(label: "follower")
      subscription = subscribe(from: start, on: queue, where: filter, handler)
    case .concurrentQueue:
      subscription = subscribe(from: start, on: .global(), where: filter, handler)
    case .main:
      subscription = subscribe(from: start, on: .main, where: filter) { element in
        MainActor.assertIsolated()
        handler(element)
      }
    case .actor:
      let actor = FollowingActor()
      owner = actor
      subscription = await actor.follow(self, start, filter, handler)
    case .owner:
      let object = FollowingOwner()
      owner = object
      subscription = subscribe(with: object, from: start, where: filter, isolation: nil) {
        _, element in
        handler(element)
      }
    case .ownerActor:
      let actor = FollowingActor()
      owner = actor
      subscription = subscribe(with: actor, from: start, where: filter) { actor, element in
        actor.add()
        handler(element)
      }
    case .sequence:
      let sequence = events(from: start, where: filter)
      task = Task.detached { for await element in sequence { handler(element) } }
    case .batches:
      let batches = events(from: start, where: filter).batches(upTo: 3)
      task = Task.detached {
        for await batch in batches {
          #expect(batch.events.count <= 3)
          for element in batch.elements { handler(element) }
        }
      }
    }
    return Following(subscription: subscription, owner: owner, task: task)
  }
}

extension PositionedBatch {
  /// The same as single elements.
  var elements: [PositionedEvent<Event>] {
    (missed.map { [.missed($0)] } ?? [])
      + events.indices.map { .event(events[$0], at: position(at: $0)) }
  }
}
