import CoreMetrics
import Dispatch
import InMemoryLogging
import Logging
import MetricsTestKit
import Multicast
import MulticastLogging
import MulticastMetrics
import Testing

@Suite("What hubs count is reported as counters and gauges")
struct MetricsTests {
  private let metrics = TestMetrics()
  private let directory = HubDirectory()

  private func gauge(_ name: String, _ dimensions: [(String, String)]) throws -> Double? {
    try metrics.expectGauge(name, dimensions).lastValue
  }

  @Test func receiversPendingDroppedAndRefused() async throws {
    let hub = EventHub<Int>(name: "prices")
    directory.add(hub)
    let reporter = HubMetrics(of: directory, factory: metrics)
    let sequence = hub.events(buffering: .bounded(2, whenFull: .dropOldest))
    let subscription = hub.subscribe(on: .sender) { _ in }
    let prices = [("hub", "prices")]
    for event in 1...5 { hub.send(event) }
    await reporter.report()
    #expect(try gauge("multicast_receivers", prices) == 2)
    #expect(try gauge("multicast_pending", prices) == 2)
    #expect(try metrics.expectCounter("multicast_dropped_total", prices).totalValue == 3)
    #expect(try metrics.expectCounter("multicast_refused_total", prices).totalValue == 0)
    #expect(throws: (any Error).self) { try gauge("multicast_slowest_call_seconds", prices) }

    subscription.cancel()
    hub.send(6)
    hub.finish()
    for event in 7...8 { hub.send(event) }
    await reporter.report()
    await reporter.report()
    #expect(try gauge("multicast_receivers", prices) == 1)
    #expect(try metrics.expectCounter("multicast_dropped_total", prices).totalValue == 4)
    #expect(try metrics.expectCounter("multicast_refused_total", prices).totalValue == 2)
    withExtendedLifetime(sequence) {}
  }

  @Test func theLinesThatRegistered() async throws {
    let hub = TopicHub<String, Int>(name: "chat")
    let reporter = HubMetrics(of: hub, detail: .lines, factory: metrics)
    func events(_ topic: String) -> EventSequence<Int> {
      hub.events(
        for: topic, buffering: .bounded(1, whenFull: .dropOldest), label: "room", fileID: "A",
        line: 7)
    }
    var kept = [events("x"), events("x"), events("y")]
    for event in 1...3 { hub.send(event, to: "x") }
    await reporter.report()
    let x = [("hub", "chat"), ("line", "A:7"), ("label", "room"), ("topic", "x")]
    let y = [("hub", "chat"), ("line", "A:7"), ("label", "room"), ("topic", "y")]
    #expect(try gauge("multicast_line_receivers", x) == 2)
    #expect(try gauge("multicast_line_pending", x) == 2)
    #expect(try gauge("multicast_line_dropped", x) == 4)
    #expect(try gauge("multicast_line_delivered", x) == 0)
    #expect(try gauge("multicast_line_receivers", y) == 1)
    #expect(try gauge("multicast_line_dropped", y) == 0)
    #expect(try gauge("multicast_receivers", [("hub", "chat")]) == 3)

    kept.removeAll()
    await reporter.report()
    #expect(metrics.recorders(label: "multicast_line_receivers").isEmpty, "the lines are gone")
    #expect(try gauge("multicast_receivers", [("hub", "chat")]) == 0)
  }

  @Test func theSlowestCall() async throws {
    let hub = EventHub<Int>(name: "prices")
    hub.measureHandlers(sampling: 1)
    directory.add(hub)
    let reporter = HubMetrics(of: directory, label: "hubs", factory: metrics)
    let subscription = hub.subscribe(on: .sender) { _ in }
    hub.send(1)
    await reporter.report()
    let slowest = try #require(try gauge("hubs_slowest_call_seconds", [("hub", "prices")]))
    #expect(slowest == hub.snapshot.receivers.first?.timing?.slowest)
    subscription.cancel()
    await reporter.report()
    #expect(metrics.recorders(label: "hubs_slowest_call_seconds").isEmpty)
  }

  @Test func hubsOfOneNameCountTogetherAndThoseThatAreGoneAreDestroyed() async throws {
    let reporter = HubMetrics(of: directory, factory: metrics)
    var hubs: [EventHub<Int>] = (0..<3).map { _ in EventHub(name: "prices") }
    let nameless = EventHub<String>()
    for hub in hubs { directory.add(hub) }
    directory.add(nameless)
    let sequences = hubs.map { $0.events(buffering: .bounded(1, whenFull: .dropOldest)) }
    for (index, hub) in hubs.enumerated() {
      for event in 0...index { hub.send(event) }
    }
    await reporter.report()
    let prices = [("hub", "prices")]
    #expect(try gauge("multicast_receivers", prices) == 3)
    #expect(try metrics.expectCounter("multicast_dropped_total", prices).totalValue == 0 + 1 + 2)
    #expect(try gauge("multicast_receivers", [("hub", "EventHub<String>")]) == 0)

    hubs.removeFirst()
    hubs[0].send(9)
    await reporter.report()
    #expect(try gauge("multicast_receivers", prices) == 2)
    #expect(try metrics.expectCounter("multicast_dropped_total", prices).totalValue == 4)

    hubs.removeAll()
    await reporter.report()
    #expect(metrics.counters(label: "multicast_dropped_total").count == 1, "that of the other hub")
    withExtendedLifetime((sequences, nameless)) {}
  }

  @Test func aLaterHubAtTheSameAddressBeginsAtZero() async throws {
    let reporter = HubMetrics(of: directory, factory: metrics)
    let rounds = 100
    for round in 0..<rounds {
      let hub = EventHub<Int>(name: "prices")
      directory.add(hub)
      let sequence = hub.events(buffering: .bounded(1, whenFull: .dropOldest))
      for event in 0...(round % 7 + 1) { hub.send(event) }
      await reporter.report()
      withExtendedLifetime((sequence, hub)) {}
    }
    let expected = (0..<rounds).reduce(0) { $0 + $1 % 7 + 1 }
    let counter = try metrics.expectCounter("multicast_dropped_total", [("hub", "prices")])
    #expect(counter.totalValue == Int64(expected))
  }

  @Test func theDropsOfADelegateThatIsRemovedCount() async throws {
    let (logger, log) = makeLogger()
    let hub = MulticastDelegate<Delegate>(name: "views")
    directory.add(hub)
    let reporter = HubMetrics(of: directory, factory: metrics)
    let drops = DropLog(of: directory, logger: logger)
    let queue = DispatchQueue(label: "views")
    queue.suspend()
    let (first, second) = (Delegate(), Delegate())
    func add(_ delegate: Delegate, line: UInt) {
      hub.add(
        delegate, on: queue, buffering: .bounded(1, whenFull: .dropOldest), fileID: "A", line: line)
    }
    let counter = { try self.metrics.expectCounter("multicast_dropped_total", [("hub", "views")]) }
    add(first, line: 1)
    for _ in 1...6 { hub.invoke { _ in } }
    await reporter.report()
    await drops.report()
    #expect(try counter().totalValue == 5)

    for _ in 1...2 { hub.invoke { _ in } }
    hub.remove(first)
    add(second, line: 2)
    for _ in 1...4 { hub.invoke { _ in } }
    await reporter.report()
    await drops.report()
    #expect(try counter().totalValue == 5 + 2 + 3)
    #expect(log.entries.count == 2)
    #expect(log.entries.last?.metadata["dropped"] == "5")
    #expect(log.entries.last?.metadata["receivers"] == ["A:2: 3"])
    queue.resume()
    withExtendedLifetime((first, second)) {}
  }

  @Test func concurrentReportsCountNothingTwice() async throws {
    let hub = EventHub<Int>(name: "prices")
    directory.add(hub)
    let reporter = HubMetrics(of: directory, factory: metrics)
    let sequence = hub.events(buffering: .bounded(1, whenFull: .dropOldest))
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for event in 0..<250 {
            hub.send(event)
            await reporter.report()
          }
        }
      }
    }
    let counter = try metrics.expectCounter("multicast_dropped_total", [("hub", "prices")])
    #expect(counter.totalValue == 999)
    withExtendedLifetime(sequence) {}
  }

  @Test("a hub at the address of one that is gone counts from its own beginning")
  func hubsThatComeAndGo() async throws {
    let reporter = HubMetrics(of: directory, factory: metrics)
    let drops = 9
    let addHub: @Sendable (String) -> EventHub<Int> = { [directory] name in
      let hub = EventHub<Int>(name: name)
      directory.add(hub)
      let sequence = hub.events(buffering: .latest)
      for event in 0...drops { hub.send(event) }
      withExtendedLifetime(sequence) {}
      return hub
    }
    let reports = Task { while !Task.isCancelled { await reporter.report() } }
    var kept: [EventHub<Int>] = []
    for _ in 1...400 {
      // Reports see some of these hubs, whose memory those after them get.
      var leaving = (1...8).map { _ in addHub("gone") }
      await Task.yield()
      leaving.removeAll()
      kept += (1...8).map { _ in addHub("kept") }
    }
    reports.cancel()
    await reports.value
    await reporter.report()
    let counter = try metrics.expectCounter("multicast_dropped_total", [("hub", "kept")])
    #expect(Int(counter.totalValue) == kept.count * drops)
  }

  @Test func reportsComeAtOnceAfterEachIntervalAndAtTheEnd() async throws {
    let hub = EventHub<Int>(name: "prices")
    directory.add(hub)
    let reporter = HubMetrics(of: directory, factory: metrics)
    let clock = StepClock()
    let running = Task { await reporter.run(every: .seconds(10), clock: clock) }
    for reports in 1...3 {
      #expect(await clock.nextSleep() == .seconds(10))
      #expect(
        try metrics.expectGauge("multicast_receivers", [("hub", "prices")]).values.count == reports)
      if reports == 3 { running.cancel() }
      clock.step()
    }
    await running.value
    #expect(try metrics.expectGauge("multicast_receivers", [("hub", "prices")]).values.count == 4)
  }

  @Test func theFactoryIsThatOfTheCaller() async throws {
    let hub = EventHub<Int>(name: "prices")
    let reporter = withMetricsFactory(metrics) { HubMetrics(of: hub) }
    await reporter.report()
    #expect(try gauge("multicast_receivers", [("hub", "prices")]) == 0)
  }
}
