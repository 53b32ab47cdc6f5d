/// Ends the process with `message` unless `condition` holds: a mistake of the programmer.
///
/// `precondition` would do the same, but in a release build it keeps its message to itself.
func require(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  guard !condition else { return }
  fatalError(message(), file: file, line: line)
}
