import Dispatch
import Multicast
import MulticastTestSupport
import Testing

/// An event of one sender.
private struct Sent: Sendable, Hashable {
  let sender: Int
  let index: Int
}

@Suite(
  """
  Each subscriber gets every event after its start exactly once, in the order of positions, or a missing \
  range that covers exactly the rest
  """)
struct PositionLawTests {
  private static let senders = 3

  @Test(
    "under concurrent senders, late arrivals, cancels and resumptions",
    arguments: Ordering.allCases, [3, 100, Int.max])
  func law(_ ordering: Ordering, _ limit: Int) async {
    let tracker = LifetimeTracker()
    do {
      let hub = EventHub<Tracked>(
        retention: limit == .max ? .all : .last(limit), ordering: ordering)
      let log = Guarded<[EventPosition: Sent]>([:])
      let residents = FollowerKind.allCases.map { _ in Follower<Tracked>() }
      var subscriptions: [Following] = []
      for (kind, follower) in zip(FollowerKind.allCases, residents) {
        subscriptions.append(await hub.follow(kind, from: .retained) { follower.receive($0) })
      }
      let (visits, guests) = (Guarded<[Visit]>([]), Guarded<[Visit]>([]))
      await withTaskGroup { group in
        for sender in 0..<Self.senders {
          group.addTask {
            for index in 0..<1_500 {
              let event = Sent(sender: sender, index: index)
              let position = hub.publish(Tracked(event, tracker))!
              log.withLock { $0[position] = event }
              if index % 50 == 0 { await Task.yield() }
            }
          }
        }
        for kind in FollowerKind.allCases {
          group.addTask {
            // Comes, goes, and comes back after what it had received.
            var last = EventPosition(epoch: hub.newestPosition.epoch, number: 0)
            for _ in 0..<12 {
              let visit = Visit(after: last)
              let follower = visit.follower
              let following = await hub.follow(kind, from: .after(last)) { follower.receive($0) }
              for _ in 0..<20 { await Task.yield() }
              following.cancel()
              await following.subscription?.cancelAndWait()
              await following.task?.value
              last = visit.follower.elements.last?.position ?? last
              visits.withLock { $0.append(visit) }
            }
            let visit = Visit(after: last)
            let follower = visit.follower
            let following = await hub.follow(kind, from: .after(last)) { follower.receive($0) }
            visit.following.withLock { $0 = following }
            guests.withLock { $0.append(visit) }
          }
        }
      }
      hub.finish()
      let total = UInt64(Self.senders * 1_500)
      let sent = log.withLock { $0 }
      #expect(sent.count == Int(total) && hub.newestPosition.number == total)
      for following in subscriptions { await following.task?.value }
      for visit in guests.withLock({ $0 }) {
        await visit.following.withLock { $0 }?.task?.value
      }
      for follower in residents {
        await eventually { follower.elements.last?.position.number == total }
        #expect(follower.covers(after: 0, through: total))
        expectOrder(follower, sent)
        if limit == .max { #expect(follower.missed.isEmpty) }
      }
      for visit in guests.withLock({ $0 }) {
        await eventually { (visit.follower.elements.last?.position ?? visit.after).number == total }
        #expect(visit.follower.covers(after: visit.after.number, through: total))
        expectOrder(visit.follower, sent)
      }
      for visit in visits.withLock({ $0 }) {
        let last = visit.follower.elements.last?.position ?? visit.after
        #expect(visit.follower.covers(after: visit.after.number, through: last.number))
        expectOrder(visit.follower, sent)
      }
      withExtendedLifetime(subscriptions) {}
    }
    await eventually { tracker.live == 0 }
    #expect(tracker.created == Self.senders * 1_500)
  }

  /// Each event has the position that its sender got, and the events of each sender are in order.
  private func expectOrder(_ follower: Follower<Tracked>, _ sent: [EventPosition: Sent]) {
    var last = Array(repeating: -1, count: Self.senders)
    for case .event(let event, let position) in follower.elements {
      guard sent[position] == event.sent, last[event.sent.sender] < event.sent.index else {
        Issue.record("\(event.sent) at \(position) after \(last)")
        return
      }
      last[event.sent.sender] = event.sent.index
    }
  }

  @Test("plain subscribers and those with positions see one order, however they begin")
  func oneOrder() async {
    let hub = EventHub<Int>(replay: 5, retention: .all)
    for event in -10..<0 { hub.send(event) }
    let (inline, queued) = (Journal(), Journal())
    let plain = [
      hub.subscribe { inline.record($0) }, hub.subscribe(on: .global()) { queued.record($0) },
    ]
    let sequence = hub.events()
    let followers = FollowerKind.allCases.map { _ in Follower<Int>() }
    var subscriptions: [Following] = []
    for (kind, follower) in zip(FollowerKind.allCases, followers) {
      subscriptions.append(await hub.follow(kind, from: .last(5)) { follower.receive($0) })
    }
    runThreads(3) { sender in for index in 0..<1_000 { hub.send(index * 3 + sender) } }
    hub.finish()
    var order: [Int] = []
    for await event in sequence { order.append(event) }
    #expect(order.count == 3_005 && order.starts(with: -5..<0))
    #expect(hub.retainedEvents(from: .last(3_005)).map(\.event) == order)
    await eventually { inline.entries.count == 3_005 && queued.entries.count == 3_005 }
    #expect(inline.entries == order && queued.entries == order)
    for follower in followers {
      await eventually { follower.elements.count == 3_005 }
      #expect(follower.events == order)
    }
    withExtendedLifetime((plain, subscriptions)) {}
  }
}

/// A stay of a subscriber.
private final class Visit: Sendable {
  let after: EventPosition
  let follower = Follower<Tracked>()
  let following = Guarded<Following?>(nil)

  init(after: EventPosition) { self.after = after }
}

/// An event whose lifetime is observed.
private final class Tracked: Sendable {
  let sent: Sent
  let tracker: LifetimeTracker

  init(_ sent: Sent, _ tracker: LifetimeTracker) {
    self.sent = sent
    self.tracker = tracker
    tracker.noteCreation()
  }

  deinit { tracker.noteDestruction() }
}
