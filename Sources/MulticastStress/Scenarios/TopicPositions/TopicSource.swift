import ConcurrencyStress
import Dispatch
import Multicast

/// The events of topics, from a sequence, from a reader that tells when there is more, or from a
/// handler.
struct TopicSource {
  typealias Element = PositionedTopicEvent<Payload>

  private enum Kind {
    case sequence(PositionedTopicSequence<Payload>.Iterator)
    case reader(TopicReader<Payload>, notices: AsyncStream<Void>.Iterator)
    case handler(EventSubscription, received: Guarded<[Element]>, queue: DispatchQueue?)
  }

  private var kind: Kind

  init(_ sequence: PositionedTopicSequence<Payload>) {
    kind = .sequence(sequence.makeAsyncIterator())
  }

  /// - Parameter begin: makes the reader, with what it calls when there is more.
  init(readerOf begin: (@escaping @Sendable () -> Void) -> TopicReader<Payload>) {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    kind = .reader(begin { continuation.yield() }, notices: stream.makeAsyncIterator())
  }

  /// - Parameters:
  ///   - queue: where the handler is called, one call at a time; `nil`: by senders.
  ///   - subscribe: adds the handler that it is given.
  init(
    on queue: DispatchQueue? = nil,
    handlerOf subscribe: (@escaping @Sendable (Element) -> Void) -> EventSubscription
  ) {
    let received = Guarded<[Element]>([])
    let subscription = subscribe { element in received.withLock { $0.append(element) } }
    kind = .handler(subscription, received: received, queue: queue)
  }
}

extension TopicSource {
  /// The next element; `nil` at the end, or if the task is cancelled.
  mutating func next() async -> Element? {
    switch kind {
    case .sequence(var iterator):
      let element = await iterator.next()
      kind = .sequence(iterator)
      return element
    case .reader(let reader, notices: var notices):
      while !Task.isCancelled {
        if let element = reader.nextIfAvailable() { return element }
        guard reader.end == nil, await notices.next(isolation: #isolation) != nil else {
          return nil
        }
        kind = .reader(reader, notices: notices)
      }
      return nil
    case .handler(let subscription, received: let received, queue: _):
      while !Task.isCancelled {
        // Before: what it still receives comes before its end.
        let isActive = subscription.isActive
        let element = received.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if element != nil || !isActive { return element }
        // Nothing wakes it: the handler must not do more than receive.
        try? await Task.sleep(for: .microseconds(200))
      }
      return nil
    }
  }

  /// Ends a handler on a queue, and waits until the queue keeps none of its events.
  func stop() async {
    guard case .handler(let subscription, received: _, let queue?) = kind else { return }
    subscription.cancel()
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  var end: SubscriptionEnd? {
    switch kind {
    case .sequence(let iterator): return iterator.end
    case .reader(let reader, notices: _): return reader.end
    case .handler(let subscription, received: _, queue: _): return subscription.end
    }
  }
}
