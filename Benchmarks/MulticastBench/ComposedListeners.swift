internal import MulticastMacros

/// What a composite calls on the calling thread.
@Multicast
@usableFromInline protocol PlainListener: AnyObject {
  func notify(_ event: Int)
}

/// What a composite calls in the context of each delegate.
@Multicast
@usableFromInline protocol SendableListener: AnyObject, Sendable {
  func receive(_ event: Int)
  func answer(_ event: Int) -> Int?
}

/// What inherits its forwarding.
@Multicast
@usableFromInline protocol RefinedListener: PlainListener {
  func finish()
}

/// The sum of what was received since the last call.
protocol Receiving {
  func takeReceived() -> Int
}

/// `kind` is known at run time alone, so no call can be resolved at compile time.
@inline(never)
func makeListener(_ kind: Int) -> any RefinedListener & SendableListener & Receiving {
  kind % 2 == 0 ? SumListener() : LastListener()
}

// Sendable: one thread uses them at a time.

private final class SumListener: RefinedListener, SendableListener, Receiving, @unchecked Sendable {
  private var received = 0

  func notify(_ event: Int) { received &+= event }
  func receive(_ event: Int) { received &+= event }
  func answer(_ event: Int) -> Int? {
    received &+= event
    return nil
  }
  func finish() {}

  func takeReceived() -> Int {
    defer { received = 0 }
    return received
  }
}

private final class LastListener: RefinedListener, SendableListener, Receiving, @unchecked Sendable
{
  private var received = 0
  private var last = 0

  func notify(_ event: Int) {
    last = event
    received &+= event
  }
  func receive(_ event: Int) {
    last = event
    received &+= event
  }
  func answer(_ event: Int) -> Int? {
    last = event
    received &+= event
    return nil
  }
  func finish() {}

  func takeReceived() -> Int {
    defer { received = 0 }
    return received
  }
}
