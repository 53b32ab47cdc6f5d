internal import NIOConcurrencyHelpers

/// Counts the open streams of each holder of tokens, and of each address of clients.
final class StreamPlaces: Sendable {
  /// Who has too many streams.
  enum Full: Error {
    case token
    case address
  }

  fileprivate enum Owner: Hashable, Sendable {
    case token(TokenHolder)
    case address(NetworkAddress)
  }

  private let perToken: Int?
  private let perAddress: Int?
  private let counts = NIOLockedValueBox<[Owner: Int]>([:])

  /// `nil`: no limit.
  init(perToken: Int?, perAddress: Int?) {
    self.perToken = perToken
    self.perAddress = perAddress
  }

  /// Takes a place for a stream.
  ///
  /// - Parameters:
  ///   - holder: `nil`: the stream needs no token.
  ///   - address: that of the client; `nil`: it is unknown.
  /// - Returns: `nil` if the stream needs no place.
  func take(
    _ holder: TokenHolder?, _ address: NetworkAddress?
  ) throws(Full) -> StreamPlace? {
    let owners = [
      perToken.flatMap { limit in holder.map { (owner: Owner.token($0), limit: limit) } },
      perAddress.flatMap { limit in
        address.map { (owner: Owner.address($0.client), limit: limit) }
      },
    ].compactMap(\.self)
    guard !owners.isEmpty else { return nil }
    let full: Owner? = counts.withLockedValue { counts in
      for (owner, limit) in owners where counts[owner, default: 0] >= limit { return owner }
      for (owner, _) in owners { counts[owner, default: 0] += 1 }
      return nil
    }
    switch full {
    case .token: throw .token
    case .address: throw .address
    case nil: return StreamPlace(self, owners.map(\.owner))
    }
  }

  fileprivate func release(_ owners: [Owner]) {
    counts.withLockedValue { counts in
      for owner in owners {
        guard let count = counts[owner] else { continue }
        counts[owner] = count == 1 ? nil : count - 1
      }
    }
  }
}

/// The place of a stream, which its last reference gives back.
final class StreamPlace: Sendable {
  private let places: StreamPlaces
  private let owners: [StreamPlaces.Owner]

  fileprivate init(_ places: StreamPlaces, _ owners: [StreamPlaces.Owner]) {
    self.places = places
    self.owners = owners
  }

  deinit { places.release(owners) }
}
