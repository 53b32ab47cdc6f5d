/// What the hubs of the benchmarks send: a type of the benchmark's own, as users have.
///
/// Not `Int`: the library has a hub of numbers itself, so the compiler specialises some of its code
/// for them, and for no other type.
protocol BenchmarkEvent: Sendable, ExpressibleByIntegerLiteral where IntegerLiteralType == Int {
  var number: Int { get }
}

/// A small event.
struct Tick: BenchmarkEvent {
  let number: Int

  init(integerLiteral number: Int) { self.number = number }
}

/// An event of several fields, one of which has memory of its own.
struct Order: BenchmarkEvent {
  let number: Int
  let price: Double
  let product: String

  init(integerLiteral number: Int) {
    self.number = number
    price = 1
    product = Self.product
  }

  /// Too long to be in the string itself.
  private static let product = "a product with a long name"
}
