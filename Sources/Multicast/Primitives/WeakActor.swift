/// A weak reference to an actor.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class WeakActor: @unchecked Sendable {
  // Sendable: immutable.

  // SAFETY: used only while `reference` has retained the actor.
  private unowned(unsafe) let actor: any Actor
  private let reference: WeakReference

  init(_ actor: any Actor) {
    self.actor = actor
    reference = WeakReference(actor)
  }

  deinit { reference.destroy() }

  /// The actor, or `nil` if its deinitialisation has begun.
  ///
  /// Never read this inside a critical section: the caller may become the last owner of the actor.
  var value: (any Actor)? {
    guard let target = reference.promote() else { return nil }
    defer { target.release() }
    return actor
  }

  /// Whether the deinitialisation of the actor has begun. Never read this inside a critical
  /// section: with portable weak references the caller may become the last owner of the actor.
  var isDead: Bool { reference.isDead }

  /// Whether another actor may have the same address now. Never read this inside a critical
  /// section, as ``value``.
  var isStale: Bool { reference.isStale }
}
