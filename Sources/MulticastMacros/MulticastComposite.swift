/// A delegate that forwards to many: what ``Multicast()`` generates.
///
/// If the delegates are not `Sendable`, the generated type has its own `add`, and `+=` unless the
/// protocol is nested in a type. They belong to the actor of the composite.
///
/// ## Thread safety
/// As ``MulticastDelegate``. The composite of a protocol that is isolated to an actor, and is not
/// `Sendable`, must be used on that actor.
public protocol MulticastComposite<Delegate>: AnyObject, SendableMetatype {
  /// The protocol whose calls the composite forwards.
  associatedtype Delegate

  /// The delegates. Expanded code uses it; others use the members below.
  nonisolated var _composition: Composition<Delegate> { get }

  /// `delegate` as an instance of a protocol that its own one refines. Expanded code uses it.
  nonisolated static func _refined<Refined>(_ delegate: Delegate, as _: Refined.Type) -> Refined?
}

/// The name of ``MulticastComposite`` in expanded code, for a place where a type of the user with
/// the same name would shadow it.
public typealias _MulticastComposite = MulticastComposite

/// The delegates of a composite, and the actor that they belong to.
///
/// ## Thread safety
/// Only composites use it, on their actor.
public struct Composition<Delegate>: @unchecked Sendable, CustomStringConvertible {
  // Sendable: `hub` is Sendable where its delegates are. Otherwise it is reached only through a
  // composite: one of a nonisolated protocol is not Sendable itself, and the members of one that
  // belongs to an actor check that they run there.

  @usableFromInline let hub: MulticastDelegate<Delegate>
  /// The actor of the composite.
  @usableFromInline let isolation: (any Actor)?
  /// Whether the delegates are Sendable: what a composite inherits from a protocol that is not must
  /// ask, because the compiler knows it where the composite is declared.
  @usableFromInline let areSendable: Bool

  /// Called by the initializer of a composite.
  ///
  /// - Parameters:
  ///   - hub: has the delegates.
  ///   - isolation: the actor of the composite, if it has one.
  public init(
    _ hub: MulticastDelegate<Delegate>, isolation: isolated (any Actor)? = #isolation
  ) {
    self.hub = hub
    self.isolation = isolation
    areSendable = false
  }

  /// As above, for delegates that any thread may use: requirements that the composite inherits
  /// from a protocol without isolation call them from anywhere.
  ///
  /// - Parameters:
  ///   - hub: has the delegates.
  ///   - isolation: the actor of the composite, if it has one.
  public init(
    _ hub: MulticastDelegate<Delegate>, isolation: isolated (any Actor)? = #isolation
  ) where Delegate: Sendable {
    self.hub = hub
    self.isolation = nil
    areSendable = true
  }

  /// Calls `body` with each delegate on the actor of the composite, as
  /// ``MulticastDelegate/invokeIsolated(isolation:_:)`` does. Called by the `invoke` of a
  /// composite, from any thread.
  ///
  /// - Parameter body: called with each delegate.
  /// - Returns: the number of delegates for which the call was enqueued; where weak references are
  ///   the portable ones, also of those that are gone and were not pruned yet.
  /// - Precondition: `body` belongs to the actor of the composite: delegates are used only there.
  /// - Complexity: O(`count`).
  @discardableResult
  public func invokeOnActor(
    _ body: @escaping @isolated(any) @Sendable (Delegate) -> Void
  ) -> Int {
    guard let isolation, isolation === body.isolation else {
      fatalError("Multicast: invoke takes a closure that belongs to the actor of the composite")
    }
    return hub.invokeOwned(on: isolation, body)
  }

  /// As above, for delegates that any thread may use.
  ///
  /// - Parameter body: called with each delegate.
  /// - Returns: the number of delegates for which the call was enqueued.
  /// - Complexity: O(`count`).
  @discardableResult
  public func invokeOnActor(
    _ body: @escaping @isolated(any) @Sendable (Delegate) -> Void
  ) -> Int where Delegate: Sendable {
    hub.uncheckedInvokeIsolated(isolation: nil, body)
  }

  /// The number of delegates, and the name of their protocol. Any thread may ask for it.
  ///
  /// - Complexity: O(`count`).
  public var description: String { hub.descriptionWithoutReading }

  /// The delegates, for a caller that may be on any thread.
  @inlinable
  func checkedHub() -> MulticastDelegate<Delegate> {
    isolation?.preconditionIsolated(
      "Multicast: this composite belongs to an actor and its protocol is not Sendable; use it there"
    )
    return hub
  }
}

extension MulticastComposite {
  /// Adds `delegate` after the others, as ``MulticastDelegate/add(_:ownership:label:fileID:line:)``
  /// does.
  ///
  /// - Parameters:
  ///   - delegate: compared by identity.
  ///   - ownership: whether the composite keeps it alive.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - isolation: the actor of the caller, to which the delegate stays bound. Leave it out.
  /// - Returns: a handle that can end the registration.
  /// - Precondition: the caller belongs to the actor of the composite, if it has one.
  /// - Complexity: as for the hub.
  @discardableResult
  public func add(
    _ delegate: Delegate, ownership: Ownership = .weak, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    isolation: isolated (any Actor)? = #isolation
  ) -> Registration<Delegate> {
    // That the caller happens to run there is not enough: the compiler would not bind the delegate
    // to it.
    require(
      _composition.isolation == nil || _composition.isolation === isolation,
      "Multicast: this composite belongs to an actor and its protocol is not Sendable; add there")
    return _composition.hub.add(
      delegate, ownership: ownership, label: label, fileID: fileID, line: line)
  }

  /// Removes every registration of `delegate`, as ``MulticastDelegate/remove(_:)`` does.
  ///
  /// - Parameter delegate: compared by identity.
  /// - Returns: whether it was registered.
  /// - Precondition: the caller runs on the actor of the composite, if it has one.
  /// - Complexity: as for the hub.
  @discardableResult
  public nonisolated func remove(_ delegate: Delegate) -> Bool {
    _composition.checkedHub().remove(delegate)
  }

  /// Removes every delegate.
  ///
  /// - Precondition: the caller runs on the actor of the composite, if it has one.
  /// - Complexity: O(`count`).
  public nonisolated func removeAll() {
    _composition.checkedHub().removeAll()
  }

  /// Whether `delegate` is registered.
  ///
  /// - Parameter delegate: compared by identity.
  /// - Returns: `true` if it has a registration. A value type never has.
  /// - Precondition: the caller runs on the actor of the composite, if it has one.
  /// - Complexity: O(1).
  public nonisolated func contains(_ delegate: Delegate) -> Bool {
    _composition.checkedHub().contains(delegate)
  }

  /// The number of registered delegates that are alive.
  ///
  /// - Precondition: the caller runs on the actor of the composite, if it has one.
  /// - Complexity: O(`count`).
  public nonisolated var count: Int { _composition.checkedHub().count }

  /// Whether no registered delegate is alive.
  ///
  /// - Precondition: the caller runs on the actor of the composite, if it has one.
  /// - Complexity: as for the hub.
  public nonisolated var isEmpty: Bool { _composition.checkedHub().isEmpty }

  /// Adds `delegate` weakly.
  ///
  /// - Parameters:
  ///   - composite: the composite.
  ///   - delegate: compared by identity.
  /// - Precondition: the caller runs on the actor of the composite, if it has one. `delegate` is
  ///   not used elsewhere afterwards.
  /// - Complexity: as for `add` of the hub.
  public static func += (composite: Self, delegate: Delegate) {
    composite._composition.checkedHub() += delegate
  }

  /// Removes every registration of `delegate`.
  ///
  /// - Parameters:
  ///   - composite: the composite.
  ///   - delegate: compared by identity.
  /// - Precondition: the caller runs on the actor of the composite, if it has one.
  /// - Complexity: as for `remove(_:)`.
  public static func -= (composite: Self, delegate: Delegate) {
    composite._composition.checkedHub().remove(delegate)
  }
}
