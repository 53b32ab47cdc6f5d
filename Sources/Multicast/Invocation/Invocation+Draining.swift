// The consumer's side of an invocation: passes what waits in a mailbox to one entry.

internal import CMulticast
internal import Synchronization

extension Invocation {
  /// Passes each of `elements` to `deliver` while `entry` is active and its target alive.
  ///
  /// The frame holds the entry for all elements, so one barrier suffices: the state is loaded after
  /// it for each element, and a thread that makes the entry inactive either has that seen here, or
  /// finds the frame and waits until it changes.
  ///
  /// - Parameters:
  ///   - elements: those that are left if the entry is blocked or `deliver` ends the drain;
  ///     otherwise none.
  ///   - kept: an object that the caller keeps alive. It is not retained if it is the target.
  ///   - deliver: returns whether to go on.
  /// - Returns: the number of elements that were delivered. The others were destroyed.
  mutating func drain(
    _ elements: inout ItemBuffer, to entry: Unmanaged<Entry>,
    keeping kept: UnsafeRawPointer?, _ deliver: (EnvelopeReference) -> Bool
  ) -> Int {
    guard !elements.isEmpty else { return 0 }
    let head = entry.head
    // Releasing: what the last callback did happened before a waiter finds another entry here.
    frame.pointee.store(UnsafeRawPointer(entry.toOpaque()), ordering: .releasing)
    cmulticast_barrier_light(lightBarrierIsFence)
    let isPromoted = head.pointee.isWeak && !head.pointee.refers(to: kept)
    var delivered = 0
    var goesOn = true
    while goesOn, !elements.isEmpty {
      // Acquiring: pairs with the thread that removed the entry, or blocked it.
      let state = head.pointee.state.load(ordering: .acquiring)
      perturb()
      if state & EntryHead.blocked != 0 { break }
      // By hand, because the compiler would retain it for the call. Released at the end of the
      // round, also if it is not delivered. SAFETY: there is one, see the condition of the loop.
      let element = elements.popFirst().unsafelyUnwrapped.element.intoReference()
      defer { element.release() }
      guard EntryHead.isActive(state) else { continue }
      if isPromoted {
        guard let target = WeakReference(word: head.pointee.target).promote() else {
          sawDead = true
          continue
        }
        // If this is the last release, the delegate's `deinit` runs here, outside of any lock.
        defer { target.release() }
        goesOn = deliver(element)
      } else {
        goesOn = deliver(element)
      }
      delivered += 1
    }
    return delivered
  }
}

extension Invocation {
  /// Runs `body` if `entry` is active, its target alive, and it is not blocked: the usual case of
  /// ``drain(_:to:keeping:_:)``, with one element.
  ///
  /// - Returns: whether it was run.
  @inline(__always)
  func passOnly(
    _ entry: Unmanaged<Entry>, to body: (UnsafeMutablePointer<EntryHead>) -> Void
  ) -> Bool {
    let head = entry.head
    show(entry)
    let state = head.pointee.state.load(ordering: .acquiring)  // As in `drain`.
    perturb()
    guard EntryHead.isCallable(state) else { return false }
    var target: Unmanaged<AnyObject>?
    if head.pointee.isWeak {
      target = WeakReference(word: head.pointee.target).promote()
      if target == nil { return false }
    }
    defer { target?.release() }  // As in `drain`.
    body(head)
    return true
  }
}

extension EntryHead {
  /// Whether the target is `object`, which the caller keeps alive.
  fileprivate func refers(to object: UnsafeRawPointer?) -> Bool {
    isWeak && object != nil && address == Int(bitPattern: object)
      && !WeakReference(word: target).isStale
  }
}
