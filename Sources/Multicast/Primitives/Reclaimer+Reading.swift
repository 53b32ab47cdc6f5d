// How readers enter and leave a read section. See the head of Reclaimer.swift.

public import CMulticast
public import Synchronization

extension Reclaimer {
  /// Begins a read section: what the reader finds from now on is not freed until it leaves.
  ///
  /// - Parameters:
  ///   - frame: a frame of the thread that it uses until the section ends, and for no other
  ///     section.
  ///   - isFence: `cmulticast_light_barrier_must_fence()`.
  /// - Returns: the counter in which the reader is counted; `nil` if it is in the section of
  ///   `frame`.
  @inlinable @inline(__always)
  borrowing func enter(
    _ structure: Structure, _ thread: ThreadCallStack.Pointer,
    _ frame: UnsafeMutablePointer<ThreadCallStack.Frame>, isFence: Bool
  ) -> ReadIndicator.Ticket? {
    // Relaxed: a guess, which the second load checks. A section that is never stored is none for
    // which a collector waits.
    if _fastPath(!isFence), _fastPath(mode.load(ordering: .relaxed) == Self.biased) {
      // Releasing: as in `leave`, for a collector that finds this section instead of the last one.
      frame.section.pointee.store(structure, ordering: .releasing)
      cmulticast_barrier_light(isFence)
      perturb()
      // Acquiring: see the head of this file.
      if _fastPath(mode.load(ordering: .acquiring) == Self.biased) { return nil }
      return enterRevoked(structure, thread, frame)
    }
    return enterCounted(structure, thread)
  }

  /// Ends a read section, and collects if retired objects wait for its end.
  ///
  /// - Parameter ticket: the result of ``enter(_:_:_:isFence:)``.
  @inlinable @inline(__always)
  borrowing func leave(
    _ structure: Structure, _ frame: UnsafeMutablePointer<ThreadCallStack.Frame>,
    _ ticket: ReadIndicator.Ticket?
  ) {
    if let ticket { return leaveCounted(structure, ticket) }
    // Releasing: what the reader did happened before a collector finds that it has left.
    frame.section.pointee.store(nil, ordering: .releasing)
    cmulticast_barrier_light(false)
    // Relaxed: see the head of this file, and `leftWhilePending`.
    if _slowPath(role.load(ordering: .relaxed) != Self.idle) { leftWhilePending(structure, frame) }
  }

  /// Collects after a reader has left a section.
  @usableFromInline @inline(never)
  borrowing func leftWhilePending(
    _ structure: Structure, _ frame: UnsafeMutablePointer<ThreadCallStack.Frame>
  ) {
    // Sequentially consistent, as are the load of the role that follows, the store of the role
    // before another check, and the loads of sections: a collector that this thread relies on finds
    // that it has left.
    frame.section.pointee.store(nil, ordering: .sequentiallyConsistent)
    collect(structure)
  }

  /// Runs `body` inside a read section.
  @inlinable @inline(__always)
  borrowing func withReadSection<R, E>(
    _ structure: Structure, _ body: () throws(E) -> R
  ) throws(E) -> R {
    let thread = ThreadCallStack.current
    let frame = thread.pointee.top
    thread.pointee.top = frame + 1
    let ticket = enter(
      structure, thread, frame, isFence: cmulticast_light_barrier_must_fence())
    defer {
      thread.pointee.top = frame
      leave(structure, frame, ticket)
    }
    return try body()
  }

  /// As ``enterCounted(_:_:)``, after the structure turned out not to be biased any more.
  @usableFromInline @inline(never)
  borrowing func enterRevoked(
    _ structure: Structure, _ thread: ThreadCallStack.Pointer,
    _ frame: UnsafeMutablePointer<ThreadCallStack.Frame>
  ) -> ReadIndicator.Ticket {
    // A collector may have found the section, and waits for its end: as in `leftWhilePending`,
    // either a later check finds that it has ended, or this thread finds the role. It also
    // releases, for a collector that finds this instead of the last section's end.
    frame.section.pointee.store(nil, ordering: .sequentiallyConsistent)
    if role.load(ordering: .sequentiallyConsistent) != Self.idle { collect(structure) }
    return enterCounted(structure, thread)
  }

  @usableFromInline @inline(never)
  borrowing func enterCounted(
    _ structure: Structure, _ thread: ThreadCallStack.Pointer
  ) -> ReadIndicator.Ticket {
    thread.pointee.countedSections += 1
    if thread.pointee.countedSections >= Self.sectionsBetweenChecks {
      thread.pointee.countedSections = 0
      checkForQuiet(structure)
    }
    return readers.enter(thread)
  }

  @usableFromInline @inline(never)
  borrowing func leaveCounted(_ structure: Structure, _ ticket: ReadIndicator.Ticket) {
    readers.leave(ticket)
    // Sequentially consistent: see `collect`.
    guard role.load(ordering: .sequentiallyConsistent) != Self.idle else { return }
    if readers.isDraining(ticket) { collect(structure) }
  }

  /// The number of counted read sections of a thread between two checks. A prime number: a thread
  /// that reads several structures in rotation checks each of them.
  static var sectionsBetweenChecks: Int { 61 }

  /// How long nothing must have been retired, in revocations. They take at most a tenth of the
  /// time.
  private static var quietRevocations: UInt64 { 9 }

  /// Makes the structure biased if nothing was retired for long enough.
  private borrowing func checkForQuiet(_ structure: Structure) {
    guard !cmulticast_light_barrier_must_fence() else { return }
    // Acquires from the last collector. It fails if an object is retired, or another thread checks.
    guard
      role.compareExchange(
        expected: Self.idle, desired: Self.collecting, ordering: .acquiring
      ).exchanged
    else { return }
    let now = cmulticast_monotonic_nanoseconds()
    // Relaxed: only the collector changes it.
    if mode.load(ordering: .relaxed) == Self.quiet {
      // Relaxed: see their declarations.
      let duration = now - quietSince.load(ordering: .relaxed)
      if duration >= Self.quietRevocations * UInt64(revocationTime.load(ordering: .relaxed)) {
        // Releasing: see the head of this file.
        mode.store(Self.biased, ordering: .releasing)
      }
    } else if mode.load(ordering: .relaxed) == Self.counted {
      quietSince.store(now, ordering: .relaxed)
      // Relaxed: only the biased mode lets a reader do less.
      mode.store(Self.quiet, ordering: .relaxed)
    }
    collectAndLeaveRole(structure)
  }
}
