/// A value as a history shows it: an optional without its wrapping, a string in quotes and on one
/// line.
func text(of value: Any) -> String {
  let mirror = Mirror(reflecting: value)
  if mirror.displayStyle == .optional {
    return mirror.children.first.map { text(of: $0.value) } ?? "nil"
  }
  return (value as? String)?.debugDescription ?? "\(value)"
}
