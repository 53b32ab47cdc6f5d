/// A protocol of delegates that is bound to classes.
public protocol Observing: AnyObject, Sendable {
  var id: Int { get }
  func receive(_ value: Int)
}

/// A protocol of delegates that is not bound to classes.
public protocol Listening: Sendable {
  var id: Int { get }
  func receive(_ value: Int)
}

/// A protocol that only some delegates conform to.
public protocol Reporting: Sendable {
  func report(_ value: Int)
}
