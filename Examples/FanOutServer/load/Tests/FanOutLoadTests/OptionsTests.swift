import ArgumentParser
import Testing

@testable import FanOutLoad

@Suite struct OptionsTests {
  @Test func topicsReplaceEveryPlaceholder() {
    #expect(PathTemplate("/topics/{topic}/events")?.path(topic: "a") == "/topics/a/events")
    #expect(PathTemplate("/{topic}/{topic}")?.path(topic: "b") == "/b/b")
    #expect(PathTemplate("/pub?id={topic}")?.path(topic: "c") == "/pub?id=c")
  }

  @Test(arguments: [
    "", "/topics", "topics/{topic}", "/a b/{topic}", "/{topic}\r\nX: y", "/ä/{topic}",
  ])
  func otherTemplatesAreRefused(text: String) {
    #expect(PathTemplate(text) == nil)
  }

  @Test(arguments: [
    ["--port", "0"], ["--streams", "0"], ["--rate", "-1"], ["--payload", "32"], ["--loops", "0"],
    ["--warm-up", "0"], ["--events", "-1"], ["--seconds", "0"], ["--rate", "nan"],
    ["--events", "1", "--seconds", "1"], ["--topic", ""], ["--topic", "a b"],
    ["--publish-path", "/publish"], ["--pid", "x"], ["--unknown"],
  ])
  func badOptionsAreRefused(arguments: [String]) {
    #expect(throws: (any Error).self) { try FanOutLoad.parse(arguments) }
  }

  @Test func eventsAreDueEvenlyAndTheLastIsWithinTheTime() {
    let schedule = Schedule(rate: 200, window: 0, extent: .seconds(0.5))
    #expect(schedule.due(100) == 500_000_000)
    #expect(schedule.includes(99, elapsed: 0))
    #expect(!schedule.includes(100, elapsed: 0))
    #expect(!schedule.includes(3, elapsed: 600_000_000))
    let counted = Schedule(rate: 0, window: 1, extent: .events(7))
    #expect(counted.due(3) == 0)
    #expect(counted.includes(6, elapsed: .max))
    #expect(!counted.includes(7, elapsed: 0))
  }
}
