internal import CFunctionList

/// A copy-on-write list of `std::function` under a `std::shared_mutex`: what one writes in C++.
final class FunctionList: Rival, @unchecked Sendable {
  // Sendable: the list may be used from any thread.
  private let list = function_list_create()
  private let reception: Reception

  init(_ reception: Reception) {
    self.reception = reception
  }

  deinit { function_list_destroy(list) }

  func add(_ observer: any Observer) -> OpaquePointer {
    let target = Target.allocate(capacity: 1)
    target.initialize(to: .init(element: observer))
    return function_list_add(list, body, target, releaseTarget, reception.isWeak)
  }

  func remove(_ token: OpaquePointer) { function_list_remove(list, token) }

  func notify(_ iterations: Int) { _ = answers(iterations) }

  func answers(_ iterations: Int) -> Int {
    var sum = 0
    withUnsafeMutablePointer(to: &sum) { tally in
      for _ in 0..<iterations {
        function_list_send(list, FunctionListEvent(value: 1, tally: tally))
      }
    }
    return sum
  }

  private var body: FunctionListBody {
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

/// An observer in memory that C++ keeps: in the function, or weakly.
private typealias Target = UnsafeMutablePointer<BareList<any Observer>.Slot>

private func releaseTarget(_ context: UnsafeMutableRawPointer) {
  let target = context.assumingMemoryBound(to: Target.Pointee.self)
  target.deinitialize(count: 1)
  target.deallocate()
}
