internal import Synchronization

/// Task-local keys whose values in the sender a subscriber asked for.
///
/// ## Thread safety
/// It never changes.
@usableFromInline
final class CarriedKeys: Sendable {
  /// By the identity of the key, which the closure keeps.
  let captureEach: [(key: ObjectIdentifier, capture: @Sendable () -> CarriedValues.Binding)]

  init(_ captureEach: [(key: ObjectIdentifier, capture: @Sendable () -> CarriedValues.Binding)]) {
    self.captureEach = captureEach
  }

  /// Adds the keys that `captures` does not have.
  func add(to captures: inout CarriedKeySet.Captures) {
    for (key, capture) in captureEach where captures[key] == nil { captures[key] = capture }
  }

  /// The values in the current task.
  func capture() -> CarriedValues {
    CarriedValues(bindings: captureEach.map { $0.capture() })
  }
}

/// Keys that the subscribers of several hubs asked for: those to which a hub passes its events on.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class CarriedKeySet: @unchecked Sendable {
  // Sendable: `each` is accessed inside `lock` alone.

  typealias Captures = [ObjectIdentifier: @Sendable () -> CarriedValues.Binding]

  /// Guards `each`. No key is captured inside.
  private let lock = Lock()
  private var each: Captures = [:]
  // Relaxed: as `SubscriberKinds.hasCarriers`.
  private let hasKeys = Atomic(false)

  var isEmpty: Bool { !hasKeys.load(ordering: .relaxed) }

  var captures: Captures { lock.withLock { each } }

  func add(_ keys: CarriedKeys) {
    lock.withLock { keys.add(to: &each) }
    hasKeys.store(true, ordering: .relaxed)
  }
}

/// The values that task-local keys had in a sender.
struct CarriedValues: Sendable {
  /// What runs with values, on the actor that it is given, which is that of the caller.
  ///
  /// The actor is a parameter: a function that inherits it would find none inside `withValue`.
  typealias AsyncBody = @Sendable (isolated (any Actor)?) async -> Void

  /// Runs a function with one key bound to its value.
  struct Binding: Sendable {
    let run: @Sendable (() -> Void) -> Void
    let runAsync: @Sendable (isolated (any Actor)?, @escaping AsyncBody) async -> Void

    init<Value: Sendable>(_ key: TaskLocal<Value>, _ value: Value) {
      run = { body in key.withValue(value) { body() } }
      runAsync = { isolation, body in
        await key.withValue(value) {
          // The closure belongs to the actor because it captures it.
          await body(isolation)
        }
      }
    }
  }

  let bindings: [Binding]

  /// Runs `body` with every key bound to its value.
  func run(_ body: () -> Void) {
    run(bindings[...], body)
  }

  /// Runs `body` with every key bound to its value, without leaving the actor of the caller.
  func run(
    isolation: isolated (any Actor)? = #isolation, _ body: @escaping AsyncBody
  ) async {
    await run(bindings[...], isolation, body)
  }

  private func run(_ rest: ArraySlice<Binding>, _ body: () -> Void) {
    guard let first = rest.first else { return body() }
    first.run { run(rest.dropFirst(), body) }
  }

  private func run(
    _ rest: ArraySlice<Binding>, _ isolation: isolated (any Actor)?, _ body: @escaping AsyncBody
  ) async {
    guard let first = rest.first else { return await body(isolation) }
    let others = rest.dropFirst()
    await first.runAsync(isolation) { isolation in await run(others, isolation, body) }
  }
}

/// An event with task-local values of its sender.
final class CarriedEventBox<Event: Sendable>: EventBox<Event>, @unchecked Sendable {
  // Sendable: immutable.
  let values: CarriedValues

  init(_ event: Event, _ values: CarriedValues) {
    self.values = values
    super.init(event)
  }

  required init(_ event: Event) {
    values = CarriedValues(bindings: [])
    super.init(event)
  }
}

extension EventPipeline {
  /// The event in an envelope of its own, if the subscriber asked for values of its sender.
  @usableFromInline @inline(never)
  func carriedEnvelope(_ event: Event) -> Envelope? {
    carried.map { Envelope(CarriedEventBox(event, $0.capture())) }
  }
}

extension CarriedValues? {
  /// Runs `body`, with the values if there are any.
  func run(_ body: () -> Void) {
    if let self { self.run(body) } else { body() }
  }
}
