import Testing

@testable import FanOutLoad

@Suite struct PayloadTests {
  @Test(arguments: [33, 34, 100, 4_000])
  func readsWhatItWrites(size: Int) {
    let payload = Payload(sequence: 123_456, sentAt: .max - 7)
    let bytes = payload.encoded(size: size)
    #expect(bytes.count == size)
    #expect(bytes.allSatisfy { (0x20...0x7E).contains($0) })
    #expect(bytes.withUnsafeBytes { Payload($0) } == payload)
  }

  @Test(arguments: [
    "", "hello", "0000000000000001 000000000000000",
    "000000000000000g 0000000000000001", "0000000000000001-0000000000000001",
    "ffffffffffffffff 0000000000000001",
  ])
  func refusesOtherData(text: String) {
    #expect(Array(text.utf8).withUnsafeBytes { Payload($0) } == nil)
  }
}
