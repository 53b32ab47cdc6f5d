extension UInt64 {
  /// Calls `body` with the digits of the number in ASCII, without making a string of them. Digits
  /// above 9 are small letters.
  ///
  /// - Parameter radix: 2 to 36.
  func withDigits<Result>(
    radix: UInt64 = 10, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    // SAFETY: every byte from `first` on is initialised before `body` reads it, and bytes need no
    // deinitialisation.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { digits in
      var first = digits.count
      var rest = self
      repeat {
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: radix)
        first -= 1
        let zero = digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10
        digits.initializeElement(at: first, to: zero + UInt8(digit))
        rest = quotient
      } while rest > 0
      return body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: digits[first...])))
    }
  }
}
