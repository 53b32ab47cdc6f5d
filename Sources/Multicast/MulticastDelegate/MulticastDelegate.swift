/// A delegate that is many delegates: holds them, in order, and calls a method on all of them.
///
/// ```swift
/// protocol DownloadDelegate: AnyObject, Sendable {
///   func didFinish(_ file: String)
/// }
///
/// let delegates = MulticastDelegate<any DownloadDelegate>()
/// delegates.add(logger)                          // weakly: gone when the logger is gone
/// delegates.add(index, ownership: .strong)
/// delegates.invoke { $0.didFinish("a.txt") }     // from any thread
/// ```
///
/// `Delegate` may be an existential (`any P`, whether or not `P` is bound to classes), a class, or
/// an actor. Delegates are recognised by identity, never by `==`. Value types can be added with
/// `ownership: .strong`; they have no identity, so only their ``Registration`` removes them.
///
/// `forEach(_:)` calls on the calling thread and stops at an error; ``results(_:)`` collects the
/// errors with the answers; ``invoke(_:)`` calls each delegate in its own context, which for one
/// with a queue is later.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a callback and from a `deinit`,
/// on this hub or on another. No lock is held while user code runs. The class is `Sendable` where
/// `Delegate` is.
public final class MulticastDelegate<Delegate> {
  @usableFromInline let registry: Registry

  /// Creates a hub without delegates.
  ///
  /// - Parameters:
  ///   - storage: how delegates are stored; the promises are the same for all strategies.
  ///   - duplicates: what ``add(_:ownership:)`` does with a delegate that is already registered.
  public init(storage: StorageStrategy = .waitFree, duplicates: DuplicatePolicy = .ignored) {
    registry = Registry(strategy: storage, duplicates: duplicates)
  }

  /// Creates a hub and adds `delegates`, weakly and in order.
  ///
  /// - Precondition: each of them is an instance of a class.
  public convenience init(_ delegates: some Sequence<Delegate>) {
    self.init()
    for delegate in delegates { add(delegate) }
  }

  deinit {
    // Registrations may outlive the hub: they become inactive now. Nobody is inside an invocation,
    // because whoever is holds the hub.
    registry.removeAll()
  }
}

// Sendable: the registry is, and what it holds is only handed to callbacks as `Delegate`.
extension MulticastDelegate: Sendable where Delegate: Sendable {}

// MARK: - Registration

extension MulticastDelegate {
  /// Adds `delegate` behind the others.
  ///
  /// An invocation that begins after this has returned calls it; one that has begun before does
  /// not.
  ///
  /// - Parameters:
  ///   - delegate: what to call.
  ///   - ownership: whether to keep it alive.
  /// - Returns: a handle to end the registration. Dropping the handle does not end it. If the
  ///   delegate is registered already, see ``DuplicatePolicy``.
  /// - Precondition: `delegate` is an instance of a class if `ownership` is `.weak`. A value type
  ///   would be lost at once.
  /// - Complexity: amortised O(1). With a strategy of which an invocation retains the list,
  ///   O(`count`) while one holds it.
  @discardableResult
  public func add(_ delegate: Delegate, ownership: Ownership = .weak) -> Registration<Delegate> {
    Registration(registry.add(delegate, ownership: ownership))
  }

  /// Removes every registration of `delegate`.
  ///
  /// It is not called any more, also not by an invocation that is under way. A call that had passed
  /// its check on another thread may still be running; see ``Registration/cancelAndWait()``. May be
  /// called from the `deinit` of `delegate`.
  ///
  /// - Returns: whether it was registered. A value type never is found: use its ``Registration``.
  ///   With portable weak references it may be `true` for the address of a dead one; see
  ///   <doc:Limitations>.
  /// - Complexity: amortised O(1) for each registration of `delegate`.
  @discardableResult
  public func remove(_ delegate: Delegate) -> Bool {
    registry.remove(delegate: delegate)
  }

  /// Removes every delegate.
  ///
  /// - Complexity: O(`count`).
  public func removeAll() {
    registry.removeAll()
  }

  /// Whether `delegate` is registered.
  ///
  /// - Complexity: O(1).
  public func contains(_ delegate: Delegate) -> Bool {
    registry.contains(delegate: delegate)
  }

  /// Removes the registrations of delegates that are gone.
  ///
  /// Nobody needs to call this: an invocation that comes across a dead delegate prunes, and so does
  /// `add` before it takes more memory. Until then a dead delegate costs its memory, without its
  /// properties.
  ///
  /// - Returns: how many were removed.
  /// - Complexity: O(`count`).
  @discardableResult
  public func prune() -> Int {
    registry.prune()
  }
}
