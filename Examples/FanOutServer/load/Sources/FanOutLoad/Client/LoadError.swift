/// A run that cannot be made or did not go right, in one line.
struct LoadError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
