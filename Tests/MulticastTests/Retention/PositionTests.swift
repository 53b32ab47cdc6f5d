import Dispatch
import Multicast
import Testing

@Suite("Positions: each event of a hub that retains has one")
struct PositionTests {
  @Test("they increase, and `publish` returns them")
  func increase() throws {
    let hub = EventHub<Int>(retention: .last(3), epoch: 7)
    #expect(hub.newestPosition == EventPosition(epoch: 7, number: 0))
    let positions = (1...5).map { hub.publish($0) }
    #expect(positions == (1...5).map { EventPosition(epoch: 7, number: $0) })
    #expect(hub.newestPosition == positions[4])
    #expect(hub.retainedEvents().map(\.event) == [3, 4, 5])
    #expect(hub.retainedEvents(atMost: 0).isEmpty)
    let first = EventPosition(epoch: hub.newestPosition.epoch, number: 0)
    for limit in 0...2 {
      let events = hub.retainedEvents(from: .after(first), atMost: limit)
      #expect(events.first == .missed(MissedEvents(after: first, through: positions[1]!)))
      #expect(events.compactMap(\.event) == Array([3, 4].prefix(limit)))
    }
    #expect(hub.retainedEvents().map(\.position) == positions[2...].map { $0! })
    hub.withBlocked { #expect(hub.publish(6) == nil) }
    #expect(hub.statistics.refused == 0 && hub.newestPosition == positions[4])
    hub.finish()
    #expect(hub.publish(6) == nil && hub.statistics.refused == 1)
    #expect(hub.newestPosition == positions[4])
  }

  @Test("a subscriber begins live, with all that is retained, with the last n, or after a position")
  func starts() throws {
    let hub = EventHub<Int>(retention: .last(4))
    let positions = (1...6).map { hub.publish($0)! }
    func events(_ start: SubscriptionStart) -> [PositionedEvent<Int>] {
      hub.retainedEvents(from: start)
    }
    #expect(events(.live).isEmpty)
    #expect(events(.retained).map(\.event) == [3, 4, 5, 6])
    #expect(events(.last(2)).map(\.event) == [5, 6])
    #expect(events(.last(9)).map(\.event) == [3, 4, 5, 6])
    #expect(events(.last(0)).isEmpty)
    #expect(events(.after(positions[3])).map(\.event) == [5, 6])
    #expect(events(.after(positions[5])).isEmpty)
    #expect(events(.after(positions[1])).map(\.event) == [3, 4, 5, 6])
    let late = events(.after(positions[0]))
    #expect(late.first == .missed(MissedEvents(after: positions[0], through: positions[1])))
    #expect(late.dropFirst().map(\.event) == [3, 4, 5, 6])
  }
}
