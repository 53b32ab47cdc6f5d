/// What one delegate has received.
struct Summary: Sendable, Equatable {
  /// What the delegate does.
  let title: String
  /// The number of events it received.
  let received: Int
  /// Its results, a line each.
  var details: [String] = []
}
