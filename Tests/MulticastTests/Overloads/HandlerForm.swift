import Dispatch
import Multicast
import MulticastTestSupport
import Testing

/// One overload of `subscribe` that takes a handler, and the code that calls it.
///
/// `Method`: a method of the actor that calls `subscribe`, passed as a function.
enum HandlerForm: String, CaseIterable, CustomTestStringConvertible {
  case plain, async, sender, main, queue
  case owner, ownerAsync, ownerSender, ownerMain, ownerQueue, actorOwner, actorOwnerAsync
  case own, ownAsync, ownQueue
  case inActor, inActorAsync, inActorOwner, inActorOwnerAsync, inActorOwn, inActorOwnAsync
  case method, methodAsync, methodOwner, methodOwnerAsync, methodOwn, methodOwnAsync

  var testDescription: String { rawValue }

  /// Whether senders call the handler.
  var isInline: Bool {
    switch self {
    case .plain, .sender, .owner, .ownerSender, .own: true
    default: false
    }
  }

  /// Whether the subscription ends with an owner.
  var hasOwner: Bool { rawValue.lowercased().contains("owner") }

  /// Whether the owner is the actor.
  var isOwnedByActor: Bool { self == .actorOwner || self == .actorOwnerAsync }

  /// What a snapshot says of the subscriber.
  var kind: String { rawValue.lowercased().hasSuffix("async") ? "async handler" : "handler" }

  /// Where a snapshot says that the handler is called.
  func place(_ home: String) -> String {
    switch self {
    case .plain, .sender, .owner, .ownerSender, .own: "sender"
    case .queue, .ownerQueue, .ownQueue: "queue overloads"
    case .main, .ownerMain: "actor MainActor"
    case .async, .ownerAsync, .ownAsync: "task"
    default: "actor \(home)"
    }
  }

  /// Calls `subscribe` of `hub`.
  func subscribe<Hub: HandlerHub>(
    to hub: Hub, _ terms: HandlerTerms<Hub.Element>, _ owner: HandlerOwner,
    _ home: HandlerHome<Hub.Element>
  ) async -> EventSubscription {
    if let subscription = hub.subscribe(self, terms, owner, home) { return subscription }
    return await hub.subscribe(self, terms, owner, on: home)
  }
}

/// The object with which a subscription ends.
final class HandlerOwner: Sendable {}

/// What a subscription asks for, whatever the overload.
struct HandlerTerms<Event: Sendable>: Sendable {
  var buffering = BufferingPolicy<Event>.unbounded
  var filter: (@Sendable (Event) -> Bool)?
  var options: [SubscriberOption<Event>] = []
  var concurrency = 1
  /// Called by each handler, where that is called.
  let receive: @Sendable (EventSubscription?, Event) -> Void

  let queue = DispatchQueue(label: "overloads")

  init(_ receive: @escaping @Sendable (EventSubscription?, Event) -> Void) {
    self.receive = receive
  }
}

/// An actor that subscribes, in code of its own or with its methods, and is an owner.
actor HandlerHome<Event: Sendable> {
  let terms: HandlerTerms<Event>

  init(_ terms: HandlerTerms<Event>) {
    self.terms = terms
  }

  func take(_ event: Event) { takeOwn(nil, event) }

  func takeOwner(_ owner: HandlerOwner, _ event: Event) { takeOwn(nil, event) }

  func takeOwn(_ subscription: EventSubscription, _ event: Event) {
    takeOwn(.some(subscription), event)
  }

  private func takeOwn(_ subscription: EventSubscription?, _ event: Event) {
    preconditionIsolated()
    terms.receive(subscription, event)
  }
}

/// A hub whose `subscribe` has each of the forms.
protocol HandlerHub: Sendable {
  associatedtype Element: Sendable & Equatable

  init(replay: Int)

  /// The number that `element` carries.
  static func number(_ element: Element) -> Int

  func send(_ number: Int)
  func finish(throwing error: any Error)
  func flush() async
  var snapshot: HubSnapshot { get }
  func measureHandlers()

  /// Calls the overload in code that belongs to no actor; `nil` for a form of an actor.
  func subscribe(
    _ form: HandlerForm, _ terms: HandlerTerms<Element>, _ owner: HandlerOwner,
    _ home: HandlerHome<Element>
  ) -> EventSubscription?

  /// Calls the overload in code of an actor.
  func subscribe(
    _ form: HandlerForm, _ terms: HandlerTerms<Element>, _ owner: HandlerOwner,
    on home: isolated HandlerHome<Element>
  ) -> EventSubscription
}
