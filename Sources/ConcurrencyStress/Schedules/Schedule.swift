internal import Foundation

/// One run of a ``ScheduleTest``: what its body reports to.
///
/// ## Thread safety
/// Every operation may be called from any task of the schedule.
public final class Schedule: Sendable {
  /// Counts objects. A schedule fails if one is alive when all tasks have ended.
  public let lifetimes = LifetimeTracker()
  /// A clock for tasks that sleep.
  public let clock: ScheduleClock
  private let executor: ScheduleExecutor
  private let failures = Failures()

  init(_ executor: ScheduleExecutor) {
    self.executor = executor
    clock = ScheduleClock(executor: executor)
  }

  /// What broke, in the order of its discovery: the first five.
  var brokenPromises: [String] { failures.all }

  /// Records that the schedule broke a promise.
  ///
  /// - Parameter message: what broke, in a sentence without a full stop.
  public func fail(_ message: String) {
    failures.append(message)
  }

  /// Records that the schedule broke a promise unless `condition` holds.
  ///
  /// - Parameters:
  ///   - condition: what must hold.
  ///   - message: what broke; read only if it does not hold.
  public func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
  }

  /// Reports a step of the current task: a line of its column if the schedule fails.
  ///
  /// - Parameter text: a few words.
  public func note(_ text: String) {
    executor.note(text, column: Self.currentTask)
  }

  /// The name of the current task, or what tells it from others.
  private static var currentTask: String {
    if #available(macOS 26, iOS 26, tvOS 26, visionOS 26, *), let name = Task.name { return name }
    return withUnsafeCurrentTask { $0.map { "#\($0.hashValue)" } } ?? "#"
  }
}

/// What broke.
private final class Failures: @unchecked Sendable {
  // Sendable: `messages` is accessed under `lock` only.
  private let lock = NSLock()
  private var messages: [String] = []

  var all: [String] { lock.withLock { messages } }

  func append(_ message: String) {
    lock.withLock { if messages.count < 5 { messages.append(message) } }
  }
}
