/// What one delegate has received.
struct Summary: Sendable, Equatable {
  /// What the delegate does.
  let title: String
  /// How many events it was told about.
  let received: Int
  /// What it made of them, a line each.
  var details: [String] = []
}
