import Multicast

/// The overloads of a `TopicHub` for a pattern.
struct PatternForms: HandlerHub {
  typealias Element = TopicEvent<String, Int>

  let hub: TopicHub<String, Int>

  init(replay: Int) {
    hub = TopicHub()
  }

  static func number(_ element: Element) -> Int { element.event }

  func send(_ number: Int) { hub.send(number, to: "a") }
  func finish(throwing error: any Error) { hub.finish(throwing: error) }
  func flush() async { await hub.flush() }
  var snapshot: HubSnapshot { hub.snapshot }
  func measureHandlers() { hub.measureHandlers() }

  func subscribe(
    _ form: HandlerForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    _ home: HandlerHome<Element>
  ) -> EventSubscription? {
    switch form {
    case .plain:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options, label: "form"
      ) { t.receive(nil, $0) }
    case .async:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form"
      ) { (event: Element) async in t.receive(nil, event) }
    case .sender:
      hub.subscribe(matching: "*", on: .sender, where: t.filter, options: t.options, label: "form")
      { t.receive(nil, $0) }
    case .main:
      hub.subscribe(
        matching: "*", on: .main, buffering: t.buffering, where: t.filter, options: t.options,
        label: "form"
      ) {
        MainActor.preconditionIsolated(); t.receive(nil, $0)
      }
    case .queue:
      hub.subscribe(
        matching: "*", on: t.queue, buffering: t.buffering, where: t.filter, options: t.options,
        label: "form"
      ) { t.receive(nil, $0) }
    case .owner:
      hub.subscribe(
        matching: "*", with: owner, buffering: t.buffering, where: t.filter, options: t.options,
        label: "form"
      ) { t.receive(nil, $1) }
    case .ownerAsync:
      hub.subscribe(
        matching: "*", with: owner, buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form"
      ) { (_: HandlerOwner, event: Element) async in t.receive(nil, event) }
    case .ownerSender:
      hub.subscribe(
        matching: "*", with: owner, on: .sender, where: t.filter, options: t.options, label: "form"
      ) { t.receive(nil, $1) }
    case .ownerMain:
      hub.subscribe(
        matching: "*", with: owner, on: .main, buffering: t.buffering, where: t.filter,
        options: t.options, label: "form"
      ) {
        MainActor.preconditionIsolated(); t.receive(nil, $1)
      }
    case .ownerQueue:
      hub.subscribe(
        matching: "*", with: owner, on: t.queue, buffering: t.buffering, where: t.filter,
        options: t.options, label: "form"
      ) { t.receive(nil, $1) }
    case .actorOwner:
      hub.subscribe(
        matching: "*", with: home, buffering: t.buffering, where: t.filter, options: t.options,
        label: "form"
      ) { (home: isolated HandlerHome<Element>, event: Element) in home.take(event) }
    case .actorOwnerAsync:
      hub.subscribe(
        matching: "*", with: home, buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form"
      ) { (home: isolated HandlerHome<Element>, event: Element) async in home.take(event) }
    case .own:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options, label: "form"
      ) { (own: EventSubscription, event: Element) in t.receive(own, event) }
    case .ownAsync:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form"
      ) { (own: EventSubscription, event: Element) async in t.receive(own, event) }
    case .ownQueue:
      hub.subscribe(
        matching: "*", on: t.queue, buffering: t.buffering, where: t.filter, options: t.options,
        label: "form"
      ) { (own: EventSubscription, event: Element) in t.receive(own, event) }
    default:
      nil
    }
  }

  func subscribe(
    _ form: HandlerForm, _ t: HandlerTerms<Element>, _ owner: HandlerOwner,
    on home: isolated HandlerHome<Element>
  ) -> EventSubscription {
    switch form {
    case .inActor:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options, label: "form"
      ) { home.take($0) }
    case .inActorAsync:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form"
      ) { (event: Element) async in home.take(event) }
    case .inActorOwner:
      hub.subscribe(
        matching: "*", with: owner, buffering: t.buffering, where: t.filter, options: t.options,
        label: "form"
      ) { home.takeOwner($0, $1) }
    case .inActorOwnerAsync:
      hub.subscribe(
        matching: "*", with: owner, buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form"
      ) { (owner: HandlerOwner, event: Element) async in home.takeOwner(owner, event) }
    case .inActorOwn:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options, label: "form"
      ) { (own: EventSubscription, event: Element) in home.takeOwn(own, event) }
    case .inActorOwnAsync:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form"
      ) { (own: EventSubscription, event: Element) async in home.takeOwn(own, event) }
    case .method:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options, label: "form",
        home.take)
    case .methodAsync:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form", home.take)
    case .methodOwner:
      hub.subscribe(
        matching: "*", with: owner, buffering: t.buffering, where: t.filter, options: t.options,
        label: "form", home.takeOwner)
    case .methodOwnerAsync:
      hub.subscribe(
        matching: "*", with: owner, buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form", home.takeOwner)
    case .methodOwn:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options, label: "form",
        home.takeOwn)
    case .methodOwnAsync:
      hub.subscribe(
        matching: "*", buffering: t.buffering, where: t.filter, options: t.options,
        maxConcurrentCalls: t.concurrency, label: "form", home.takeOwn)
    default:
      fatalError("\(form) belongs to no actor")
    }
  }
}
