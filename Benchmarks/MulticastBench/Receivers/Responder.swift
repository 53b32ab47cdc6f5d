/// A delegate with an asynchronous method.
protocol Responder: AnyObject, Sendable {
  /// Returns the event.
  func respond(_ event: Int) async -> Int
}

/// `kind` is known at run time alone, so no call can be resolved at compile time.
@inline(never)
func makeResponder(_ kind: Int) -> any Responder {
  kind % 2 == 0 ? PlainResponder() : ScalingResponder()
}

private final class PlainResponder: Responder {
  func respond(_ event: Int) async -> Int { event }
}

private final class ScalingResponder: Responder {
  private let scale = 1

  func respond(_ event: Int) async -> Int { event &* scale }
}
