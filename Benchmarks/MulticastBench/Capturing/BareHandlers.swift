/// What an `EventHub` cannot beat: closures, read through a pointer, so that none is retained for
/// its call.
struct BareHandlers: @unchecked Sendable {
  // Sendable: filled once, then only read.

  /// A closure that is not copied in order to be called.
  private struct Slot: ~Copyable {
    let body: @Sendable (Int) -> Void

    borrowing func call(_ event: Int) { body(event) }
  }

  private let slots: UnsafeMutablePointer<Slot>
  private let count: Int

  /// The list is never freed.
  init(_ handlers: [@Sendable (Int) -> Void]) {
    count = handlers.count
    slots = .allocate(capacity: count)
    for (index, handler) in handlers.enumerated() {
      (slots + index).initialize(to: Slot(body: handler))
    }
  }

  @inline(never)
  func send(_ captured: Captured, _ iterations: Int) {
    for iteration in 0..<iterations {
      let event = captured.event(iteration)
      for index in 0..<count { slots[index].call(event) }
    }
  }
}
