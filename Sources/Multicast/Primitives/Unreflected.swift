/// A type that reflection does not look into: `dump`, `Mirror`, and the failed expectations of
/// Swift Testing.
///
/// Its parts are shared with other threads, and may refer to objects that are dead. Reflection
/// would read them without the locks that guard them, and end the process at a dead reference.
protocol Unreflected: CustomReflectable {}

extension Unreflected {
  /// A mirror without children. What may be known about the value is in its properties.
  public var customMirror: Mirror {
    Mirror(self, children: EmptyCollection(), ancestorRepresentation: .suppressed)
  }
}
