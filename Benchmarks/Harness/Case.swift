/// One system under one load: what is measured again and again.
public struct Case {
  /// What does the work: a strategy, a rival, or the floor.
  public let system: String
  /// The number of delegates, if the load has one.
  public let size: Int?
  /// How many threads work at once.
  public let threads: Int
  /// Whether the other systems are compared with this one. It is measured even if it was not
  /// selected.
  public let isBaseline: Bool
  public let metrics: [Metric]
  /// How often the work is repeated in a sample, or `nil` to find out how often fills the time for
  /// one.
  let iterations: Int?
  let body: (Int) throws -> [Double]

  /// A case that measures itself.
  ///
  /// - Parameters:
  ///   - metrics: what `sample` returns.
  ///   - iterations: how often `sample` repeats its work, or `nil` to have that calibrated.
  ///   - sample: takes a sample: given the iterations, returns a value for each of `metrics`.
  ///     Throws a ``WrongResult`` if the system has not done what it should.
  public init(
    _ system: String, size: Int? = nil, threads: Int = 1, isBaseline: Bool = false,
    metrics: [Metric], iterations: Int? = nil,
    sample: @escaping (_ iterations: Int) throws -> [Double]
  ) {
    self.system = system
    self.size = size
    self.threads = threads
    self.isBaseline = isBaseline
    self.metrics = metrics
    self.iterations = iterations
    body = sample
  }
}

extension Case {
  /// A case of which the time for each delivery is measured.
  ///
  /// - Parameters:
  ///   - deliveries: how many deliveries one iteration makes.
  ///   - delivered: how many deliveries have arrived since its last call. Called outside the
  ///     timer.
  ///   - run: makes the given number of iterations.
  public init(
    _ system: String, size: Int? = nil, isBaseline: Bool = false, deliveries: Int,
    delivered: @escaping () -> Int, run: @escaping (_ iterations: Int) -> Void
  ) {
    self.init(system, size: size, isBaseline: isBaseline, metrics: [.time]) { iterations in
      let start = MonotonicClock.nanoseconds
      run(iterations)
      let elapsed = MonotonicClock.nanoseconds - start
      let expected = iterations * deliveries
      try WrongResult.check(system, delivered: delivered(), expected: expected)
      return [Double(elapsed) / Double(expected)]
    }
  }

  func takeSample(iterations: Int) throws -> [Double] {
    let values = try body(iterations)
    precondition(values.count == metrics.count, "a sample has one value for each metric")
    return values
  }
}

/// A system did not do the work that was measured.
public struct WrongResult: Error {
  public let message: String

  public init(_ message: String) {
    self.message = message
  }

  /// Throws unless `delivered` is `expected`.
  public static func check(_ system: String, delivered: Int, expected: Int) throws {
    guard delivered == expected else {
      throw WrongResult("\(system) made \(delivered) deliveries instead of \(expected)")
    }
  }
}
