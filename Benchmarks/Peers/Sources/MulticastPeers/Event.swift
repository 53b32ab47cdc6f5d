/// What systems send that deliver values.
struct Event: @unchecked Sendable {
  // Sendable: `tally` is used within a call of `send`, on the thread that sends.
  let value: Int
  /// Where a handler may count without sharing a line with another thread.
  let tally: UnsafeMutablePointer<Int>
}

/// What is registered with a system under test, and how.
struct Reception: Sendable {
  enum Handling {
    /// Each observer counts.
    case notify
    /// Each observer answers, and the answers are added up for the thread that sends. No observer
    /// writes anything.
    case answer
  }

  let isWeak: Bool
  let handling: Handling

  /// What a system calls that takes closures.
  func handler(_ observer: any Observer) -> @Sendable (Event) -> Void {
    switch (handling, isWeak) {
    case (.notify, false): { observer.notify($0.value) }
    case (.notify, true): { [weak observer] in observer?.notify($0.value) }
    case (.answer, false): { $0.tally.pointee &+= observer.answer($0.value) }
    case (.answer, true):
      { [weak observer] event in
        guard let observer else { return }
        event.tally.pointee &+= observer.answer(event.value)
      }
    }
  }
}
