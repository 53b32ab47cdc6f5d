import Testing

@testable import MulticastStress

/// What the oracle of the total order accepts, and what it refuses.
@Suite struct OrderHistoryTests {
  private typealias Event = OrderHistory.Event

  private static let order = [
    Event(sender: 0, number: 1), Event(sender: 1, number: 1), Event(sender: 0, number: 2),
    Event(sender: 1, number: 2),
  ]

  @Test func oneOrderForAllIsRight() {
    let history = OrderHistory(
      full: [Self.order, Self.order],
      partial: [[], Array(Self.order[1...2]), Array(Self.order[2...])], sent: [2, 2])
    #expect(history.violation() == nil)
  }

  @Test func anotherOrderIsRefused() {
    // Each sender's events are in order for both subscribers.
    let other = [Self.order[1], Self.order[0], Self.order[2], Self.order[3]]
    #expect(OrderHistory(full: [Self.order, other], sent: [2, 2]).violation() != nil)
  }

  @Test func aSendersOrderIsKept() {
    let swapped = [Self.order[2], Self.order[1], Self.order[0], Self.order[3]]
    #expect(OrderHistory(full: [swapped, swapped], sent: [2, 2]).violation() != nil)
  }

  @Test func whatIsLostOrComesTwiceIsRefused() {
    #expect(OrderHistory(full: [Self.order], sent: [2, 3]).violation() != nil)
    let twice = Self.order + [Self.order[3]]
    #expect(OrderHistory(full: [twice], sent: [2, 2]).violation() != nil)
    #expect(
      OrderHistory(full: [Self.order, Self.order.dropLast()], sent: [2, 2]).violation() != nil)
  }

  @Test(arguments: [[0, 2], [1, 0], [1, 1], [3, 3]])
  func aGuestSeesAPartWithoutAGap(_ positions: [Int]) {
    let part = positions.map { Self.order[$0] }
    #expect(OrderHistory(full: [Self.order], partial: [part], sent: [2, 2]).violation() != nil)
  }

  @Test func aGuestThatSeesWhatWasNotSentIsRefused() {
    let part = [Event(sender: 7, number: 1)]
    #expect(OrderHistory(full: [Self.order], partial: [part], sent: [2, 2]).violation() != nil)
  }
}
