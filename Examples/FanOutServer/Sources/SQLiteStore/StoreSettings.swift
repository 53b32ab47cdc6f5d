/// Where a server stores its events, and which of them it keeps.
public struct StoreSettings: Sendable {
  /// The folder. The store creates it, but not the folder above it.
  public var folder: String
  /// How many events of all topics together the store keeps; the oldest ones leave first.
  public var maxEvents = 1_000_000
  /// The size of the database. Its write-ahead log takes some megabytes more.
  public var maxBytes = 1 << 30
  /// For how long the store keeps an event, in whole seconds: a fraction does not count. `nil`: no
  /// limit.
  public var maxAge: Duration?

  public init(folder: String) {
    self.folder = folder
  }
}
