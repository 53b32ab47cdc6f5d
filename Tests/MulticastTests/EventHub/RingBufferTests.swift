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
        #expect(ring.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
      }
      #expect(ring.count == array.count && ring.isEmpty == array.isEmpty)
      if let offset = array.indices.randomElement() {
        #expect(ring[offset] == array[offset])
        ring[offset] = -step
        array[offset] = -step
      }
    }
    while let element = ring.popFirst() { #expect(element == array.removeFirst()) }
    #expect(array.isEmpty)
  }

  @Test("moving the first elements to another buffer is popping and appending each")
  func moving() {
    var generator = SystemRandomNumberGenerator()
    var rings = [RingBuffer<Int>(), RingBuffer<Int>()]
    var arrays: [[Int]] = [[], []]
    for step in 0..<5000 {
      let source = Int.random(in: 0...1, using: &generator)
      for offset in 0..<Int.random(in: 0..<20, using: &generator) {
        rings[source].append(step + offset)
        arrays[source].append(step + offset)
      }
      let count = Int.random(in: 0...arrays[source].count, using: &generator)
      var from = rings[source]
      rings[1 - source].append(first: count, of: &from)
      rings[source] = from
      arrays[1 - source] += arrays[source].prefix(count)
      arrays[source].removeFirst(count)
      for (ring, array) in zip(rings, arrays) {
        #expect(ring.count == array.count && (0..<ring.count).allSatisfy { ring[$0] == array[$0] })
      }
      if step % 100 == 99 {
        while let element = rings[0].popFirst() { #expect(element == arrays[0].removeFirst()) }
      }
    }
  }

  @Test("a copy does not change with the original, and each element is destroyed once")
  func copies() {
    final class Element: Sendable {
      let tracker: LifetimeTracker
      init(_ tracker: LifetimeTracker) {
        self.tracker = tracker
        tracker.noteCreation()
      }
      deinit { tracker.noteDestruction() }
    }
    let tracker = LifetimeTracker()
    do {
      var ring = RingBuffer<Element>()
      for _ in 0..<100 { ring.append(Element(tracker)) }
      let copy = ring
      var other = RingBuffer<Element>()
      other.append(first: 60, of: &ring)
      #expect(ring.popFirst() === copy[60])
      #expect(copy.count == 100 && other.count == 60 && ring.count == 39)
      #expect((0..<60).allSatisfy { other[$0] === copy[$0] } && ring[0] === copy[61])
      #expect(tracker.destroyed == 0)
    }
    #expect(tracker.created == 100 && tracker.destroyed == 100)
  }
}
