/// A delegate that counts the events for each key: a field of the line.
final class KeyCounter: EventDelegate {
  private let field: Int
  private let top: Int
  private let counts = Locked(Counts())

  private struct Counts {
    var byKey: [String: Int] = [:]
    var withoutKey = 0
  }

  /// - Parameters:
  ///   - field: which field of the line is the key, counting from one.
  ///   - top: how many keys to list.
  init(field: Int, top: Int) {
    self.field = field
    self.top = top
  }

  func didReceive(_ event: Event) {
    // Whatever can be done outside the lock is.
    let key = event.field(field)
    counts.withLock { counts in
      if let key {
        counts.byKey[key, default: 0] += 1
      } else {
        counts.withoutKey += 1
      }
    }
  }

  func didFinish() -> Summary {
    let counts = counts.withLock { $0 }
    let keys = counts.byKey.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    var details = keys.prefix(top).map { "\($0.value) \($0.key.printable)" }
    if keys.count > top { details.append("and \(keys.count - top) more") }
    if counts.withoutKey > 0 { details.append("\(counts.withoutKey) without the field") }
    return Summary(
      title: "keys, field \(field)",
      received: counts.byKey.values.reduce(counts.withoutKey, +),
      details: details)
  }
}
