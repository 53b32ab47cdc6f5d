import Dispatch
import Multicast
import MulticastTestSupport
import Testing

/// One overload of `subscribe` whose handler reads what a hub keeps, and the code that calls it.
///
/// As ``HandlerForm``, without options, buffers and asynchronous handlers.
enum FollowingForm: String, CaseIterable, CustomTestStringConvertible {
  case plain, sender, main, queue, owner, actorOwner
  case inActor, inActorOwner, method, methodOwner

  var testDescription: String { rawValue }

  /// Whether the subscription ends with an owner.
  var hasOwner: Bool { rawValue.lowercased().contains("owner") }

  /// Where a snapshot says that the handler is called.
  func place(_ home: String) -> String {
    switch self {
    case .plain, .sender, .owner: "sender"
    case .queue: "queue overloads"
    case .main: "actor MainActor"
    default: "actor \(home)"
    }
  }

  /// Calls `subscribe` of `hub`.
  func subscribe<Hub: FollowingHub>(
    to hub: Hub, _ terms: HandlerTerms<Hub.Element>, _ owner: HandlerOwner,
    _ home: HandlerHome<Hub.Element>
  ) async -> EventSubscription {
    if let subscription = hub.subscribe(self, terms, owner, home) { return subscription }
    return await hub.subscribe(self, terms, owner, on: home)
  }
}

/// A hub that keeps the newest number, and whose `subscribe` has each of the forms.
protocol FollowingHub: Sendable {
  associatedtype Element: Sendable

  init()

  /// The number that `element` carries, if it carries one.
  static func number(_ element: Element) -> Int?

  func send(_ number: Int)
  func finish(throwing error: any Error)
  func flush() async
  var snapshot: HubSnapshot { get }
  func measureHandlers()

  /// Calls the overload in code that belongs to no actor; `nil` for a form of an actor.
  func subscribe(
    _ form: FollowingForm, _ terms: HandlerTerms<Element>, _ owner: HandlerOwner,
    _ home: HandlerHome<Element>
  ) -> EventSubscription?

  /// Calls the overload in code of an actor.
  func subscribe(
    _ form: FollowingForm, _ terms: HandlerTerms<Element>, _ owner: HandlerOwner,
    on home: isolated HandlerHome<Element>
  ) -> EventSubscription
}

/// The overloads of `subscribe` that keep the same elements.
enum FollowingFamily: CaseIterable {
  case eventHub, topics, patterns, state

  var type: any FollowingHub.Type {
    switch self {
    case .eventHub: FollowingEvents.self
    case .topics: FollowingTopics.self
    case .patterns: FollowingPatterns.self
    case .state: FollowingState.self
    }
  }
}
