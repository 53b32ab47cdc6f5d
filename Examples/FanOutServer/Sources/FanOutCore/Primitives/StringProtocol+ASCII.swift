extension StringProtocol {
  /// The first index of an ASCII character.
  ///
  /// It takes fewer instructions than `utf8.firstIndex(of:)`, which finds the storage of the string
  /// for each byte.
  func firstIndex(ofASCII character: UInt8) -> Index? {
    let offset = utf8.withContiguousStorageIfAvailable { $0.firstIndex(of: character) }
    guard let offset else { return utf8.firstIndex(of: character) }
    return offset.map { utf8.index(startIndex, offsetBy: $0) }
  }
}
