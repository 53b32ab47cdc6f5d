import MulticastMacros

// The protocols of `DelegateTypeCorpus`.

struct Delegate: Error, Equatable {
  static let none = Delegate(number: 0)
  struct Part: Equatable { var number = 1 }
  var number: Int
  static func sum(_ left: Int, _ right: Int) -> Int { left + right }
}

@Multicast
protocol Manager: AnyObject {
  func manage(_ delegate: Delegate, _ others: [Delegate]) -> Bool
  func next() async -> Delegate?
  @Answer(errors: .afterAll) func all() async throws(Delegate) -> [Delegate]
  func check() throws(Delegate)
  @Answer(errors: .afterAll) func checkAll() throws(Delegate)
  @Answer(.first, default: Delegate.none) func first() -> Delegate
  @Answer(.last, default: Delegate(number: 7)) var last: Delegate { get throws(Delegate) }
  @Answer(.last, default: Delegate.Part()) func part() async -> Delegate.Part
  @Answer(.reduce(Delegate.none.number, Delegate.sum)) func sum() -> Int
  @Answer(.first, default: [Delegate(number: 8)]) func list<T>(_ value: T) -> [Delegate]
}

@Multicast
protocol Director: Manager {
  func direct()
}

enum Staff {
  enum Delegate { case first, second }

  @Multicast
  protocol Observer: AnyObject {
    func next() async -> Delegate?
    @Answer(.first, default: Delegate.second) func first() -> Delegate
  }
}

@Multicast
protocol StaffChild: Staff.Observer {}
