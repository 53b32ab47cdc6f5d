/// What the subscribers of a hub with one order for all have received.
struct OrderHistory {
  /// An event: who has sent it, and as which of its events.
  struct Event: Hashable {
    let sender: Int
    let number: Int
  }

  /// What a subscriber has received that was there from beginning to end.
  var full: [[Event]] = []
  /// What one has received that was there for a while.
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
          + "to come"
      }
    }
    if counts != sent { return "\(counts) events came, and \(sent) were sent" }
    for other in full.dropFirst() where other != order {
      return "two subscribers saw different orders"
    }
    var places: [Event: Int] = [:]
    for (place, event) in order.enumerated() { places[event] = place }
    for part in partial {
      guard let first = part.first else { continue }
      guard let place = places[first], place + part.count <= order.count,
        part.elementsEqual(order[place..<(place + part.count)])
      else { return "a subscriber that was there for a while saw another order, or a gap" }
    }
    return nil
  }
}
