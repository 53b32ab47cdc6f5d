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
}
