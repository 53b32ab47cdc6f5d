internal import OpenCombine

/// OpenCombine's `PassthroughSubject`.
final class OpenCombineSubject: ClosureRival, @unchecked Sendable {
  // Sendable: the subject has a lock of its own.
  private let subject = PassthroughSubject<Event, Never>()
  private let reception: Reception

  init(_ reception: Reception) {
    self.reception = reception
  }

  func add(_ observer: any Observer) -> AnyCancellable {
    subject.sink(receiveValue: reception.handler(observer))
  }

  func remove(_ token: AnyCancellable) { token.cancel() }

  func send(_ event: Event) { subject.send(event) }
}
