internal import Synchronization

/// A reference that readers of a ``PatternIndex`` follow. It does not keep the object alive: the
/// index does, and then the read sections that were open when the object was unlinked.
///
/// ## Thread safety
/// Any thread may call ``load()``, inside a read section of the index; only a thread that holds the
/// lock of the index may call the rest.
struct PatternLink<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // Sendable: the reference is atomic. What a thread may do with the object is the matter of its
  // type.
  private let object: Atomic<Unmanaged<Object>?>

  init(_ object: Object? = nil) {
    self.object = Atomic(object.map(Unmanaged.passUnretained))
  }

  /// The object, which the read section keeps alive.
  @inline(__always)
  borrowing func load() -> Unmanaged<Object>? {
    // Sequentially consistent: see `ReadIndicator`.
    object.load(ordering: .sequentiallyConsistent)
  }

  /// The object, for a writer.
  var current: Object? {
    // Relaxed: the caller holds the lock under which it changes.
    // SAFETY: the index keeps what is linked.
    object.load(ordering: .relaxed)?.takeUnretainedValue()
  }

  /// Publishes an object with its contents, and unlinks the previous one.
  borrowing func store(_ new: Object?) {
    // Sequentially consistent: see `ReadIndicator`.
    _ = object.exchange(new.map(Unmanaged.passUnretained), ordering: .sequentiallyConsistent)
  }
}
