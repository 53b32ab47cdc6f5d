public import Synchronization

/// The kinds of subscribers that a hub has, or had: a hub with one kind delivers in one pass.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
struct SubscriberKinds: ~Copyable, Sendable {
  /// A set of the bits below.
  @usableFromInline let kinds = Atomic<UInt8>(0)

  /// A handler that the sender calls directly.
  @usableFromInline static var handler: UInt8 { 1 }
  /// A subscriber on a queue, on an actor or in a task, or a sequence: each has a buffer.
  @usableFromInline static var buffer: UInt8 { 2 }
  /// A handler with a buffer that senders drain.
  @usableFromInline static var handlerWithBuffer: UInt8 { 4 }

  /// A subscriber that sees task-local values of the sender.
  static var carrier: UInt8 { 8 }

  init() {}

  /// Whether an event must be in every buffer before the first handler is called.
  @inlinable @inline(__always)
  var hasBuffersAndHandlers: Bool {
    let both = Self.handler | Self.buffer
    // Relaxed: a subscriber's kind is added before its entry is published, and this is read after
    // the entries were loaded, which acquires.
    return kinds.load(ordering: .relaxed) & both == both
  }

  /// The number of passes over the subscribers in which a sender delivers an event.
  @inlinable @inline(__always)
  var passes: Int { hasBuffersAndHandlers ? 2 : 1 }

  /// Whether a subscriber with a buffer was added: a hint, read before the entries are loaded.
  @inlinable @inline(__always)
  var mayHaveBuffers: Bool {
    // Relaxed: either answer is right.
    kinds.load(ordering: .relaxed) & (Self.buffer | Self.handlerWithBuffer) != 0
  }

  /// Whether a handler without a buffer was added.
  var mayHaveHandlers: Bool {
    // Relaxed: as in `hasBuffersAndHandlers`; a handler that is being added need not be found.
    kinds.load(ordering: .relaxed) & Self.handler != 0
  }

  /// Whether the buffer of a handler may contain events.
  var hasHandlersWithBuffer: Bool {
    // Relaxed: as above.
    kinds.load(ordering: .relaxed) & Self.handlerWithBuffer != 0
  }

  /// Whether a subscriber may see task-local values of the sender.
  var hasCarriers: Bool {
    // Relaxed: an event that was sent concurrently with the subscription may carry no values. A
    // sender that must find it has taken the lock of the sequencer after the subscriber.
    kinds.load(ordering: .relaxed) & Self.carrier != 0
  }

  /// Adds the kind of a subscriber, before its entry is added.
  borrowing func add(_ kind: UInt8) {
    // Relaxed: published with the entry.
    guard kinds.load(ordering: .relaxed) & kind == 0 else { return }
    kinds.bitwiseOr(kind, ordering: .relaxed)
  }
}
