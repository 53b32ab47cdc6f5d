/// The place of an event among the events of a hub that retains: see ``EventHub/publish(_:)``.
///
/// Positions of one hub increase with each event, so a later event has a higher position. A hub
/// that begins anew, for example after a restart of the process, has another epoch: its positions
/// are not related to earlier ones, and a subscriber that continues after an earlier one receives a
/// notice (see ``MissedEvents``).
///
/// ```swift
/// let text = position.description        // "1f6c0e5a93b1d27c-42"
/// EventPosition(text) == position        // true
/// ```
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct EventPosition: Hashable, Sendable {
  /// Identifies the hub, and each of its beginnings.
  public let epoch: UInt64
  /// The number of the event: the first one of an epoch has number 1. 0: before the first event.
  public let number: UInt64

  /// Creates a position from its parts.
  ///
  /// - Parameters:
  ///   - epoch: that of the hub.
  ///   - number: that of the event.
  @inlinable
  public init(epoch: UInt64, number: UInt64) {
    self.epoch = epoch
    self.number = number
  }
}

extension EventPosition: Comparable {
  /// By number. Positions with different epochs are ordered by epoch, which tells nothing about
  /// time.
  ///
  /// - Parameters:
  ///   - left: a position.
  ///   - right: another position.
  /// - Returns: whether `left` is the earlier one.
  public static func < (left: EventPosition, right: EventPosition) -> Bool {
    (left.epoch, left.number) < (right.epoch, right.number)
  }
}

extension EventPosition: LosslessStringConvertible {
  /// The epoch as 16 hexadecimal digits, a hyphen and the number: for a client to keep and hand
  /// back.
  public var description: String {
    let epoch = String(epoch, radix: 16)
    return String(repeating: "0", count: 16 - epoch.utf8.count) + epoch + "-" + String(number)
  }

  /// Reads a description.
  ///
  /// - Parameter description: what ``description`` has returned, exactly.
  /// - Returns: `nil` for any other text.
  public init?(_ description: String) {
    let parts = description.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let epoch = UInt64(parts[0], radix: 16), let number = UInt64(parts[1])
    else { return nil }
    self.init(epoch: epoch, number: number)
    // `UInt64` also reads signs, capital letters and leading zeros.
    guard self.description == description else { return nil }
  }
}

extension EventPosition: Codable {
  /// Reads a position from its description.
  ///
  /// - Parameter decoder: has a string.
  /// - Throws: `DecodingError` if the text is not that of a position.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let position = EventPosition(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text)\" is not the position of an event")
    }
    self = position
  }

  /// Writes the description.
  ///
  /// - Parameter encoder: receives a string.
  /// - Throws: what `encoder` throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
