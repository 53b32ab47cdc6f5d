// Which delegates are objects, and which objects a weak reference would lose at once.

extension Entry {
  /// `delegate` as an object if it is an instance of a class.
  ///
  /// `as? AnyObject` does not tell: on Linux it succeeds for every value, by boxing it.
  static func classInstance<Value>(_ delegate: Value) -> AnyObject? {
    guard type(of: delegate as Any) is AnyClass else { return nil }
    // A cast of an `any Error` would give its box, which is no object of Swift.
    guard isErrorBox(Value.self), let error = delegate as? any Error else {
      return delegate as AnyObject
    }
    return object(of: error)
  }

  /// The object that `error`, an instance of a class, is: outside of any box.
  private static func object(of error: some Error) -> AnyObject {
    error as AnyObject
  }

  /// The address by which `delegate` is recognised, or `nil` for a value type, which has no
  /// identity.
  static func identity<Value>(of delegate: Value) -> Int? {
    classInstance(delegate).map { Int(bitPattern: Unmanaged.passUnretained($0).toOpaque()) }
  }

  /// Whether a value of this type refers to its object through a box of the runtime, which is made
  /// anew whenever an object becomes such a value.
  static func isErrorBox<Value>(_: Value.Type) -> Bool {
    Value.self == (any Error).self
  }

  /// - Precondition: something else than the value that is being added can own `object`.
  static func requireOwner<Value>(of object: AnyObject, as _: Value.Type) {
    require(
      !isErrorBox(Value.self),
      """
      Multicast: \(type(of: object)) is added weakly as an `any Error`, whose box owns the error and \
      would be lost at once. Add it with ownership: .strong, or make it a hub of a protocol that \
      refines Error and AnyObject.
      """)
    let objectClass = ObjectIdentifier(type(of: object))
    require(
      !bridgedClasses.contains(objectClass),
      """
      Multicast: \(object) is a value that `as AnyObject` has put into an object (\(type(of: object))), \
      and a weak reference to that would be lost at once. Add it with ownership: .strong, or make it \
      a class.
      """)
  }

  /// The classes into which `as AnyObject` puts a value of the standard library or of a user; with
  /// Foundation, which takes part in that, `NSString` and so on.
  private static let bridgedClasses: [ObjectIdentifier] = {
    struct Value {}
    let samples: [Any] = [Value(), "", 0, [0], [0: 0], Set([0])]
    return samples.map { ObjectIdentifier(type(of: $0 as AnyObject)) }
  }()
}
