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
  /// A published list, guarded by striped reader counters. An invocation takes no lock but that of
  /// a delegate's buffer, retains nothing but a weak delegate for its call, and, apart from the
  /// reference count of such a delegate, writes no cache line that another thread's invocation goes
  /// on writing. The default.
  case waitFree
}
