/// The class of the pattern's tutorials: weak wrappers around `AnyObject`, filtered and cast for
/// each invocation. For one thread only.
final class TutorialArray: Rival, @unchecked Sendable {
  // Sendable: it is not, and it is used by one thread.
  private final class Wrapper {
    weak var delegate: AnyObject?

    init(_ delegate: AnyObject) { self.delegate = delegate }
  }

  private var wrappers: [Wrapper] = []

  init(_: Reception) {}

  private func invoke(_ body: (any Observer) -> Void) {
    wrappers = wrappers.filter { $0.delegate != nil }
    for wrapper in wrappers {
      if let delegate = wrapper.delegate as? any Observer { body(delegate) }
    }
  }

  func add(_ observer: any Observer) -> any Observer {
    wrappers.append(Wrapper(observer))
    return observer
  }

  func remove(_ token: any Observer) {
    guard let index = wrappers.firstIndex(where: { $0.delegate === token }) else { return }
    wrappers.remove(at: index)
  }

  func notify(_ iterations: Int) {
    for _ in 0..<iterations { invoke { $0.notify(1) } }
  }

  func answers(_ iterations: Int) -> Int {
    var sum = 0
    for _ in 0..<iterations { invoke { sum &+= $0.answer(1) } }
    return sum
  }
}
