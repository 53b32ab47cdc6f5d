internal import CMulticast
public import Synchronization

/// The identity of a task, unique while the task exists.
@usableFromInline
struct TaskIdentity: RawRepresentable, AtomicRepresentable, Equatable, Sendable {
  /// The address of the task, or zero.
  @usableFromInline let rawValue: UInt

  @usableFromInline
  init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// No task.
  @usableFromInline static var none: TaskIdentity { TaskIdentity(rawValue: 0) }

  /// The task that runs on this thread, or `none`.
  @usableFromInline static var current: TaskIdentity {
    #if MULTICAST_PORTABLE_WEAK
      // SAFETY: `UnsafeCurrentTask` is just a reference to the task (`RuntimeContract` checks its
      // size). The address is only compared, never dereferenced.
      withUnsafeCurrentTask { task in
        TaskIdentity(rawValue: task.map { unsafeBitCast($0, to: UInt.self) } ?? 0)
      }
    #else
      TaskIdentity(rawValue: cmulticast_task_current())
    #endif
  }

  /// The number of the task that runs on this thread, which no other task of the process ever has;
  /// zero if there is none.
  static var currentNumber: UInt64 { cmulticast_task_number() }

  /// Whether the task that runs on this thread is cancelled.
  static var isCurrentCancelled: Bool {
    #if MULTICAST_PORTABLE_WEAK
      Task.isCancelled
    #else
      // As `Task.isCancelled`, which retains and releases the task in addition.
      cmulticast_task_is_cancelled()
    #endif
  }
}
