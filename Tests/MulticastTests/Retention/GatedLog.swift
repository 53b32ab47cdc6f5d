@testable import Multicast

/// A log of which each page has all events up to one number, and some of those behind it.
struct OverlappingLog: ExternalLog {
  func page(
    of topics: [String], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Int>? {
    let numbers = [1, 2, 4].map { position.number + $0 }.filter { $0 <= last }
    return ExternalPage(
      numbers.map { .init(topic: topics[0], event: Int($0), number: $0) },
      through: min(last, position.number + 2))
  }

  func contains(_ position: EventPosition) async -> Bool? { nil }
}

/// Answers whether there is an event when its gate opens.
struct GatedLog: ExternalLog {
  let gate: AsyncStream<Void>
  /// The answer: `nil` if that is unknown.
  var isThere: Bool?

  /// A log that cannot be reached.
  static var unreachable: GatedLog { GatedLog(gate: AsyncStream { $0.finish() }) }

  func page(
    of topics: [String], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Int>? { nil }

  func contains(_ position: EventPosition) async -> Bool? {
    for await _ in gate {}
    return isThere
  }
}
