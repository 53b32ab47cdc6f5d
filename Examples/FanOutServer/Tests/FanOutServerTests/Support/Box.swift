/// A value that tests share between tasks which do not overlap.
final class Box<Value>: @unchecked Sendable {
  // Sendable: the test awaits one task before it starts the next.
  var value: Value

  init(_ value: Value) {
    self.value = value
  }
}
