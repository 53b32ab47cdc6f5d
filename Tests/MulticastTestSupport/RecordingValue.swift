/// A delegate that is a value; its payload is too large for the inline buffer of an existential.
public struct RecordingValue: Listening, Sendable {
  public let id: Int
  private let journal: Journal
  private let payload: (Int, Int, Int)

  public init(_ id: Int, journal: Journal) {
    self.id = id
    self.journal = journal
    payload = (id, id + 1, id + 2)
  }

  public func receive(_ value: Int) {
    precondition(payload == (id, id + 1, id + 2), "a value was damaged")
    journal.record(id)
  }
}
