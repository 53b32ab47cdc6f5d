import Testing

@testable import MulticastDemo

@Suite struct SampleSourceTests {
  @Test(arguments: [0, 1, 99, 100, 101, 1000])
  func theSampleHasTheLengthThatWasAskedFor(_ count: Int) {
    let source = SampleSource(count: count)
    var events: [Event] = []
    while let next = source.next() { events += next }
    #expect(events.count == count)
    #expect(source.eventsRead == count)
    #expect(source.next() == nil)
    #expect(events.allSatisfy { $0.field(4) != nil })
  }

  @Test func theSampleIsTheSameEachTime() {
    #expect(SampleSource(count: 100).next() == SampleSource(count: 100).next())
  }
}
