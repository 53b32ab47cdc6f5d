/// What not every registry has: a name, the calls of tasks, and an observer of its changes.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
class RegistryExtras: @unchecked Sendable {
  // Sendable: nothing changes; a subclass says why its own state may.

  /// The name of the hub.
  final let name: String?
  /// The calls of tasks, if the hub awaits its delegates.
  final let taskCalls: CallTracking?
  /// What the registry observes together with others.
  final let inspection: HubInspection?
  private let onChange: (@Sendable (Int) -> Void)?

  /// - Parameters:
  ///   - inspection: of the hub of topics to which the registry belongs.
  ///   - onChange: see ``entriesChanged(by:)``.
  init(
    _ name: String?, _ taskCalls: CallTracking? = nil, inspection: HubInspection? = nil,
    onChange: (@Sendable (Int) -> Void)? = nil
  ) {
    self.name = name
    self.taskCalls = taskCalls
    self.inspection = inspection
    self.onChange = onChange
  }

  /// Called after each change, outside of any lock, with the change of the number of entries.
  func entriesChanged(by difference: Int) { onChange?(difference) }
}

/// The entries that tasks are calling. (``ThreadCallStack`` tracks the calls of threads.)
///
/// A class and not a protocol, because a reference to it takes one word instead of two in each hub.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
class CallTracking: @unchecked Sendable {
  // Sendable: without state; the subclass says why it is.

  init() {}

  /// Whether any task is calling `entry`.
  func isCalled(_ entry: UnsafeRawPointer) -> Bool { false }

  /// Whether the current task, or one that waits for it, is calling `entry`.
  func isCalledByCurrentTask(_ entry: UnsafeRawPointer) -> Bool { false }
}
