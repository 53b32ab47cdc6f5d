import ConcurrencyStress
import Multicast
import MulticastTestSupport
import Testing

@Suite("Retention of topics under concurrency: neither a gap nor a duplicate")
struct TopicRetentionLawTests {
  private static let topics = (0..<6).map { "topic \($0)" }

  /// What one subscriber has received.
  private struct Received {
    var numbers: [UInt64] = []
    var missed: [ClosedRange<UInt64>] = []
  }

  /// Reads topics until the hub has finished, and begins anew after the last position now and then.
  private func follow(
    _ hub: TopicHub<String, RecordingObserver>, _ topics: [String], resumingEvery interval: Int
  ) async -> Received {
    var received = Received()
    var last = EventPosition(epoch: hub.newestPosition.epoch, number: 0)
    while true {
      var count = 0
      for await element in hub.events(for: topics, from: .after(last)) {
        switch element {
        case .event(let event, at: let position):
          #expect(topics.contains(event.topic) && position > last)
          received.numbers.append(position.number)
          last = position
        case .missed(let range, of: _):
          received.missed.append(range.after.number + 1...range.through.number)
        }
        count += 1
        if count == interval { break }
      }
      if count < interval { return received }
    }
  }

  @Test(
    "each subscriber gets each event of its topics once, in order, or a range that says it is missing",
    arguments: [10, 1_000_000])
  func law(limit: Int) async {
    let tracker = LifetimeTracker()
    do {
      let hub = TopicHub<String, RecordingObserver>(retention: .last(limit), epoch: 1)
      let readers = (0..<6).map { index in
        Task {
          let topics = Array(Self.topics[...index])
          return (topics, await follow(hub, topics, resumingEvery: 17 + 50 * index))
        }
      }
      // The topic of each position.
      let sent = await onOwnThread {
        let journals = Self.topics.map { _ in Journal() }
        runThreads(3) { thread in
          for number in 0..<1_500 {
            let index = (number &* 7 &+ thread) % Self.topics.count
            let observer = RecordingObserver(0, tracker: tracker)
            journals[index].record(Int(hub.publish(observer, to: Self.topics[index])!.number))
          }
        }
        return journals.map(\.entries)
      }
      #expect(Set(sent.joined()) == Set(1...4_500))
      hub.finish()
      for reader in readers {
        let (topics, received) = await reader.value
        let wanted = sent[..<topics.count].joined().sorted().map { UInt64($0) }
        #expect(zip(received.numbers, received.numbers.dropFirst()).allSatisfy(<))
        let got = Set(received.numbers)
        if limit > 4_500 {
          #expect(received.missed.isEmpty && received.numbers == wanted)
        } else {
          let unexplained = wanted.filter { number in
            !got.contains(number) && !received.missed.contains { $0.contains(number) }
          }
          #expect(unexplained.isEmpty)
        }
      }
    }
    await eventually { tracker.live == 0 }
  }
}
