/// How a hub stores its delegates, and how an invocation reads them.
///
/// All strategies keep the same promises. They differ in cost, and in which threads wait for which;
/// the benchmark compares them.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum StorageStrategy: String, Sendable, Hashable, CaseIterable {
  /// A list under a lock. An invocation copies it, delegate by delegate. The simplest strategy, a
  /// reference for the others.
  case locked
  /// A list under a lock. An invocation retains it; a change copies it if an invocation holds it.
  case copyOnWrite
  /// As `copyOnWrite`, under a readers-writer lock.
  case readerWriterLock
  /// As `copyOnWrite`, on a concurrent `DispatchQueue` where changes are barriers.
  case barrierQueue
  /// A published list, guarded by a striped read indicator. The default. An invocation takes no
  /// lock except that of a delegate's mailbox, retains only weak delegates, each for its call, and,
  /// apart from their reference counts, does not contend for cache lines with other threads.
  case waitFree
}
