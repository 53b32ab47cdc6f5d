import Testing

@testable import MulticastDemo

@Suite struct KeyCounterTests {
  @Test func keysAreListedByCountAndThenByName() {
    let counter = KeyCounter(field: 1, top: 2)
    for line in ["b 1", "a 2", "c", "b", "", "d"] { counter.didReceive(Event(line)) }
    let summary = counter.didFinish()
    #expect(summary.received == 6)
    #expect(summary.details == ["2 b", "1 a", "and 2 more", "1 without the field"])
  }

  @Test func theKeyIsTheFieldThatWasAskedFor() {
    let counter = KeyCounter(field: 2, top: 10)
    counter.didReceive(Event("a x"))
    counter.didReceive(Event("b x"))
    #expect(counter.didFinish().details == ["2 x"])
  }

  @Test func aTerminalDoesNotObeyAKey() {
    let counter = KeyCounter(field: 1, top: 10)
    counter.didReceive(Event("\u{1B}[2J"))
    #expect(counter.didFinish().details == ["1 \u{FFFD}[2J"])
  }
}
