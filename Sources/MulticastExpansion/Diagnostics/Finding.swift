/// A diagnostic and its place in the declaration.
struct Finding: Error, Equatable {
  var message: String
  var range: Range<Int>
  /// Whether there is an expansion all the same.
  var isWarning = false
}
