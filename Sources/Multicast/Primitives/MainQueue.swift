internal import Dispatch

/// The queue of the main actor.
enum MainQueue {
  private static let key: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  /// Whether the calling code runs on it. The thread does not tell: on Linux any thread may serve
  /// the main queue.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
