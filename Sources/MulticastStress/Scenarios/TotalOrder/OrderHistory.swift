/// What the subscribers of a hub with one order for all have received.
struct OrderHistory {
  /// An event: its sender, and its number among those of the sender.
  struct Event: Hashable {
    let sender: Int
    let number: Int
  }

  /// What each subscriber received that was subscribed from beginning to end.
  var full: [[Event]] = []
  /// What each subscriber received that was subscribed for a while.
  var partial: [[Event]] = []
  /// How many events each sender has sent.
  var sent: [Int] = []

  /// What must not have happened, if anything.
  ///
  /// - Complexity: O(events).
  func violation() -> String? {
    guard let order = full.first else { return nil }
    var counts = [Int](repeating: 0, count: sent.count)
    for event in order {
      counts[event.sender] += 1
      if counts[event.sender] != event.number {
        return "\(event.number) of sender \(event.sender) came where \(counts[event.sender]) was "
          + "expected"
      }
    }
    if counts != sent { return "\(counts) events came, and \(sent) were sent" }
    for other in full.dropFirst() where other != order {
      return "two subscribers saw different orders"
    }
    var positions: [Event: Int] = [:]
    for (position, event) in order.enumerated() { positions[event] = position }
    for part in partial {
      guard let first = part.first else { continue }
      guard let position = positions[first], position + part.count <= order.count,
        part.elementsEqual(order[position..<(position + part.count)])
      else { return "a subscriber that left early saw another order, or a gap" }
    }
    return nil
  }
}
