/// One operation of a ``LinearizabilityTest``, without the types of its argument and its result.
struct OperationKind<Subject: Sendable, Model: Sendable>: Sendable {
  let name: String
  /// The name, for the watchdog.
  let step: StepName
  /// The text of a call with each argument. Made before: while threads race, it would take most of
  /// their time.
  let callTexts: [String]
  /// Calls the object with the argument at this index.
  let call: @Sendable (Subject, Int) -> CallResult
  /// Does the same to the model.
  let apply: @Sendable (inout Model, Int) -> CallResult
  /// Whether two results are the same.
  let isSame: @Sendable (CallResult, CallResult) -> Bool

  init<Argument: Sendable, Result: Equatable & Sendable>(
    _ name: String, arguments: [Argument],
    _ call: @escaping @Sendable (Subject, Argument) throws -> Result,
    _ apply: @escaping @Sendable (inout Model, Argument) throws -> Result
  ) {
    require(!arguments.isEmpty, "the operation \(name) has no argument to choose")
    self.name = name
    step = StepName(name)
    callTexts = arguments.map { "\(name)(\($0 is Void ? "" : text(of: $0)))" }
    self.call = { subject, index in
      do { return .returned(try call(subject, arguments[index])) } catch {
        return .threw(error)
      }
    }
    self.apply = { model, index in
      do { return .returned(try apply(&model, arguments[index])) } catch {
        return .threw(error)
      }
    }
    isSame = { left, right in
      switch (left, right) {
      case (.returned(let left), .returned(let right)): left as? Result == right as? Result
      case (.threw(let left), .threw(let right)): isSameError(left, right)
      default: false
      }
    }
  }
}

/// What a call returned or threw.
enum CallResult: Sendable {
  case returned(any Sendable)
  case threw(any Error)

  var text: String {
    switch self {
    case .returned(let value): value is Nothing ? "" : ConcurrencyStress.text(of: value)
    case .threw(let error): "throws \(error)"
    }
  }
}

/// Whether two errors are the same: equal, or of one type and with one text if that has no
/// equality.
private func isSameError(_ left: any Error, _ right: any Error) -> Bool {
  func isEqual<Value: Equatable>(_ left: Value) -> Bool { right as? Value == left }
  guard type(of: left) == type(of: right) else { return false }
  let value: Any = left
  if let value = value as? any Equatable { return isEqual(value) }
  return "\(left)" == "\(right)"
}

/// The result of an operation that has none.
struct Nothing: Equatable, Sendable {}

/// One call of a test: an operation, the index of its argument, and its result.
struct TestCall: DescribedCall {
  let operation: Int
  let argument: Int
  let callText: String
  let result: CallResult

  var resultText: String { result.text }
}

/// The model of a test, for the search.
struct TestModel<Subject: Sendable, Model: Hashable & Sendable>: SequentialModel {
  var model: Model
  /// The same in each copy.
  let operations: [OperationKind<Subject, Model>]

  mutating func step(_ action: TestCall, of operation: Int) -> HistoryStep {
    let kind = operations[action.operation]
    let result = kind.apply(&model, action.argument)
    return kind.isSame(result, action.result) ? .over : .impossible
  }

  func expectedResult(of action: TestCall) -> String? {
    var copy = model
    return operations[action.operation].apply(&copy, action.argument).text
  }

  static func == (left: Self, right: Self) -> Bool { left.model == right.model }
  func hash(into hasher: inout Hasher) { hasher.combine(model) }
}
