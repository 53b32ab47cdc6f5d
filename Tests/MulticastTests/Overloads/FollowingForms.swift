import Multicast

/// The overloads of an `EventHub` that start at a position.
struct FollowingEvents: FollowingHub {
  typealias Element = PositionedEvent<Int>

  let hub: EventHub<Int>

  init() {
    hub = EventHub(retention: .last(1))
  }

  static func number(_ element: Element) -> Int? {
    element.event
  }

  func send(_ number: Int) { hub.send(number) }
  func finish(throwing error: any Error) { hub.finish(throwing: error) }
  func flush() async { await hub.flush() }
  var snapshot: HubSnapshot { hub.snapshot }
  func measureHandlers() { hub.measureHandlers() }

  func subscribe(
    _ form: FollowingForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    _ home: HandlerHome<Element>
  ) -> EventSubscription? {
    switch form {
    case .plain:
      hub.subscribe(from: .retained, label: "form") { t.receive(nil, $0) }
    case .sender:
      hub.subscribe(from: .retained, on: .sender, label: "form") { t.receive(nil, $0) }
    case .main:
      hub.subscribe(from: .retained, on: .main, label: "form") {
        MainActor.preconditionIsolated(); t.receive(nil, $0)
      }
    case .queue:
      hub.subscribe(from: .retained, on: t.queue, label: "form") { t.receive(nil, $0) }
    case .owner:
      hub.subscribe(with: owner, from: .retained, label: "form") { t.receive(nil, $1) }
    case .actorOwner:
      hub.subscribe(with: home, from: .retained, label: "form") {
        (home: isolated HandlerHome<Element>, element: Element) in home.take(element)
      }
    default:
      nil
    }
  }

  func subscribe(
    _ form: FollowingForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    on home: isolated HandlerHome<Element>
  ) -> EventSubscription {
    switch form {
    case .inActor:
      hub.subscribe(from: .retained, label: "form") { home.take($0) }
    case .inActorOwner:
      hub.subscribe(with: owner, from: .retained, label: "form") { home.takeOwner($0, $1) }
    case .method:
      hub.subscribe(from: .retained, label: "form", home.take)
    case .methodOwner:
      hub.subscribe(with: owner, from: .retained, label: "form", home.takeOwner)
    default:
      fatalError("\(form) belongs to no actor")
    }
  }
}

/// The overloads of a `TopicHub` that start at a position, for topics.
struct FollowingTopics: FollowingHub {
  typealias Element = PositionedTopicEvent<Int>

  let hub: TopicHub<String, Int>

  init() {
    hub = TopicHub(retention: .last(1))
  }

  static func number(_ element: Element) -> Int? {
    if case .event(let event, at: _) = element { event.event } else { nil }
  }

  func send(_ number: Int) { hub.send(number, to: "a") }
  func finish(throwing error: any Error) { hub.finish(throwing: error) }
  func flush() async { await hub.flush() }
  var snapshot: HubSnapshot { hub.snapshot }
  func measureHandlers() { hub.measureHandlers() }

  func subscribe(
    _ form: FollowingForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    _ home: HandlerHome<Element>
  ) -> EventSubscription? {
    switch form {
    case .plain:
      hub.subscribe(to: ["a"], from: .retained, label: "form") { t.receive(nil, $0) }
    case .sender:
      hub.subscribe(to: ["a"], from: .retained, on: .sender, label: "form") { t.receive(nil, $0) }
    case .main:
      hub.subscribe(to: ["a"], from: .retained, on: .main, label: "form") {
        MainActor.preconditionIsolated(); t.receive(nil, $0)
      }
    case .queue:
      hub.subscribe(to: ["a"], from: .retained, on: t.queue, label: "form") { t.receive(nil, $0) }
    case .owner:
      hub.subscribe(to: ["a"], with: owner, from: .retained, label: "form") { t.receive(nil, $1) }
    case .actorOwner:
      hub.subscribe(to: ["a"], with: home, from: .retained, label: "form") {
        (home: isolated HandlerHome<Element>, element: Element) in home.take(element)
      }
    default:
      nil
    }
  }

  func subscribe(
    _ form: FollowingForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    on home: isolated HandlerHome<Element>
  ) -> EventSubscription {
    switch form {
    case .inActor:
      hub.subscribe(to: ["a"], from: .retained, label: "form") { home.take($0) }
    case .inActorOwner:
      hub.subscribe(to: ["a"], with: owner, from: .retained, label: "form") {
        home.takeOwner($0, $1)
      }
    case .method:
      hub.subscribe(to: ["a"], from: .retained, label: "form", home.take)
    case .methodOwner:
      hub.subscribe(to: ["a"], with: owner, from: .retained, label: "form", home.takeOwner)
    default:
      fatalError("\(form) belongs to no actor")
    }
  }
}

/// The overloads of a `TopicHub` that start at a position, for patterns.
struct FollowingPatterns: FollowingHub {
  typealias Element = PositionedTopicEvent<Int>

  let hub: TopicHub<String, Int>

  init() {
    hub = TopicHub(retention: .last(1))
  }

  static func number(_ element: Element) -> Int? {
    if case .event(let event, at: _) = element { event.event } else { nil }
  }

  func send(_ number: Int) { hub.send(number, to: "a") }
  func finish(throwing error: any Error) { hub.finish(throwing: error) }
  func flush() async { await hub.flush() }
  var snapshot: HubSnapshot { hub.snapshot }
  func measureHandlers() { hub.measureHandlers() }

  func subscribe(
    _ form: FollowingForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    _ home: HandlerHome<Element>
  ) -> EventSubscription? {
    switch form {
    case .plain:
      hub.subscribe(matching: ["a", "*"], from: .retained, label: "form") { t.receive(nil, $0) }
    case .sender:
      hub.subscribe(matching: ["a", "*"], from: .retained, on: .sender, label: "form") {
        t.receive(nil, $0)
      }
    case .main:
      hub.subscribe(matching: ["a", "*"], from: .retained, on: .main, label: "form") {
        MainActor.preconditionIsolated(); t.receive(nil, $0)
      }
    case .queue:
      hub.subscribe(matching: ["a", "*"], from: .retained, on: t.queue, label: "form") {
        t.receive(nil, $0)
      }
    case .owner:
      hub.subscribe(matching: ["a", "*"], with: owner, from: .retained, label: "form") {
        t.receive(nil, $1)
      }
    case .actorOwner:
      hub.subscribe(matching: ["a", "*"], with: home, from: .retained, label: "form") {
        (home: isolated HandlerHome<Element>, element: Element) in home.take(element)
      }
    default:
      nil
    }
  }

  func subscribe(
    _ form: FollowingForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    on home: isolated HandlerHome<Element>
  ) -> EventSubscription {
    switch form {
    case .inActor:
      hub.subscribe(matching: ["a", "*"], from: .retained, label: "form") { home.take($0) }
    case .inActorOwner:
      hub.subscribe(matching: ["a", "*"], with: owner, from: .retained, label: "form") {
        home.takeOwner($0, $1)
      }
    case .method:
      hub.subscribe(matching: ["a", "*"], from: .retained, label: "form", home.take)
    case .methodOwner:
      hub.subscribe(
        matching: ["a", "*"], with: owner, from: .retained, label: "form", home.takeOwner)
    default:
      fatalError("\(form) belongs to no actor")
    }
  }
}

/// The overloads of a `StateHub`, whose state is the newest number.
struct FollowingState: FollowingHub {
  typealias Element = StateUpdate<Int, Int>

  let hub: StateHub<Int, Int>

  init() {
    hub = StateHub(0) { $0 = $1 }
  }

  static func number(_ element: Element) -> Int? {
    switch element {
    case .snapshot(let number), .change(let number): number
    }
  }

  func send(_ number: Int) { hub.apply(number) }
  func finish(throwing error: any Error) { hub.finish(throwing: error) }
  func flush() async { await hub.flush() }
  var snapshot: HubSnapshot { hub.snapshot }
  func measureHandlers() { hub.measureHandlers() }

  func subscribe(
    _ form: FollowingForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    _ home: HandlerHome<Element>
  ) -> EventSubscription? {
    switch form {
    case .plain:
      hub.subscribe(label: "form") { t.receive(nil, $0) }
    case .sender:
      hub.subscribe(on: .sender, label: "form") { t.receive(nil, $0) }
    case .main:
      hub.subscribe(on: .main, label: "form") {
        MainActor.preconditionIsolated(); t.receive(nil, $0)
      }
    case .queue:
      hub.subscribe(on: t.queue, label: "form") { t.receive(nil, $0) }
    case .owner:
      hub.subscribe(with: owner, label: "form") { t.receive(nil, $1) }
    case .actorOwner:
      hub.subscribe(with: home, label: "form") {
        (home: isolated HandlerHome<Element>, element: Element) in home.take(element)
      }
    default:
      nil
    }
  }

  func subscribe(
    _ form: FollowingForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    on home: isolated HandlerHome<Element>
  ) -> EventSubscription {
    switch form {
    case .inActor:
      hub.subscribe(label: "form") { home.take($0) }
    case .inActorOwner:
      hub.subscribe(with: owner, label: "form") { home.takeOwner($0, $1) }
    case .method:
      hub.subscribe(label: "form", home.take)
    case .methodOwner:
      hub.subscribe(with: owner, label: "form", home.takeOwner)
    default:
      fatalError("\(form) belongs to no actor")
    }
  }
}
