/// A list of delegates, held weakly or strongly, whose methods are called in registration order.
///
/// ```swift
/// nonisolated protocol DownloadDelegate: AnyObject, Sendable {
///   func didFinish(_ file: String)
/// }
///
/// let delegates = MulticastDelegate<any DownloadDelegate>()
/// delegates.add(logger)                          // weak: ends when the logger is deallocated
/// delegates.add(index, ownership: .strong)
/// delegates.invoke { $0.didFinish("a.txt") }     // from any thread
/// ```
///
/// `Delegate` may be an existential (`any P`, whether or not `P` is class-bound), a class, or an
/// actor. Delegates are compared by identity, never by `==`. Value types can be added with
/// `ownership: .strong`. They have no identity, so only their ``Registration`` and ``removeAll()``
/// remove them.
///
/// `forEach(_:)` calls on the calling thread and stops at the first error. ``results(_:)`` collects
/// results and errors. ``invoke(_:)`` calls each delegate in its own context: on the calling
/// thread, or later on the delegate's queue or actor.
///
/// ## Thread safety
/// Every operation may be called from any thread, also inside a callback and in a `deinit`, on this
/// hub or on another. No lock is held while user code runs. The class is `Sendable` where
/// `Delegate` is.
public final class MulticastDelegate<Delegate>: Unreflected {
  @usableFromInline let registry: Registry
  let isolatedCalls = IsolatedCalls()

  /// Creates a hub without delegates.
  ///
  /// - Parameters:
  ///   - storage: how delegates are stored; the promises are the same for all strategies.
  ///   - duplicates: what `add` does with a delegate that is already registered.
  ///   - name: identifies the hub in descriptions and messages.
  /// - Complexity: O(1).
  public init(
    storage: StorageStrategy = .waitFree, duplicates: DuplicatePolicy = .ignore,
    name: String? = nil
  ) {
    registry = Registry(strategy: storage, duplicates: duplicates, name: name)
  }

  /// Creates a hub and adds `delegates` weakly, in order.
  ///
  /// - Parameters:
  ///   - delegates: the delegates to add.
  ///   - storage: how delegates are stored; the promises are the same for all strategies.
  ///   - duplicates: what becomes of a delegate that comes again.
  ///   - name: identifies the hub in descriptions and messages.
  /// - Precondition: each delegate is an instance of a class.
  /// - Complexity: O(`delegates`).
  public convenience init(
    _ delegates: [Delegate], storage: StorageStrategy = .waitFree,
    duplicates: DuplicatePolicy = .ignore, name: String? = nil
  ) {
    self.init(storage: storage, duplicates: duplicates, name: name)
    for delegate in delegates { self += delegate }
  }

  /// Creates a hub and adds `delegates` weakly, in order.
  ///
  /// - Parameters:
  ///   - delegates: the delegates to add.
  ///   - storage: how delegates are stored; the promises are the same for all strategies.
  ///   - duplicates: what becomes of a delegate that comes again.
  ///   - name: identifies the hub in descriptions and messages.
  /// - Precondition: each delegate is an instance of a class.
  /// - Complexity: O(`delegates`).
  public convenience init(
    _ delegates: some Sequence<Delegate>, storage: StorageStrategy = .waitFree,
    duplicates: DuplicatePolicy = .ignore, name: String? = nil
  ) {
    // The other initializer is for literals: the compiler does not find the type of the elements
    // of one whose delegates have different types if it may be any sequence.
    self.init(Array(delegates), storage: storage, duplicates: duplicates, name: name)
  }

  deinit {
    // Handles may outlive the hub: their registrations become inactive here. No invocation is
    // running, because each one holds the hub.
    registry.removeAll()
  }
}

// Sendable: the registry is, and the values that it holds are passed to callbacks as `Delegate`
// only.
extension MulticastDelegate: Sendable where Delegate: Sendable {}

// MARK: - Registration

extension MulticastDelegate {
  /// Adds `delegate` after the others.
  ///
  /// Invocations that begin after this has returned call it; those that began before do not.
  ///
  /// - Parameters:
  ///   - delegate: the delegate to call.
  ///   - ownership: whether the hub keeps it alive.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration. Releasing the handle does not end it. For a
  ///   delegate that is already registered, see ``DuplicatePolicy``.
  /// - Precondition: `delegate` is an instance of a class if `ownership` is `.weak`. The box of a
  ///   value type would be deallocated at once.
  /// - Complexity: amortised O(1). With ``StorageStrategy/copyOnWrite``,
  ///   ``StorageStrategy/readerWriterLock`` and ``StorageStrategy/barrierQueue``: O(`count`) while
  ///   an invocation or an iterator retains the list.
  @discardableResult
  public func add(
    _ delegate: Delegate, ownership: Ownership = .weak, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Delegate> {
    Registration(registry.add(delegate, ownership: ownership, origin: Origin(fileID, line, label)))
  }

  /// Removes every registration of `delegate`.
  ///
  /// No invocation calls it afterwards, including those that are running. A call that passed its
  /// check on another thread before may still run; see ``Registration/cancelAndWait()``. May be
  /// called from the `deinit` of `delegate`.
  ///
  /// - Parameter delegate: compared by identity.
  /// - Returns: whether it was registered. A value type is never found: use its ``Registration``.
  ///   With portable weak references this may be `true` for the address of a dead delegate; see
  ///   <doc:Limitations>.
  /// - Complexity: as for ``add(_:ownership:label:fileID:line:)``, for each registration of
  ///   `delegate`.
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
  /// - Parameter delegate: compared by identity.
  /// - Returns: `true` if it has a registration. A value type never has.
  /// - Complexity: O(1).
  public func contains(_ delegate: Delegate) -> Bool {
    registry.contains(delegate: delegate)
  }

  /// Removes the registrations of dead delegates.
  ///
  /// Calling this is optional: an invocation that meets a dead delegate prunes, and so does `add`
  /// before it allocates more slots. Until then a dead delegate keeps its memory, without its
  /// properties (on Linux; see <doc:Limitations>).
  ///
  /// - Returns: the number of registrations that were removed.
  /// - Complexity: O(`count`).
  @discardableResult
  public func prune() -> Int {
    registry.prune()
  }
}
