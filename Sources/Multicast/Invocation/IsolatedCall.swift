/// An invocation that a hub makes on an actor, as the content of an envelope.
///
/// ## Thread safety
/// The actor makes its calls.
final class IsolatedCall: Sendable {
  /// Makes up to so many calls.
  ///
  /// - Returns: how many, and whether these were the last ones.
  let makeCalls: @Sendable (Int) -> (calls: Int, isComplete: Bool)

  init(_ makeCalls: @escaping @Sendable (Int) -> (calls: Int, isComplete: Bool)) {
    self.makeCalls = makeCalls
  }
}

/// Makes the calls of the invocations that wait in a mailbox: of each as many as a drain may make,
/// and the rest in the next one, so that other work of the actor runs between them.
///
/// ## Thread safety
/// The thread that drains the mailbox, which is on the actor. ``forget()``: after the last drain.
final class IsolatedCaller: ElementReceiver, @unchecked Sendable {
  // Sendable: see "Thread safety".

  let progress = ReceiverProgress()
  /// The invocation of which calls are left.
  // SAFETY, of unchecked exclusivity: one thread uses it, and no access runs other code.
  @exclusivity(unchecked) private var begun: IsolatedCall?

  override func receive(_ element: EnvelopeReference, for _: UnsafeMutablePointer<EntryHead>) {
    // SAFETY: the mailbox contains only such calls, and the rest of the one that has begun.
    let call =
      begun.take() ?? unsafeDowncast(element.object!.takeUnretainedValue(), to: IsolatedCall.self)
    let (calls, isComplete) = call.makeCalls(ReceiverProgress.share - progress.calls)
    progress.add(calls: calls, isComplete: isComplete)
    if !isComplete { begun = call }
  }

  /// Releases what was not called, because the actor is gone.
  func forget() { begun = nil }
}
