/// Whether a hub keeps a delegate alive.
public enum Ownership: Sendable, Hashable, CaseIterable {
  /// The hub does not keep the delegate alive. It is retained for exactly the duration of each
  /// call, and forgotten once it is gone. Only instances of classes and actors can be held weakly.
  case weak
  /// The hub keeps the delegate alive until it is removed, or the hub itself is gone.
  case strong
}

/// What `add` does with a delegate that is already registered.
public enum DuplicatePolicy: Sendable, Hashable, CaseIterable {
  /// Keep the registration that exists, and return a handle of it. The default.
  case ignored
  /// Add another registration: the delegate is called once for each.
  case allowed
  /// Cancel the registration that exists, and add one at the end. No invocation calls both. One
  /// that is under way calls the old one if it gets there before; otherwise it calls neither, as if
  /// the delegate had been removed and added again.
  case replaced
}

/// How a hub stores its delegates and how an invocation gets hold of them.
///
/// All strategies keep the same promises. They differ in cost, and in whom they make wait; the
/// benchmark compares them.
public enum StorageStrategy: String, Sendable, Hashable, CaseIterable {
  /// A list under a lock. An invocation copies it, delegate by delegate. The simplest one, to check
  /// the others by.
  case locked
  /// A list under a lock. An invocation retains it; a change copies it if an invocation holds it.
  case copyOnWrite
  /// As `copyOnWrite`, under a readers-writer lock.
  case readerWriterLock
  /// As `copyOnWrite`, on a concurrent `DispatchQueue` where changes are barriers.
  case barrierQueue
  /// A published list, guarded by striped reader counters. An invocation takes no lock, retains
  /// nothing, and writes no cache line that another thread's invocation writes. The default.
  case waitFree
}
