import Dispatch
import Foundation
import Multicast
import NIOCore
import Synchronization
import Testing

@testable import FanOutCore

/// Where a stream without an id of its client begins.
@Suite(.timeLimit(.minutes(1))) struct SubscriptionStartTests {
  /// The client reconnects with that id if it is disconnected before its first event.
  @Test func theFirstEventFollowsTheIDThatTheStreamBeginsWith() throws {
    let topics = Topics(Settings())
    topics.begin(after: 0)
    let topic = try Topic("news", limit: 9)
    let message = try #require(Message(ByteBuffer(string: "x")))
    let isOver = Flag()
    // A thread of its own: it suspends for no other task.
    let ended = DispatchSemaphore(value: 0)
    Thread {
      var id: EventID = 0
      while !isOver.value.load(ordering: .relaxed) {
        id += 1
        topics.deliver(Event(id: id, topic: topic, message: message))
      }
      ended.signal()
    }.start()
    defer {
      isOver.value.store(true, ordering: .relaxed)
      ended.wait()
    }
    for _ in 0..<1000 {
      let subscription = try topics.subscribe(to: .topic(topic), after: nil, .dropOldest) {}
      let newest = try #require(subscription.newest)
      var first = subscription.reader.nextIfAvailable()
      while first == nil {
        sched_yield()
        first = subscription.reader.nextIfAvailable()
      }
      switch first {
      case .event(_, at: let position): #expect(position.number == newest + 1)
      // This thread has waited for long.
      case .missed(let range, of: _): #expect(range.after.number == newest)
      case nil: break
      }
      subscription.reader.cancel()
    }
  }

  private final class Flag: Sendable {
    // Relaxed: nothing is read because of it.
    let value = Atomic(false)
  }
}
