// Which delegates are objects, and which objects cannot be held weakly, because only the added
// value owns them.

extension Entry {
  /// `delegate` as an object if it is an instance of a class.
  ///
  /// `as? AnyObject` does not tell: on Linux it boxes any value, and succeeds.
  static func classInstance<Value>(_ delegate: Value) -> AnyObject? {
    if StaticType(Value.self).isReference {
      // SAFETY: such a value begins with a reference to its object.
      return withUnsafeBytes(of: delegate) {
        $0.loadUnaligned(as: Unmanaged<AnyObject>.self).takeUnretainedValue()
      }
    }
    guard type(of: delegate as Any) is AnyClass else { return nil }
    // Casting an `any Error` would return its box, which is not a Swift object.
    guard isErrorBox(Value.self), let error = delegate as? any Error else {
      return delegate as AnyObject
    }
    return object(of: error)
  }

  /// `error`, an instance of a class, as an object without a box.
  private static func object(of error: some Error) -> AnyObject {
    error as AnyObject
  }

  /// The address that identifies `delegate`, or `nil` for a value type, which has no identity.
  static func identity<Value>(of delegate: Value) -> Int? {
    classInstance(delegate).map { identity(of: $0) }
  }

  /// The address that identifies `object`.
  static func identity(of object: AnyObject) -> Int {
    Int(bitPattern: Unmanaged.passUnretained(object).toOpaque())
  }

  /// The type of the delegate, for messages.
  ///
  /// - Parameter target: that of the entry, which is the entry itself if the delegate is a value.
  func delegateType(_ target: AnyObject) -> Any.Type {
    func typeOfValue<Value>(_: Value.Type) -> Any.Type {
      // SAFETY: `make` has initialised a value of this type there.
      type(of: Entry.value(head, as: Value.self).pointee.value as Any)
    }
    guard head.pointee.valueOwner == .entry else { return type(of: target) }
    return _openExistential(head.pointee.valueType, do: typeOfValue)
  }

  /// Whether a value of this type refers to its object through a box, which the runtime allocates
  /// anew for each conversion.
  static func isErrorBox<Value>(_: Value.Type) -> Bool {
    Value.self == (any Error).self
  }

  /// - Precondition: something other than the added value can own `object`.
  static func requireOwner<Value>(
    of object: AnyObject, as _: Value.Type, _ hub: @autoclosure () -> String?
  ) {
    require(
      !isErrorBox(Value.self),
      """
      \(messagePrefix(hub())) \(type(of: object)) is added weakly as an `any Error`, but the box that \
      owns the error is freed at once. Add it with ownership: .strong, or use a hub of a protocol that \
      refines Error and AnyObject.
      """)
    let objectClass = ObjectIdentifier(type(of: object))
    require(
      !bridgedClasses.contains(objectClass),
      """
      \(messagePrefix(hub())) \(object) is a value that `as AnyObject` has boxed (\(type(of: object))), \
      and the box is freed at once if it is held weakly. Add it with ownership: .strong, or make it a class.
      """)
  }

  /// The classes in which `as AnyObject` boxes values of the standard library and of users; with
  /// Foundation also `NSString` and so on.
  private static let bridgedClasses: [ObjectIdentifier] = {
    struct Value {}
    let samples: [Any] = [Value(), "", 0, [0], [0: 0], Set([0])]
    return samples.map { ObjectIdentifier(type(of: $0 as AnyObject)) }
  }()
}
