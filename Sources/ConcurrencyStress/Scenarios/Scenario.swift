/// One way to try to break a promise of the code under test, and the oracle that decides whether it
/// broke.
///
/// A scenario as a type; ``StressScenario`` is one as a value.
///
/// ## Thread safety
/// ``run(_:)`` is called on one thread, which is not the main thread.
public protocol Scenario: SendableMetatype {
  /// What the command line calls it.
  static var name: String { get }
  /// What must hold, in a line.
  static var promise: String { get }

  /// Works until the trial is over, and reports to it what broke.
  ///
  /// - Parameter trial: says when it is over.
  static func run(_ trial: Trial)
}

/// What the threads of a scenario share in one round.
///
/// ## Thread safety
/// ``work(_:)`` is called on several threads at once; ``check()`` when all of them have returned.
public protocol ScenarioRound: Sendable {
  /// What each thread does. It must end by itself.
  ///
  /// - Parameter worker: the thread, with its random numbers.
  func work(_ worker: inout Worker)

  /// Reports what broke. Called on one thread when the work of all threads is done.
  func check()
}

/// A scenario of a ``StressProgram``: a name, what must hold, and how to try to break it.
///
/// ```swift
/// let counting = StressScenario("counting", promise: "no increment is lost") { trial in
///   trial.runRounds { _ in CountingRound(trial) }
/// }
/// ```
///
/// ## Thread safety
/// A value that never changes. The closure is called on one thread, which is not the main thread.
public struct StressScenario: Sendable {
  /// What the command line calls it.
  public let name: String
  /// What must hold, in a line.
  public let promise: String
  let run: @Sendable (Trial) -> Void

  /// Creates a scenario from a closure.
  ///
  /// - Parameters:
  ///   - name: what the command line calls it.
  ///   - promise: what must hold, in a line.
  ///   - run: works until the trial is over, and reports to it what broke.
  public init(_ name: String, promise: String, run: @escaping @Sendable (Trial) -> Void) {
    self.name = name
    self.promise = promise
    self.run = run
  }

  /// The scenario that `type` describes.
  ///
  /// - Parameter type: a scenario.
  public init(_ type: any Scenario.Type) {
    self.init(type.name, promise: type.promise) { trial in type.run(trial) }
  }
}
