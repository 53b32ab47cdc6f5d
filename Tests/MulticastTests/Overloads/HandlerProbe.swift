import Multicast
import MulticastTestSupport

/// The overloads of `subscribe` that take the same events.
enum HandlerFamily: CaseIterable {
  case eventHub, topic, pattern, patterns

  var type: any HandlerHub.Type {
    switch self {
    case .eventHub: EventHubForms.self
    case .topic: TopicForms.self
    case .pattern: PatternForms.self
    case .patterns: PatternsForms.self
    }
  }
}

/// A subscription that one overload has made, and everything that it has reported.
final class HandlerProbe<Hub: HandlerHub> {
  typealias End = (reason: SubscriptionEnd, failure: (any Error)?)

  let hub: Hub
  let form: HandlerForm
  let journal = Journal()
  private let reported = Guarded<[End]>([])
  private let held = Holder<EventSubscription>(nil)
  private var owner: HandlerOwner? = HandlerOwner()
  private var home: HandlerHome<Hub.Element>?

  init(_ form: HandlerForm, replay: Int = 0) {
    self.form = form
    hub = Hub(replay: replay)
  }

  /// The handle that `subscribe` has returned.
  var subscription: EventSubscription? { held.value }

  /// What was reported at the end of the subscription.
  var ends: [End] { reported.withLock { $0 } }

  /// Subscribes, and reports the end.
  ///
  /// - Parameters:
  ///   - change: changes what the subscription asks for.
  ///   - handler: called with each number, and a handle of the subscription if there is one yet.
  func subscribe(
    _ change: (inout HandlerTerms<Hub.Element>) -> Void = { _ in },
    _ handler: @escaping @Sendable (EventSubscription?, Int) -> Void = { _, _ in }
  ) async {
    var terms = HandlerTerms<Hub.Element> { [journal, weak held] subscription, element in
      let number = Hub.number(element)
      journal.record(number)
      handler(subscription ?? held?.value, number)
    }
    terms.options = [
      .onEnd { [reported] reason, failure in reported.withLock { $0.append((reason, failure)) } }
    ]
    change(&terms)
    let home = HandlerHome(terms)
    self.home = home
    held.value = await form.subscribe(to: hub, terms, owner!, home)
  }

  func send(_ numbers: Int...) {
    for number in numbers { hub.send(number) }
  }

  /// Releases the handle.
  func releaseHandle() { held.value = nil }

  /// Releases the object with which the subscription ends, if there is one.
  func releaseOwner() {
    owner = nil
    home = nil
  }
}
