@testable import Multicast

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
