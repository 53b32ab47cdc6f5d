internal import HTTPTypes
internal import NIOConcurrencyHelpers

/// Counts the open streams of each holder of tokens.
final class StreamPlaces: Sendable {
  private let maximum: Int?
  private let counts = NIOLockedValueBox<[TokenHolder: Int]>([:])

  /// - Parameter maximum: that of one holder; `nil`: no limit.
  init(_ maximum: Int?) {
    self.maximum = maximum
  }

  /// Takes a place for a stream.
  ///
  /// - Parameter holder: `nil`: the stream needs no token, and no place.
  /// - Returns: `nil` if the stream needs no place.
  func take(_ holder: TokenHolder?) throws(RequestError) -> StreamPlace? {
    guard let maximum, let holder else { return nil }
    let isTaken = counts.withLockedValue { counts in
      let count = counts[holder, default: 0]
      guard count < maximum else { return false }
      counts[holder] = count + 1
      return true
    }
    guard isTaken else {
      throw RequestError(
        .tooManyRequests, "this token has too many streams", [.retryAfter: "1"])
    }
    return StreamPlace(self, holder)
  }

  fileprivate func release(_ holder: TokenHolder) {
    counts.withLockedValue { counts in
      guard let count = counts[holder] else { return }
      counts[holder] = count == 1 ? nil : count - 1
    }
  }
}

/// The place of a stream, which its last reference gives back.
final class StreamPlace: Sendable {
  private let places: StreamPlaces
  private let holder: TokenHolder

  fileprivate init(_ places: StreamPlaces, _ holder: TokenHolder) {
    self.places = places
    self.holder = holder
  }

  deinit { places.release(holder) }
}
