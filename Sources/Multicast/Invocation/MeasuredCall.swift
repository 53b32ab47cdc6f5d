internal import Synchronization

/// The measurement of a call of an entry, if the calls of that are measured.
@usableFromInline
struct MeasuredCall {
  // SAFETY: the caller holds the entry, which owns its timer, until ``end()`` has returned.
  private let timer: Unmanaged<CallTimer>?
  private let began: UInt64

  @usableFromInline @inline(never)
  init(of head: UnsafeMutablePointer<EntryHead>) {
    timer = head.pointee.timer
    began = timer?._withUnsafeGuaranteedRef { $0.begin() } ?? 0
  }

  /// The call has ended. Runs user code if it took long.
  @usableFromInline @inline(never)
  func end() {
    timer?._withUnsafeGuaranteedRef { $0.end(began) }
  }
}

extension EntryHead {
  /// Measures the calls of a delegate; `nil` if they are not measured, or the entry is not a
  /// delegate's. The entry keeps it.
  @inline(__always) var timer: Unmanaged<CallTimer>? {
    // Relaxed: this bit never changes while the entry is active.
    guard state.load(ordering: .relaxed) & EntryHead.isMeasured != 0 else { return nil }
    return origin.timer
  }
}

/// What an invocation retains for a call that is timed, in place of the target: its release ends
/// the call. So the loop over delegates, which releases what it has retained, has nothing to do for
/// the measurement.
final class TimedTarget {
  private let target: Unmanaged<AnyObject>?
  // SAFETY: the caller holds the entry, which owns its timer, until it has released this.
  private let timer: Unmanaged<CallTimer>
  private let began: UInt64

  private init(
    _ target: Unmanaged<AnyObject>?, _ timer: Unmanaged<CallTimer>, _ began: UInt64
  ) {
    self.target = target
    self.timer = timer
    self.began = began
  }

  /// Runs user code if the call took long, or the target dies.
  deinit {
    timer._withUnsafeGuaranteedRef { $0.end(began) }
    target?.release()
  }

  /// Counts a call.
  ///
  /// - Parameter target: retained for the call; `nil`: the entry keeps it.
  /// - Returns: what to release at its end: the target, unless the call is timed.
  @inline(__always)
  static func beginCall(
    _ timer: Unmanaged<CallTimer>, _ target: Unmanaged<AnyObject>?
  ) -> Unmanaged<AnyObject>? {
    let began = timer._withUnsafeGuaranteedRef { $0.begin() }
    guard began != 0 else { return target }
    return .passRetained(TimedTarget(target, timer, began))
  }
}
