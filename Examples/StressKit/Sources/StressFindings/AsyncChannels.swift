import AsyncAlgorithms
import ConcurrencyStress

/// AsyncChannel of swift-async-algorithms.
enum AsyncChannelFindings {
  static let scenarios = [
    delivery.scenario(
      "channel-delivery", promise: "AsyncChannel delivers each element to exactly one consumer"),
    cancellation.scenario(
      "channel-cancelled-consumer",
      promise: "an element whose send has returned was received, also if a consumer is cancelled"),
    finishing.scenario(
      "channel-finish",
      promise: "an element whose send has returned was received, also if the channel finishes"),
    sharing.scenario(
      "share-late-consumer",
      promise: "two consumers of share() get the same elements from their first one on"),
  ]

  private static let delivery = ScheduleTest { schedule in
    let channel = AsyncChannel<Int>()
    let received = Record()
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          for await element in channel { received.append(element) }
        }
      }
      group.addTask {
        await withTaskGroup { senders in
          for sender in 0..<2 {
            senders.addTask { for number in 1...2 { await channel.send(10 * sender + number) } }
          }
        }
        channel.finish()
      }
    }
    let all = received.entries.sorted()
    schedule.expect(all == [1, 2, 11, 12], "\(all) came of 1, 2, 11 and 12")
  }

  private static let cancellation = ScheduleTest { schedule in
    let channel = AsyncChannel<Int>()
    let received = Record()
    let sent = Record()
    let first = Task {
      for await element in channel {
        schedule.note("the first gets \(element)")
        received.append(element)
      }
      schedule.note("the first ends")
    }
    let second = Task {
      for await element in channel {
        schedule.note("the second gets \(element)")
        received.append(element)
      }
    }
    let sender = Task {
      for number in 1...3 {
        await channel.send(number)
        schedule.note("has sent \(number)")
        sent.append(number)
      }
      channel.finish()
    }
    let canceller = Task { first.cancel() }
    for task in [first, second, sender, canceller] { await task.value }
    let (all, expected) = (received.entries.sorted(), sent.entries)
    schedule.expect(all == expected, "\(all) came of \(expected)")
  }

  private static let finishing = ScheduleTest { schedule in
    let channel = AsyncChannel<Int>()
    let received = Record()
    let sent = Record()
    await withTaskGroup { group in
      group.addTask {
        for await element in channel { received.append(element) }
      }
      group.addTask {
        for number in 1...3 {
          await channel.send(number)
          sent.append(number)
        }
      }
      group.addTask { channel.finish() }
    }
    let (all, expected) = (received.entries, sent.entries)
    schedule.expect(all == expected, "\(all) came of \(expected), whose sends have returned")
  }

  private static let sharing = ScheduleTest { schedule in
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let shared = stream.share()
    let received = [Record(), Record()]
    await withTaskGroup { group in
      for consumer in 0..<2 {
        group.addTask {
          for await element in shared { received[consumer].append(element) }
        }
      }
      group.addTask {
        for element in 1...4 {
          continuation.yield(element)
          await Task.yield()
        }
        continuation.finish()
      }
    }
    for elements in received.map(\.entries) {
      let first = elements.first ?? 5
      schedule.expect(elements == Array(first..<5), "a consumer got \(elements)")
    }
  }
}
