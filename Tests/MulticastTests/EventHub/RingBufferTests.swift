import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A ring buffer behaves as an array of which the front is removed")
struct RingBufferTests {
  @Test func againstAnArray() {
    var ring = RingBuffer<Int>()
    var array: [Int] = []
    var generator = SystemRandomNumberGenerator()
    for step in 0..<20_000 {
      if Int.random(in: 0..<100, using: &generator) < (step / 2000 % 2 == 0 ? 60 : 40) {
        ring.append(step)
        array.append(step)
      } else {
        let element = ring.popFirst()
        #expect(element == (array.isEmpty ? nil : array.removeFirst()))
      }
      let (count, isEmpty) = (ring.count, ring.isEmpty)
      #expect(count == array.count && isEmpty == array.isEmpty)
      if let offset = array.indices.randomElement() {
        let element = ring[offset]
        #expect(element == array[offset])
        ring[offset] = -step
        array[offset] = -step
      }
      if step % 4 == 0, let offset = array.indices.randomElement() {
        let found = ring.offset { $0 == array[offset] }
        #expect(found == offset)
        let element = ring.remove(at: offset)
        #expect(element == array.remove(at: offset))
        ring.append(element)
        array.append(element)
      }
    }
    while let element = ring.popFirst() { #expect(element == array.removeFirst()) }
    #expect(array.isEmpty)
  }

  @Test("each element is destroyed once: when it is popped, replaced, or with the buffer")
  func lifetimes() {
    let tracker = LifetimeTracker()
    do {
      var ring = RingBuffer<RecordingObserver>()
      // The elements wrap around the end of the slots, and the buffer grows and shrinks.
      for number in 0..<600 {
        ring.append(RecordingObserver(number, tracker: tracker))
        if number % 3 == 0 { _ = ring.popFirst() }
      }
      while ring.count > 10 { _ = ring.popFirst() }
      for _ in 0..<100 {
        ring.append(RecordingObserver(tracker: tracker))
        _ = ring.popFirst()
      }
      ring[3] = RecordingObserver(tracker: tracker)
      #expect(tracker.live == 10)
      for offset in [0, 8, 4] { _ = ring.remove(at: offset) }
      #expect(tracker.live == 7)
    }
    #expect(tracker.live == 0 && tracker.created == 701)
  }
}
