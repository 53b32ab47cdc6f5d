public import Synchronization

/// Which kinds of subscribers a hub has, or had: so that a hub with one kind pays for one.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
struct SubscriberKinds: ~Copyable, Sendable {
  /// A sum of the constants below.
  @usableFromInline let kinds = Atomic<UInt8>(0)

  /// A handler that the sender calls.
  @usableFromInline static var handler: UInt8 { 1 }
  /// A queue or a sequence: its buffer takes the event.
  @usableFromInline static var buffer: UInt8 { 2 }
  /// A handler that a sender calls with what its buffer has.
  @usableFromInline static var handlerWithBuffer: UInt8 { 4 }

  init() {}

  /// Whether an event has to be in every buffer before the first handler is called.
  @inlinable @inline(__always)
  var hasBuffersAndHandlers: Bool {
    let both = Self.handler | Self.buffer
    // Relaxed: a subscriber's kind is added before its entry is published, and this is read after
    // the entries were found, which acquires.
    return kinds.load(ordering: .relaxed) & both == both
  }

  /// Whether a handler may have something in its buffer.
  var hasHandlersWithBuffer: Bool {
    // Relaxed: as above.
    kinds.load(ordering: .relaxed) & Self.handlerWithBuffer != 0
  }

  /// Says that a subscriber of this kind is about to be added.
  borrowing func add(_ kind: UInt8) {
    // Relaxed: published with the entry.
    guard kinds.load(ordering: .relaxed) & kind == 0 else { return }
    kinds.bitwiseOr(kind, ordering: .relaxed)
  }
}
