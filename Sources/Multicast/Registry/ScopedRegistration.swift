/// A registration of a delegate that ends when this handle is released.
///
/// ```swift
/// final class Panel {
///   private let registration: ScopedRegistration<any DownloadDelegate>
///
///   init(_ downloads: MulticastDelegate<any DownloadDelegate>, _ view: any DownloadDelegate) {
///     registration = downloads.add(view).scoped()  // ends with the panel
///   }
/// }
/// ```
///
/// The release does not wait for a callback, as ``Registration/cancel()`` does not. With
/// ``DuplicatePolicy/ignore`` two handles may have the same registration: the first release ends
/// it.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside the callback, and so may the
/// release. The handle is `Sendable` where `Delegate` is, as its ``registration``.
public final class ScopedRegistration<Delegate>: Unreflected {
  /// The registration, for everything else that can be done with it.
  public let registration: Registration<Delegate>

  /// Makes `registration` end when the handle is released.
  ///
  /// - Parameter registration: what ends with the handle.
  /// - Complexity: O(1).
  public init(_ registration: Registration<Delegate>) {
    self.registration = registration
  }

  deinit {
    registration.cancel()
  }
}

extension ScopedRegistration: Sendable where Delegate: Sendable {}

extension ScopedRegistration {
  /// Whether the delegate can still be called. See ``Registration/isActive``.
  ///
  /// - Complexity: O(1).
  public var isActive: Bool { registration.isActive }

  /// Ends the registration before the handle is released. See ``Registration/cancel()``.
  ///
  /// - Complexity: amortised O(1).
  public func cancel() { registration.cancel() }
}

extension ScopedRegistration: CustomStringConvertible {
  /// The type of the delegates, and whether the registration is active.
  ///
  /// - Complexity: O(1).
  public var description: String { "ScopedRegistration<\(Delegate.self)>(isActive: \(isActive))" }
}

extension Registration {
  /// A handle that ends this registration when it is released.
  ///
  /// - Returns: the handle. If it is not kept, the registration ends at once.
  /// - Complexity: O(1).
  public func scoped() -> ScopedRegistration<Delegate> { ScopedRegistration(self) }
}
