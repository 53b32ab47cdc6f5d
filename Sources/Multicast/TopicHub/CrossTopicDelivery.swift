/// The subscribers of all topics and of patterns, and the way of an event to them.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class CrossTopicDelivery<Topic: Hashable & Sendable, Event: Sendable>: Sendable {
  typealias Element = TopicEvent<Topic, Event>

  let allTopics: EventHub<Element>
  /// The subscribers of patterns: each target is a ``PatternChannel``. Without one, unless topics
  /// are strings.
  let patterns = PatternIndex()
  private let observers: ObserverCount
  // Specialised for the type of the event: a sender that finds the types at run time takes several
  // times as long.
  private let send: TopicHub<Topic, Event>.AcrossDelivery
  private let sendBefore: TopicHub<Topic, Event>.AcrossDeliveryBefore

  init(
    allTopics: EventHub<Element>, _ observers: ObserverCount,
    send: @escaping TopicHub<Topic, Event>.AcrossDelivery,
    sendBefore: @escaping TopicHub<Topic, Event>.AcrossDeliveryBefore
  ) {
    self.allTopics = allTopics
    self.observers = observers
    self.send = send
    self.sendBefore = sendBefore
  }
}

extension CrossTopicDelivery {
  var hasPatterns: Bool { !patterns.isEmpty }

  /// The hubs of all patterns.
  var patternHubs: [EventHub<Element>] { patterns.all.map { Self.hub(of: $0.subject) } }

  var flushTargets: [HubFlush<Element>.Target] {
    ([allTopics] + patternHubs).map { HubFlush<Element>.Target($0) }
  }

  func finishPatterns(_ failure: (any Error)?) {
    for hub in patternHubs { hub.finish(failure) }
  }

  static func hub(of subject: Unmanaged<AnyObject>) -> EventHub<Element> {
    // SAFETY: the index of a hub of topics has no other targets than `PatternChannel`s.
    Unmanaged<EventHub<Element>>.fromOpaque(subject.toOpaque()).takeUnretainedValue()
  }

  /// The number of hubs whose handlers, called by the sender, may wait for the buffers of other
  /// hubs: a sender needs some of its stack for each.
  private static var depthLimit: Int { 16 }

  /// Delivers an event to the subscribers of all topics, and to those whose patterns match its
  /// topic.
  ///
  /// - Parameter waiters: where a sender that can wait finds the full buffers.
  /// - Returns: the number of subscribers that it reached.
  func send(_ element: Element, _ waiters: SendWaiterList?) -> Int {
    guard hasPatterns else { return sendToObservers(element, waiters) }
    // SAFETY: there are patterns only if topics are strings.
    let topic = unsafeBitCast(element.topic, to: String.self)
    return patterns.withMatches(of: topic) { matches in
      if matches.count == 0 { return sendToObservers(element, waiters) }
      if matches.count == 1 && observers.isZero {
        return send(element, waiters, to: Self.hub(of: matches[0]))
      }
      // First the hubs of which no handler is called here, so that the event is in their buffers
      // before a handler sends another one.
      var (delivered, rest) = (0, 0)
      for index in 0..<matches.count {
        let match = matches[index]
        let hub = Self.hub(of: match)
        if hub.kinds.mayHaveHandlers {
          matches[rest] = match
          rest += 1
        } else {
          delivered += send(element, waiters, to: hub)
        }
      }
      matches.truncate(to: rest)
      return delivered + send(element, waiters, to: matches, from: 0)
    }
  }

  /// Delivers an event to the hubs from the one at `index` on, and then to the subscribers of all
  /// topics: to the buffers of each before the handlers of any, unless the hubs have orders of
  /// their own.
  private func send(
    _ element: Element, _ waiters: SendWaiterList?, to matches: PatternIndex.Matches,
    from index: Int
  ) -> Int {
    var (delivered, index) = (0, index)
    while index < matches.count {
      let hub = Self.hub(of: matches[index])
      index += 1
      if index <= Self.depthLimit {
        return delivered
          + send(element, waiters, to: hub) { send(element, waiters, to: matches, from: index) }
      }
      delivered += send(element, waiters, to: hub)
    }
    return delivered + sendToObservers(element, waiters)
  }

  /// Delivers an event to the subscribers of all topics.
  private func sendToObservers(_ element: Element, _ waiters: SendWaiterList?) -> Int {
    // Without a subscriber it need not accept events: its owner may have finished it.
    guard !observers.isZero else { return 0 }
    return send(element, waiters, to: allTopics)
  }

  private func send(
    _ element: Element, _ waiters: SendWaiterList?, to hub: EventHub<Element>
  ) -> Int {
    waiters == nil ? send(hub, element) : hub.send(element, forwardedFrom: waiters)
  }

  /// - Parameter forward: see ``EventHub/send(_:forwardedFrom:forward:)``.
  private func send(
    _ element: Element, _ waiters: SendWaiterList?, to hub: EventHub<Element>, forward: () -> Int
  ) -> Int {
    guard waiters == nil && hub.sequencer == nil && hub.state.isOpen else {
      return hub.send(element, forwardedFrom: waiters, forward: forward)
    }
    return sendBefore(hub, element, forward)
  }
}
