/// What a concurrent invocation receives for one delegate.
@usableFromInline
enum DelegateAnswer<Answer> {
  /// The answer counts.
  case inTime(Answer)
  /// The call ended after the timeout.
  case late(Answer)
  /// The timeout expired before the call began. The entry is held by the invocation.
  case notCalled(Unmanaged<Entry>)

  /// The answer, if it counts.
  @inlinable var inTime: Answer? {
    if case .inTime(let answer) = self { answer } else { nil }
  }
}

extension Unmanaged<Entry> {
  /// The value, retained, if the entry is live. Not for use inside a critical section.
  @usableFromInline
  func liveValue<Value>(as _: Value.Type) -> Value? {
    // SAFETY: the caller holds the entry.
    _withUnsafeGuaranteedRef { $0.liveValue(as: Value.self, isCalled: false) }
  }
}
