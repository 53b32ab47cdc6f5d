import MulticastTestSupport
import Testing

@testable import Multicast

/// What the log does, over an array of events.
private struct LogModel {
  struct Retained: Equatable {
    var number: UInt64
    var size: Int
    var time: Duration
  }

  let count: Int
  let bytes: Int
  var events: [Retained] = []
  var trimmedThrough: UInt64 = 0
  var newest: UInt64 = 0

  mutating func append(_ size: Int, _ now: Duration) {
    newest += 1
    events.append(Retained(number: newest, size: size, time: now))
    while events.count > count { trimOldest() }
    while events.reduce(0, { $0 + $1.size }) > bytes { trimOldest() }
  }

  mutating func trimOldest() { trimmedThrough = events.removeFirst().number }

  mutating func trim(through number: UInt64) {
    while let first = events.first, first.number <= number { trimOldest() }
  }

  func number(beforeLast count: Int) -> UInt64 {
    if count < events.count {
      return (events.map(\.number) + [newest + 1])[events.count - count] - 1
    }
    return events.first.map { $0.number - 1 } ?? newest
  }
}

@Suite("The log of a hub is an array of events, of which those that exceed a limit leave")
struct RetainedLogTests {
  @Test("random appends, replacements, trims and reads", arguments: 0..<40)
  func againstAModel(_ series: UInt64) {
    var generator = SplitMix64(seed: SplitMix64.runSeed &+ series &* 0x1_0000_0001)
    let limit = [1, 2, 3, 64, 200, .max].randomElement(using: &generator)!
    let bytes = [0, 10, 300, 5_000, .max].randomElement(using: &generator)!
    var log = RetainedLog(count: limit, bytes: bytes)
    var model = LogModel(count: limit, bytes: bytes)
    // Some series replace most events, so that holes are removed.
    let replacements = [0, 5, 60].randomElement(using: &generator)!
    for step in 0..<1_000 {
      var garbage = RetainedLog.Garbage()
      let choice = Int.random(in: 0..<100, using: &generator)
      if choice < replacements {
        // Not the newest: a newer event with the same key replaces it.
        let number = UInt64.random(in: 0...model.newest, using: &generator)
        guard number != model.newest else { continue }
        log.replace(number, &garbage)
        model.events.removeAll { $0.number == number }
      } else if choice == 99, step % 3 == 0 {
        let number = UInt64.random(in: 0...model.newest, using: &generator)
        log.trim(through: number, &garbage)
        model.trim(through: number)
      } else {
        let size = [0, 1, 9, 10, 11, 100].randomElement(using: &generator)!
        log.append(envelope(model.newest + 1, bytes), size: size, now: .zero, &garbage)
        model.append(bytes == .max ? 0 : size, .zero)
      }
      let count = log.count
      let range = (log.trimmedThrough, log.newestNumber)
      #expect(count == model.events.count)
      #expect(range == (model.trimmedThrough, model.newest))
      let ends = (log.oldest?.number, log.newest?.number)
      #expect(ends == (model.events.first?.number, model.events.last?.number))
      let last = Int.random(in: 0...count + 1, using: &generator)
      let beforeLast = log.number(beforeLast: last)
      #expect(beforeLast == model.number(beforeLast: last))
      expectRead(&log, model, &generator)
    }
  }

  /// Reads at a random number, in steps of random sizes.
  private func expectRead(
    _ log: inout RetainedLog, _ model: LogModel, _ generator: inout SplitMix64
  ) {
    var number = UInt64.random(in: model.trimmedThrough...model.newest, using: &generator)
    let expected = model.events.filter { $0.number > number }
    var read: [UInt64] = []
    var end: UInt64?
    while end != number {
      end = number
      var items = RingBuffer<RetainedLog.Item>()
      number = log.read(after: number, atMost: .random(in: 1...9, using: &generator), into: &items)
      while let item = items.popFirst() {
        read.append(item.number)
        let event = item.envelope.event(UInt64.self)
        #expect(event == item.number)
      }
      // Most reads are short, so that the test is.
      if read.count > 30 { break }
    }
    #expect(read.elementsEqual(expected.map(\.number).prefix(read.count)))
    #expect(read.count == expected.count || read.count > 30)
    if read.count == expected.count { #expect(number == model.newest || !read.isEmpty) }
  }

  private func envelope(_ number: UInt64, _ bytes: Int) -> Envelope {
    bytes == .max ? Envelope(event: number) : Envelope(EventBox(number))
  }

  @Test("events leave when they are older than the age, at the latest 1/64 of it later")
  func age() {
    var generator = SplitMix64(seed: SplitMix64.runSeed)
    var log = RetainedLog(count: .max, age: .seconds(64))
    var times: [Duration] = []
    var now = Duration.zero
    for step in 1...20_000 {
      now += .milliseconds(Int.random(in: 0..<[1, 40, 3_000].randomElement()!, using: &generator))
      if step % 5000 == 0 { now += .seconds(80) }
      var garbage = RetainedLog.Garbage()
      if Bool.random(using: &generator) {
        // A sender reads the clock before it is its turn.
        let time = max(.zero, now - .milliseconds(Int.random(in: 0..<10, using: &generator)))
        log.append(Envelope(event: step), size: 0, now: time, &garbage)
        times.append(time)
      } else {
        log.trim(now: now, &garbage)
      }
      let trimmed = Int(log.trimmedThrough)
      let count = log.count
      #expect(count + trimmed == times.count)
      if trimmed > 0 { #expect(times[trimmed - 1] + .seconds(64) <= now) }
      if count > 0, !times.isEmpty, step % 2 == 0 {
        log.trim(now: now, &garbage)
        let first = Int(log.trimmedThrough)
        let isKept = first < times.count
        if isKept { #expect(times[first] + .seconds(65) + .milliseconds(10) > now) }
      }
    }
    var garbage = RetainedLog.Garbage()
    log.trim(now: now + .seconds(66), &garbage)
    let rest = log.count
    #expect(rest == 0)
  }

  @Test("a log of one key has memory for few holes and few numbers")
  func memoryOfHoles() {
    var log = RetainedLog(count: .max)
    var garbage = RetainedLog.Garbage()
    for number in 1...2 { log.append(Envelope(event: number), size: 0, now: .zero, &garbage) }
    for number in 3...10_000 as ClosedRange<UInt64> {
      log.append(Envelope(event: number), size: 0, now: .zero, &garbage)
      // The first event stays, so no hole leaves at the front.
      log.replace(number - 1, &garbage)
      let (used, all) = (log.slots.count, log.slots.capacity)
      #expect(used <= 2 * 65 + 2 && all <= 200)
    }
    let kept = (log.count, log.oldest?.number, log.newest?.number)
    #expect(kept == (2, 1, 10_000))
  }

  @Test("sizes whose sum is more than an integer holds: the oldest events leave")
  func largeSizes() {
    var log = RetainedLog(count: .max, bytes: .max - 1)
    for number in 1...3 {
      var garbage = RetainedLog.Garbage()
      log.append(Envelope(EventBox(number)), size: .max - 1, now: .zero, &garbage)
      let kept = (log.count, log.newest?.number, log.trimmedThrough)
      #expect(kept == (1, UInt64(number), UInt64(number - 1)))
    }
    var garbage = RetainedLog.Garbage()
    log.append(Envelope(EventBox(4)), size: .max, now: .zero, &garbage)
    let kept = (log.count, log.trimmedThrough, log.newestNumber)
    #expect(kept == (0, 4, 4))
  }

  @Test("each event that has left is destroyed with the garbage, each other one with the log")
  func lifetimes() {
    let tracker = LifetimeTracker()
    do {
      var log = RetainedLog(count: 10)
      for number in 1...100 as ClosedRange<UInt64> {
        var garbage = RetainedLog.Garbage()
        log.append(Envelope(Tracked(tracker)), size: 0, now: .zero, &garbage)
        let before = tracker.live
        #expect(before <= 11)
        if number % 3 == 0 { log.replace(number - 1, &garbage) }
      }
      let (live, count) = (tracker.live, log.count)
      #expect(live == count)
    }
    #expect(tracker.live == 0 && tracker.created == 100)
  }
}

private final class Tracked: Sendable {
  let tracker: LifetimeTracker

  init(_ tracker: LifetimeTracker) {
    self.tracker = tracker
    tracker.noteCreation()
  }

  deinit { tracker.noteDestruction() }
}
