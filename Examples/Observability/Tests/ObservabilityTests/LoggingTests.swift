import InMemoryLogging
import Logging
import Multicast
import MulticastLogging
import Testing

final class Delegate: Sendable {}

/// A logger, and where its entries are.
func makeLogger() -> (Logger, InMemoryLogHandler) {
  let handler = InMemoryLogHandler()
  return (Logger(label: "test") { _ in handler }, handler)
}

@Suite("Warnings of hubs are logged with the line and the count")
struct LoggingTests {
  @Test func aLeakOfEachHub() {
    let (logger, log) = makeLogger()
    let events = EventHub<Int>(name: "events")
    events.warnOfLeaks(above: 1, to: logger)
    let state = StateHub<Int, Int>(0, name: "state") { $0 += $1 }
    state.warnOfLeaks(above: 1, to: logger)
    let topics = TopicHub<String, Int>(name: "topics")
    topics.warnOfLeaks(above: 1, to: logger)
    let delegates = MulticastDelegate<Delegate>(name: "delegates")
    delegates.warnOfLeaks(above: 1, to: logger)
    let actor = MulticastActor<Delegate>(name: "actor")
    actor.warnOfLeaks(above: 1, to: logger)
    let objects = [Delegate(), Delegate()]
    var kept: [EventSubscription] = []
    for object in objects {
      kept.append(events.subscribe(fileID: "A", line: 1) { _ in })
      kept.append(state.subscribe(fileID: "A", line: 2) { _ in })
      kept.append(topics.subscribe(to: "x", fileID: "A", line: 3) { _ in })
      delegates.add(object, fileID: "A", line: 4)
      actor.add(object, fileID: "A", line: 5)
    }
    let metadata = log.entries.map {
      [$0.metadata["hub"], $0.metadata["site"], $0.metadata["count"]]
    }
    #expect(
      metadata == [
        ["events", "A:1", "2"], ["state", "A:2", "2"], ["topics", "A:3", "2"],
        ["delegates", "A:4", "2"], ["actor", "A:5", "2"],
      ])
    #expect(log.entries.allSatisfy { $0.level == .warning })
    withExtendedLifetime((kept, objects)) {}
  }

  @Test func aSlowHandler() throws {
    let (logger, log) = makeLogger()
    let hub = EventHub<Int>(name: "prices")
    hub.measureHandlers(sampling: 1, slowerThan: .zero, to: logger)
    let subscription = hub.subscribe(on: .sender, label: "board", fileID: "A", line: 7) { _ in }
    #expect(log.entries.isEmpty)
    hub.send(1)
    let entry = try #require(log.entries.first)
    #expect(entry.level == .warning)
    #expect(entry.metadata["hub"] == "prices")
    #expect(entry.metadata["site"] == "A:7")
    #expect(entry.metadata["label"] == "board")
    #expect(Double(entry.metadata["seconds"]?.description ?? "") ?? 0 > 0)
    withExtendedLifetime(subscription) {}
  }

  @Test func aSlowDelegate() async throws {
    let (logger, log) = makeLogger()
    let delegates = MulticastDelegate<Delegate>(name: "delegates")
    delegates.measureDelegates(sampling: 1, slowerThan: .zero, to: logger)
    let actor = MulticastActor<Delegate>(name: "actor")
    actor.measureDelegates(sampling: 1, slowerThan: .zero, to: logger)
    let object = Delegate()
    delegates.add(object, label: "board", fileID: "A", line: 7)
    actor.add(object, fileID: "A", line: 8)
    delegates.forEach { _ in }
    await actor.invoke { _ in }
    let metadata = log.entries.map {
      [$0.metadata["hub"], $0.metadata["site"], $0.metadata["label"]]
    }
    #expect(metadata == [["delegates", "A:7", "board"], ["actor", "A:8", "-"]])
  }

  @Test func whatWasDroppedSinceTheLastReport() async {
    let (logger, log) = makeLogger()
    let directory = HubDirectory()
    let hub = EventHub<Int>(name: "prices")
    let quiet = EventHub<Int>(name: "quiet")
    directory.add(hub)
    directory.add(hub)  // Is reported once all the same.
    directory.add(quiet)
    let drops = DropLog(of: directory, logger: logger)
    func events(_ label: String?, _ line: UInt) -> EventSequence<Int> {
      hub.events(
        buffering: .bounded(1, whenFull: .dropOldest), label: label, fileID: "A", line: line)
    }
    let (first, second) = (events("board", 1), events(nil, 2))
    for event in 1...3 { hub.send(event) }
    let third = events("late", 3)
    await drops.report()
    #expect(log.entries.count == 1)
    #expect(log.entries.last?.message == "events were dropped or refused")
    #expect(
      log.entries.last?.metadata == [
        "hub": "prices", "dropped": "4", "refused": "0",
        "receivers": ["A:2: 2", "board at A:1: 2"],
      ])
    await drops.report()
    #expect(log.entries.count == 1, "nothing was dropped since")
    for event in 1...2 { hub.send(event) }
    hub.finish()
    hub.send(9)
    await drops.report()
    #expect(log.entries.count == 2)
    #expect(
      log.entries.last?.metadata == [
        "hub": "prices", "dropped": "5", "refused": "1",
        "receivers": ["A:2: 2", "board at A:1: 2", "late at A:3: 1"],
      ])
    withExtendedLifetime((first, second, third)) {}
  }

  @Test func aLineNamesOnlySomeOfManyReceivers() async {
    let (logger, log) = makeLogger()
    let directory = HubDirectory()
    let hub = TopicHub<String, Int>(retention: .last(9), name: "chat")
    directory.add(hub)
    let drops = DropLog(of: directory, logger: logger, naming: 2)
    let readers = (1...5).map { number in
      hub.reader(
        for: ["t\(number)"], from: .live, buffering: .bounded(1, whenFull: .dropOldest),
        fileID: "A", line: 1
      ) {}
    }
    for number in 1...5 {
      for event in 0...number { hub.send(event, to: "t\(number)") }
    }
    await drops.report()
    #expect(
      log.entries.last?.metadata == [
        "hub": "chat", "dropped": "15", "refused": "0",
        "receivers": ["A:1, topic t5: 5", "A:1, topic t4: 4", "and 3 more"],
      ])
    withExtendedLifetime(readers) {}
  }

  @Test func reportsComeAtOnceAfterEachIntervalAndAtTheEnd() async {
    let (logger, log) = makeLogger()
    let directory = HubDirectory()
    let hub = EventHub<Int>(name: "prices")
    directory.add(hub)
    let drops = DropLog(of: directory, logger: logger)
    let clock = StepClock()
    let sequence = hub.events(buffering: .bounded(1, whenFull: .dropOldest))
    hub.send(0)
    let running = Task { await drops.run(every: .seconds(30), clock: clock) }
    #expect(await clock.nextSleep() == .seconds(30))
    #expect(log.entries.isEmpty)
    for report in 1...2 {
      hub.send(report)
      clock.step()
      #expect(await clock.nextSleep() == .seconds(30))
      #expect(log.entries.count == report)
    }
    hub.send(3)
    running.cancel()
    clock.step()
    await running.value
    #expect(log.entries.count == 3)
    withExtendedLifetime(sequence) {}
  }

  @Test func anIntervalOfZeroIsRefused() async {
    let failure = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      await DropLog(logger: Logger(label: "test")).run(every: .zero)
    }
    let message = failure.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(message.contains("an interval of 0.0 seconds never passes"))
  }
}
