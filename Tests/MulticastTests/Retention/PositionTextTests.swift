import Foundation
import Multicast
import MulticastTestSupport
import Testing

@Suite("A position is a short string that can be handed to a client and taken back")
struct PositionTextTests {
  @Test("every position is what its description reads")
  func roundTrip() throws {
    var generator = SplitMix64(seed: SplitMix64.runSeed)
    for step in 0..<2_000 {
      let shift = UInt64(step % 64)
      let position = EventPosition(
        epoch: generator.next() >> shift, number: generator.next() >> (63 - shift))
      let text = position.description
      #expect(EventPosition(text) == position)
      #expect(text.utf8.count <= 16 + 1 + 20)
      #expect("\(position)" == text)
      let data = try JSONEncoder().encode([position])
      #expect(String(decoding: data, as: UTF8.self) == "[\"\(text)\"]")
      #expect(try JSONDecoder().decode([EventPosition].self, from: data) == [position])
    }
    #expect(EventPosition(epoch: 7, number: 42).description == "0000000000000007-42")
    #expect(EventPosition(epoch: .max, number: .max).description.hasPrefix("ffffffffffffffff-1844"))
  }

  @Test(
    "any other text is refused",
    arguments: [
      "", "-", "7-42", "0000000000000007", "0000000000000007-", "-42", "0000000000000007-042",
      "0000000000000007-+42", "0000000000000007--42", "000000000000000A-1", "000000000000000g-1",
      "00000000000000007-1", "0000000000000007-18446744073709551616", "0000000000000007-1 ",
      " 0000000000000007-1", "0000000000000007-1\n", "+000000000000007-1", "0000000000000007-1-1",
      "0000000000000007\u{2013}1", "0000000000000007-\u{0661}", "0000000000000007-1\u{301}",
    ])
  func otherText(_ text: String) throws {
    #expect(EventPosition(text) == nil)
    let data = try JSONEncoder().encode([text])
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([EventPosition].self, from: data)
    }
    guard case .dataCorrupted(let context)? = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
    #expect(context.debugDescription.contains("is not the position of an event"))
  }

  @Test("positions are ordered by their numbers")
  func order() {
    let positions = (0..<5).map { EventPosition(epoch: 1, number: $0) }
    #expect(positions.shuffled().sorted() == positions)
    #expect(positions[4] < EventPosition(epoch: 2, number: 0))
  }

  @Test("hubs have different epochs, unless they are given")
  func epochs() {
    let epochs = (0..<100).map { _ in EventHub<Int>(retention: .last(1)).newestPosition.epoch }
    #expect(Set(epochs).count == 100 && !epochs.contains(0))
    #expect(EventHub<Int>(retention: .last(1), epoch: 5).newestPosition.epoch == 5)
    #expect(
      EventHub(initialValue: 1, epoch: 6).newestPosition == EventPosition(epoch: 6, number: 1))
  }
}
