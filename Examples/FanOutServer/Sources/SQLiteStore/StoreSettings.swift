/// Where a server stores its events, and which of them it keeps.
public struct StoreSettings: Sendable {
  /// The folder. The store creates it, but not the folder above it.
  public var folder: String
  /// How many events of all topics together the store keeps; the oldest ones leave first.
  public var maxEvents = 1_000_000
  /// The size of the database. Its write-ahead log takes some megabytes more.
  public var maxBytes = 1 << 30
  /// The size of the write-ahead log that is too large: the store takes no more events if it cannot
  /// write the log to the database.
  var maxLogBytes = 256 << 20
  /// How many seconds the store waits for other programs that use the database.
  var patience = 5.0
  /// For how long the store keeps an event, in whole seconds: a fraction does not count. `nil`: no
  /// limit.
  public var maxAge: Duration?

  public init(folder: String) {
    self.folder = folder
  }
}
