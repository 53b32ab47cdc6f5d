import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A tight ring buffer behaves as an array of which the front is removed, with few free slots")
struct TightRingBufferTests {
  @Test("random appends and removals", arguments: [1, 10, 100, 5_000, .max])
  func againstAnArray(_ expected: Int) {
    var generator = SplitMix64(seed: SplitMix64.runSeed)
    var ring = TightRingBuffer<Int>(expected: expected)
    var array: [Int] = []
    for step in 0..<20_000 {
      if Int.random(in: 0..<100, using: &generator) < (step / 4000 % 2 == 0 ? 80 : 20) {
        ring.append(step)
        array.append(step)
      } else {
        let element = ring.popFirst()
        #expect(element == (array.isEmpty ? nil : array.removeFirst()))
      }
      let (count, capacity) = (ring.count, ring.capacity)
      #expect(count == array.count)
      #expect(capacity <= max(64, count + count / 2 + 1))
      if let offset = array.indices.randomElement(using: &generator) {
        let element = ring[offset]
        #expect(element == array[offset])
        ring[offset] = -step
        array[offset] = -step
      }
    }
    while let element = ring.popFirst() { #expect(element == array.removeFirst()) }
    #expect(array.isEmpty)
  }

  @Test("with a known number of elements there is no free slot")
  func expected() {
    var ring = TightRingBuffer<Int>(expected: 1_000)
    for number in 0..<1_000 { ring.append(number) }
    for number in 1_000..<5_000 {
      _ = ring.popFirst()
      ring.append(number)
    }
    let counts = (ring.count, ring.capacity, ring[0])
    #expect(counts == (1_000, 1_000, 4_000))
  }

  @Test("each element is destroyed once: when it is popped, replaced, or with the buffer")
  func lifetimes() {
    let tracker = LifetimeTracker()
    do {
      var ring = TightRingBuffer<RecordingActor>()
      for number in 0..<500 {
        ring.append(RecordingActor(tracker: tracker))
        if number % 3 == 0 { _ = ring.popFirst() }
      }
      ring[5] = RecordingActor(tracker: tracker)
      let (live, count) = (tracker.live, ring.count)
      #expect(live == count)
    }
    #expect(tracker.live == 0 && tracker.created == 501)
  }

  @Test("a slot of the log, which may be a hole, has the size of an envelope: 16 bytes")
  func slots() {
    #expect(MemoryLayout<Envelope?>.stride == 16)
  }
}
