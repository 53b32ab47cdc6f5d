import Testing

@testable import MulticastDemo

@Suite struct RateMeterTests {
  /// A clock that stands still until it is moved.
  private final class Clock: Sendable {
    let start = ContinuousClock.now
    let elapsed = Locked(Duration.zero)
    var now: ContinuousClock.Instant { elapsed.withLock { start + $0 } }
  }

  @Test func progressIsPrintedOncePerIntervalAndOnRequest() {
    let clock = Clock()
    let printed = Locked<[String]>([])
    let meter = RateMeter(
      every: .seconds(1), now: { clock.now },
      print: { line in printed.withLock { $0.append(line) } })
    meter.didReceive(Event("a"))
    clock.elapsed.withLock { $0 = .seconds(2) }
    meter.didReceive(Event("b"))
    meter.didReceive(Event("c"))
    clock.elapsed.withLock { $0 = .seconds(4) }
    meter.printProgress()
    #expect(meter.didFinish() == Summary(title: "rate", received: 3))
    #expect(printed.withLock { $0 } == ["2 lines, 1 per second", "3 lines, 0 per second"])
  }

  @Test func aRunThatTookNoTimeHasNoRate() {
    let clock = Clock()
    let printed = Locked<[String]>([])
    let meter = RateMeter(
      now: { clock.now }, print: { line in printed.withLock { $0.append(line) } })
    meter.printProgress()
    #expect(printed.withLock { $0 } == ["0 lines, 0 per second"])
  }
}
