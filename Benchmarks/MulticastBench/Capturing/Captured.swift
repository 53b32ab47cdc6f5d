internal import BenchmarkHarness

/// How much a closure captures.
enum Captures: String, CaseIterable {
  /// An event.
  case one
  /// An event, a number, and an object.
  case several
}

/// What closures capture. The events are ones, which the compiler does not know, so that it makes a
/// closure of its own for each.
struct Captured {
  /// Whether a closure captures all of it, or only the event.
  let captures: Captures
  let factor: Int
  let source: Source
  private let mask: Int

  /// Where an event comes from.
  final class Source: Sendable {
    let offset: Int

    init(offset: Int) { self.offset = offset }
  }

  init(_ captures: Captures) {
    self.captures = captures
    factor = opaque(1)
    source = Source(offset: opaque(0))
    mask = opaque(0)
  }

  @inline(__always)
  func event(_ iteration: Int) -> Int { 1 &+ (iteration & mask) }
}
