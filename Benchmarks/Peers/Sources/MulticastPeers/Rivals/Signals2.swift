internal import CSignals2

/// Boost.Signals2, the best-known of its kind in C++.
final class Signals2: Rival, @unchecked Sendable {
  // Sendable: a signal may be used from any thread.
  static var isAvailable: Bool { signals2_is_available() }

  private let signal = signals2_create()
  private let reception: Reception

  init(_ reception: Reception) {
    self.reception = reception
  }

  deinit { signals2_destroy(signal) }

  func add(_ observer: any Observer) -> OpaquePointer {
    let target = Target.allocate(capacity: 1)
    target.initialize(to: .init(element: observer))
    return signals2_connect(signal, slot, target, releaseTarget, reception.isWeak)
  }

  func remove(_ token: OpaquePointer) { signals2_disconnect(token) }

  func notify(_ iterations: Int) { _ = answers(iterations) }

  func answers(_ iterations: Int) -> Int {
    var sum = 0
    withUnsafeMutablePointer(to: &sum) { tally in
      for _ in 0..<iterations { signals2_send(signal, Signals2Event(value: 1, tally: tally)) }
    }
    return sum
  }

  private var slot: Signals2Slot {
    switch reception.handling {
    case .notify:
      { context, event in
        context.assumingMemoryBound(to: Target.Pointee.self).pointee.element.notify(event.value)
      }
    case .answer:
      { context, event in
        let target = context.assumingMemoryBound(to: Target.Pointee.self)
        event.tally.pointee &+= target.pointee.element.answer(event.value)
      }
    }
  }
}

/// An observer in memory that C++ keeps: in the slot, or weakly.
private typealias Target = UnsafeMutablePointer<BareList<any Observer>.Slot>

private func releaseTarget(_ context: UnsafeMutableRawPointer) {
  let target = context.assumingMemoryBound(to: Target.Pointee.self)
  target.deinitialize(count: 1)
  target.deallocate()
}
