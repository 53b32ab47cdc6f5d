import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

/// A place of a handler, for topics by their names or by patterns.
struct TopicHandlerKind: CustomTestStringConvertible, Sendable {
  let place: FollowerKind
  var hasPatterns = false

  static let all = [false, true].flatMap { hasPatterns in
    FollowerKind.handlers
      .map { TopicHandlerKind(place: $0, hasPatterns: hasPatterns) }
  }

  /// Whether the thread that sends calls the handler.
  var isAtOnce: Bool { place == .sender || place == .owner }

  var testDescription: String { "\(place), \(hasPatterns ? "patterns" : "names")" }
}

/// What one handler received.
final class TopicElements: Sendable {
  private let content = Guarded<[PositionedTopicEvent<Int>]>([])

  var elements: [PositionedTopicEvent<Int>] { content.withLock { $0 } }
  var count: Int { content.withLock(\.count) }
  var numbers: [UInt64] {
    elements.compactMap { if case .event(_, let position) = $0 { position.number } else { nil } }
  }

  func receive(_ element: PositionedTopicEvent<Int>) { content.withLock { $0.append(element) } }
}

/// A handler of topics, and what keeps its place alive.
struct TopicFollowing: Sendable {
  let subscription: EventSubscription
  private let owner: (any AnyObject & Sendable)?

  init(_ subscription: EventSubscription, _ owner: (any AnyObject & Sendable)?) {
    self.subscription = subscription
    self.owner = owner
  }

  func cancel() { subscription.cancel() }
}

extension PositionedTopicEvent {
  /// The event without its topic; `nil` for a missing range.
  var payload: Event? {
    if case .event(let event, _) = self { event.event } else { nil }
  }
}

extension FollowingActor {
  func follow(
    _ hub: TopicHub<String, Int>, _ topics: [String], hasPatterns: Bool,
    _ start: SubscriptionStart, _ handler: @escaping @Sendable (PositionedTopicEvent<Int>) -> Void
  ) -> EventSubscription {
    let isolated: @Sendable (PositionedTopicEvent<Int>) -> Void = { element in
      self.assertIsolated()
      handler(element)
    }
    if hasPatterns {
      return hub.subscribe(matching: topics.map { TopicPattern($0)! }, from: start) {
        isolated($0)
      }
    }
    return hub.subscribe(to: topics, from: start) { isolated($0) }
  }
}

extension TopicHub<String, Int> {
  /// Adds a handler of this kind.
  func follow(
    _ kind: TopicHandlerKind, _ topics: [String], from start: SubscriptionStart,
    _ handler: @escaping @Sendable (PositionedTopicEvent<Int>) -> Void
  ) async -> TopicFollowing {
    let onMain: @MainActor @Sendable (PositionedTopicEvent<Int>) -> Void = { element in
      MainActor.assertIsolated()
      handler(element)
    }
    let queue = DispatchQueue(label: "follower")
    let patterns = topics.map { TopicPattern($0)! }  // These names are patterns.
    switch (kind.place, kind.hasPatterns) {
    case (.sender, false):
      return .init(subscribe(to: topics, from: start, on: .sender, handler), nil)
    case (.sender, true):
      return .init(subscribe(matching: patterns, from: start, on: .sender, handler), nil)
    case (.serialQueue, false):
      return .init(subscribe(to: topics, from: start, on: queue, handler), nil)
    case (.serialQueue, true):
      return .init(subscribe(matching: patterns, from: start, on: queue, handler), nil)
    case (.concurrentQueue, false):
      return .init(subscribe(to: topics, from: start, on: .global(), handler), nil)
    case (.concurrentQueue, true):
      return .init(subscribe(matching: patterns, from: start, on: .global(), handler), nil)
    case (.main, false):
      return .init(subscribe(to: topics, from: start, on: .main, onMain), nil)
    case (.main, true):
      return .init(subscribe(matching: patterns, from: start, on: .main, onMain), nil)
    case (.actor, let hasPatterns):
      let actor = FollowingActor()
      let subscription = await actor.follow(
        self, topics, hasPatterns: hasPatterns, start, handler)
      return .init(subscription, actor)
    case (.owner, let hasPatterns):
      let owner = FollowingOwner()
      let subscription =
        hasPatterns
        ? subscribe(matching: patterns, with: owner, from: start, isolation: nil) { handler($1) }
        : subscribe(to: topics, with: owner, from: start, isolation: nil) { handler($1) }
      return .init(subscription, owner)
    case (.ownerActor, let hasPatterns):
      let owner = FollowingActor()
      let subscription =
        hasPatterns
        ? subscribe(matching: patterns, with: owner, from: start) { owner, element in
          owner.add()
          handler(element)
        }
        : subscribe(to: topics, with: owner, from: start) { owner, element in
          owner.add()
          handler(element)
        }
      return .init(subscription, owner)
    case (.sequence, _), (.batches, _):
      fatalError("not a handler")
    }
  }
}
