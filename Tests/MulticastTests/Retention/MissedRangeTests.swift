import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A subscriber receives exactly the range that is missing, in its place")
struct MissedRangeTests {
  @Test("its description is the number of events, and the range")
  func description() {
    let (first, last) = (EventPosition(epoch: 3, number: 4), EventPosition(epoch: 3, number: 5))
    #expect(
      "\(MissedEvents(after: first, through: last))" == "1 event after \(first), through \(last)")
    #expect(
      "\(MissedEvents(after: first, through: last, count: 0))"
        == "0 events after \(first), through \(last)")
    #expect(
      "\(MissedEvents(after: last, through: first))"
        == "an unknown number of events after \(last), through \(first)")
  }

  @Test("after a position that is no longer retained", arguments: FollowerKind.allCases)
  func trimmed(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(10), epoch: 3)
    let positions = (1...100).map { hub.publish($0)! }
    for last in [1, 50, 89, 90, 91, 100] {
      let follower = Follower<Int>()
      let following = await hub.follow(kind, from: .after(positions[last - 1])) {
        follower.receive($0)
      }
      let expected = max(last, 90) + 1
      await eventually { follower.events.count == 101 - expected }
      if last == 100 { await hub.flush() }
      #expect(follower.events == Array(expected..<101))
      #expect(
        follower.missed
          == (last >= 90
            ? [] : [MissedEvents(after: positions[last - 1], through: positions[89])]))
      #expect(follower.missed.first?.count == (last >= 90 ? nil : 90 - last))
      #expect(follower.covers(after: UInt64(last), through: 100))
      following.cancel()
    }
    #expect(
      hub.retainedEvents(from: .after(EventPosition(epoch: 3, number: 0))).first
        == .missed(
          MissedEvents(after: EventPosition(epoch: 3, number: 0), through: positions[89])))
  }

  @Test(
    "after a position of another epoch: all that is retained follows, and the number is unknown")
  func otherEpoch() async {
    let old = EventHub<Int>(retention: .last(10), epoch: 1)
    let positions = (1...5).map { old.publish($0)! }
    let new = EventHub<Int>(retention: .last(3), epoch: 2)
    for event in 1...7 { new.send(event) }
    // The number of the first is below that of what is missing, and that of the last above it.
    for last in [positions[0], positions[4]] {
      for kind in FollowerKind.allCases {
        let follower = Follower<Int>()
        let following = await new.follow(kind, from: .after(last)) { follower.receive($0) }
        await eventually { follower.events.count == 3 }
        #expect(follower.events == [5, 6, 7])
        let through = EventPosition(epoch: 2, number: 4)
        #expect(follower.missed == [MissedEvents(after: last, through: through)])
        #expect(follower.elements[0] == .missed(MissedEvents(after: last, through: through)))
        #expect(follower.missed[0].count == nil)
        following.cancel()
      }
    }
    // Also in a hub that has sent nothing.
    let empty = EventHub<Int>(retention: .last(3), epoch: 9)
    let (last, start) = (positions[4], EventPosition(epoch: 9, number: 0))
    #expect(
      empty.retainedEvents(from: .after(last))
        == [.missed(MissedEvents(after: last, through: start))])
  }

  @Test("after a position that the hub has not reached: it receives a notice, and goes on live")
  func future() async {
    let hub = EventHub<Int>(retention: .last(10), epoch: 1)
    for event in 1...5 { hub.send(event) }
    let future = EventPosition(epoch: 1, number: 8)
    for kind in FollowerKind.allCases {
      let follower = Follower<Int>()
      let newest = hub.newestPosition
      let following = await hub.follow(kind, from: .after(future)) { follower.receive($0) }
      await eventually { follower.elements.count == 1 }
      let range = MissedEvents(after: future, through: newest)
      #expect(follower.elements == [.missed(range)] && range.count == nil || newest >= future)
      hub.send(6)
      await eventually { follower.events == [6] }
      following.cancel()
      if hub.newestPosition >= future { break }
    }
  }

  @Test("several ranges, if a slow subscriber reads while more events leave")
  func severalTrims() async {
    let hub = EventHub<Int>(retention: .last(4))
    let (mayRead, hasRead) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let follower = Follower<Int>()
    let following = await hub.follow(.serialQueue, from: .live) { element in
      hasRead.signal()
      mayRead.wait()
      follower.receive(element)
    }
    await onOwnThread {
      hub.send(1)
      hasRead.wait()  // It has read 1.
      for event in 2...11 { hub.send(event) }  // 8...11 are left.
      mayRead.signal()
      hasRead.wait()  // It has read 8...11, and handles the range.
      for event in 12...30 { hub.send(event) }  // 27...30 are left.
      for _ in 0..<20 { mayRead.signal() }
    }
    await eventually { follower.events.last == 30 }
    #expect(follower.events == [1, 8, 9, 10, 11, 27, 28, 29, 30])
    #expect(follower.missed.map(\.count) == [6, 15])
    #expect(follower.covers(after: 0, through: 30))
    withExtendedLifetime(following) {}
  }

  @Test("with conditions, sizes and ages too", arguments: FollowerKind.allCases)
  func everyRetention(_ kind: FollowerKind) async {
    let floor = Guarded(0)
    let retentions: [Retention<Int>] = [
      .bytes(100) { $0 % 7 }, .keeping { event in event > floor.withLock { $0 } },
      .latestPerKey { $0 % 10 }, .seconds(50e-6),
      .last(20).and(.latestPerKey { $0 % 30 }).and(.bytes(50) { $0 % 3 }),
    ]
    for (index, retention) in retentions.enumerated() {
      let hub = EventHub<Int>(retention: retention)
      let follower = Follower<Int>()
      let following = await hub.follow(kind, from: .live) { follower.receive($0) }
      for event in 1...2_000 {
        floor.withLock { $0 = event - 5 }
        hub.send(event)
      }
      hub.finish()
      await following.task?.value
      await eventually { following.subscription?.isActive != true }
      if index == 2 || index == 4 {
        // What was replaced is not reported: the positions increase.
        let numbers = follower.elements.map(\.position.number)
        #expect(numbers == Array(Set(numbers)).sorted())
        #expect(numbers.last == 2_000)
      } else {
        #expect(follower.covers(after: 0, through: 2_000))
      }
    }
  }
}
