/// How the answers of several delegates become one: an argument of ``Answer(_:errors:calls:)``.
///
/// The macro reads its spelling. The values have no other use.
///
/// ## Thread safety
/// A value without state.
public struct AnswerPolicy: Sendable {
  private init() {}

  /// What the type of the answer stands for: see ``Answer(_:errors:calls:)``.
  public static var standard: AnswerPolicy { AnswerPolicy() }

  /// The first answer, or the first that is not `nil`. The delegates after it are called only with
  /// ``ErrorPolicy/afterAll`` or ``CallOrder/concurrent``.
  public static var first: AnswerPolicy { AnswerPolicy() }

  /// The last answer, or the last that is not `nil`. All delegates are called.
  public static var last: AnswerPolicy { AnswerPolicy() }

  /// The arrays of all delegates, joined in registration order.
  public static var all: AnswerPolicy { AnswerPolicy() }

  /// Whether every delegate answers `true`. The delegates after a `false` are called only with
  /// ``ErrorPolicy/afterAll`` or ``CallOrder/concurrent``.
  public static var every: AnswerPolicy { AnswerPolicy() }

  /// Whether a delegate answers `true`. The delegates after it are called only with
  /// ``ErrorPolicy/afterAll`` or ``CallOrder/concurrent``.
  public static var some: AnswerPolicy { AnswerPolicy() }

  /// The sum of the answers.
  public static var sum: AnswerPolicy { AnswerPolicy() }

  /// The answers combined with `initial`, one after the other, in registration order.
  ///
  /// - Parameters:
  ///   - initial: what is combined with the first answer.
  ///   - combine: combines what there is with the next answer.
  /// - Returns: the policy.
  public static func reduce<Value>(
    _ initial: Value, _ combine: (Value, Value) -> Value
  ) -> AnswerPolicy {
    AnswerPolicy()
  }

  /// Calls the delegates on the calling thread. For requirements of `Sendable` protocols whose
  /// arguments are not `Sendable`. A delegate that was added on a queue or an actor ends the
  /// process there, as in `forEach` of a ``MulticastDelegate``.
  public static var inline: AnswerPolicy { AnswerPolicy() }

  /// Leaves the requirement to an extension of the protocol that implements it.
  public static var notForwarded: AnswerPolicy { AnswerPolicy() }
}

/// What an error of one delegate does: an argument of ``Answer(_:errors:calls:)``.
///
/// ## Thread safety
/// A value without state.
public enum ErrorPolicy: Sendable {
  /// The composite throws the first error. Delegates that were not called yet are not called.
  case firstStops
  /// The composite calls all delegates and then throws the first error.
  case afterAll
}

/// How an `async` requirement calls the delegates: an argument of ``Answer(_:errors:calls:)``.
///
/// ## Thread safety
/// A value without state.
public enum CallOrder: Sendable {
  /// One after the other, in registration order.
  case inOrder
  /// All at once. The composite returns when all have returned.
  case concurrent
}
