internal import HTTPTypes

extension HTTPFields {
  /// The value of a field, as `self[name]` gives it: of several ones joined, `nil` without one.
  ///
  /// The subscript takes 2,000 instructions to join a single value.
  func value(of name: HTTPField.Name) -> String? {
    let values = self[values: name]
    return values.count > 1 ? self[name] : values.first
  }
}
