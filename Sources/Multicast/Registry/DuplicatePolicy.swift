/// What `add` does with a delegate that is already registered.
public enum DuplicatePolicy: Sendable, Hashable, CaseIterable {
  /// Keep the registration that exists, and return a handle of it. The default.
  ///
  /// If the new one asks for something that the registration does not give (strong ownership, a
  /// queue, another queue, another buffering), another registration takes its place in the order. It
  /// gives what either of the two gives: it is strong if one of them is, and the delegate is called
  /// on the queue that was named last. As with ``replaced``, the old handle has ended then, calls
  /// that wait for the old registration are discarded, also on the same queue, and no invocation
  /// calls both.
  case ignored
  /// Add another registration: the delegate is called once for each.
  case allowed
  /// Cancel the registration that exists, and add one at the end. No invocation calls both. One
  /// that is under way calls the old one if it gets there before; otherwise it calls neither, as if
  /// the delegate had been removed and added again. Calls that wait for the old one on its queue
  /// are discarded.
  case replaced
}
