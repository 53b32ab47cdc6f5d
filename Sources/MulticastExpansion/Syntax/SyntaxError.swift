/// What the parser did not expect, and where.
struct SyntaxError: Error {
  var message: String
  var range: Range<Int>
}
