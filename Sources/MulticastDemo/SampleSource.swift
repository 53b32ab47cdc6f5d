import Synchronization

/// The built-in sample: an access log, the same each time.
final class SampleSource: EventSource {
  private let count: Int
  private let given = Atomic(0)

  init(count: Int) {
    self.count = count
  }

  var name: String { "the built-in sample" }

  /// What to match unless the user chooses: responses with a server error.
  var match: String { " 500" }

  var eventsRead: Int {
    // Relaxed: a count on its own. The reader has waited for the threads that took events.
    min(given.load(ordering: .relaxed), count)
  }

  func next() -> [Event]? {
    // Relaxed: adding makes each range of numbers go to one thread, and nothing else is shared.
    let start = given.wrappingAdd(Self.batch, ordering: .relaxed).oldValue
    guard start < count else { return nil }
    return (start..<min(start + Self.batch, count)).map(Self.event)
  }

  private static let batch = 100
  private static let methods = ["GET", "GET", "GET", "GET", "POST"]
  private static let paths = ["/", "/cart", "/login", "/search"]
  private static let statuses = [200, 200, 200, 304, 200, 404, 200, 500]

  private static func event(_ number: Int) -> Event {
    // Numbers that look random and are not; low clients are the busy ones.
    var random = UInt64(number) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    random = (random ^ (random >> 33)) &* 0xff51_afd7_ed55_8ccd
    func pick(_ bound: Int) -> Int {
      random = random >> 7 | random << 57
      return Int(random % UInt64(bound))
    }
    let client = pick(pick(8) + 1) + 1
    let method = methods[pick(methods.count)]
    let path = paths[pick(paths.count)]
    return Event("10.0.0.\(client) \(method) \(path) \(statuses[pick(statuses.count)])")
  }
}
