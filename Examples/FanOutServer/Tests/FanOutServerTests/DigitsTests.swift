import Testing

@testable import FanOutCore

@Suite struct DigitsTests {
  @Test(arguments: [0, 1, 9, 10, 255, 256, 1_764_338_000_123_456, UInt64.max - 1, .max])
  func digitsAreThoseOfAString(_ number: UInt64) {
    for radix in [2, 8, 10, 16, 36] {
      let text = number.withDigits(radix: UInt64(radix)) { String(decoding: $0, as: UTF8.self) }
      #expect(text == String(number, radix: radix))
    }
  }
}
