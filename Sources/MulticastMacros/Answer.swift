/// Says how the answers of several delegates become the answer of the composite.
///
/// ```swift
/// @Multicast
/// @usableFromInline protocol TableDataSource: AnyObject {
///   @Answer(.sum) func numberOfRows() -> Int
///   @Answer(.first, default: "") func title(of row: Int) -> String
///   @Answer(.all, errors: .afterAll) func load() throws -> [String]
/// }
/// ```
///
/// Without a policy a `Bool` is `.every`, an optional `.first`, an array `.all`; another type needs
/// one.
///
/// - Parameters:
///   - policy: how answers are combined; or that a requirement without an answer is called on the
///     calling thread, or is not forwarded.
///   - errors: what an error of one delegate does.
///   - calls: whether an `async` requirement calls one delegate after the other.
@attached(peer)
public macro Answer(
  _ policy: AnswerPolicy = .standard, errors: ErrorPolicy = .firstStops, calls: CallOrder = .inOrder
) = #externalMacro(module: "MulticastPlugin", type: "AnswerMacro")

/// Says how the answers of several delegates become the answer of the composite, and what it
/// answers without delegates.
///
/// - Parameters:
///   - policy: how answers are combined.
///   - default: the answer without delegates, and for ``AnswerPolicy/first`` and
///     ``AnswerPolicy/last`` without an answer that is not `nil`. Write its type: `Decision.allow`.
///   - errors: what an error of one delegate does.
///   - calls: whether an `async` requirement calls one delegate after the other.
@attached(peer)
public macro Answer<Value>(
  _ policy: AnswerPolicy = .standard, default: Value, errors: ErrorPolicy = .firstStops,
  calls: CallOrder = .inOrder
) = #externalMacro(module: "MulticastPlugin", type: "AnswerMacro")

/// As ``Answer(_:default:errors:calls:)``, with `nil` as the answer without delegates.
@attached(peer)
public macro Answer(
  _ policy: AnswerPolicy = .standard, default: Never?, errors: ErrorPolicy = .firstStops,
  calls: CallOrder = .inOrder
) = #externalMacro(module: "MulticastPlugin", type: "AnswerMacro")
