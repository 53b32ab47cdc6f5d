/// What `add` does with a delegate that is already registered.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum DuplicatePolicy: Sendable, Hashable, CaseIterable {
  /// Keep the existing registration, and return a handle to it. The default.
  ///
  /// If the new one asks for something that the existing one does not give (strong ownership, a
  /// queue or an actor, another one, another buffering), or if a full buffer has disconnected the
  /// existing one, a merged registration replaces it at the same position. It is strong if either
  /// is, and calls the delegate on the queue or the actor that was named last. As with ``replace``,
  /// the old handle ends, calls that wait for the old registration are discarded, also on the same
  /// queue, and no invocation calls both.
  case ignore
  /// Add another registration: the delegate is called once for each.
  case allow
  /// Cancel the existing registration, and add one at the end. No invocation calls both. A running
  /// one calls the old registration if it reaches it before the change; otherwise it calls neither,
  /// as if the delegate had been removed and added again. Calls that wait for the old one on its
  /// queue or actor are discarded.
  case replace
}
