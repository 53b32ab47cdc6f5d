import NIOCore
import Testing

@testable import FanOutCore

@Suite struct HistoryTests {
  private func event(_ id: EventID, of name: String) throws -> Event {
    let message = try #require(Message(ByteBuffer(string: "x")))
    return Event(id: id, topic: try Topic(name, limit: 9), message: message)
  }

  @Test func aRemovedEventIsFreed() throws {
    var history = History(History.Limits(eventsPerTopic: 1, bytes: .max), after: 0)
    weak var oldest: Event?
    do {
      let event = try event(1, of: "a")
      oldest = event
      _ = history.append(event)
    }
    #expect(oldest != nil)
    _ = history.append(try event(2, of: "a"))
    #expect(oldest == nil)
    #expect(history.count == 1)
  }

  @Test func keptEventsAreCountedAndRemovedByAge() throws {
    var history = History(History.Limits(eventsPerTopic: 9, bytes: 10_000), after: 0)
    for id in 1...EventID(50) {
      #expect(try history.append(event(id, of: "t\(id)")).allSatisfy { $0.name != "t\(id)" })
      #expect(history.bytes <= 10_000)
    }
    let kept = history.count
    #expect(kept > 1 && kept < 50)
    for id in 1...EventID(50) {
      let isKept = id > 50 - EventID(kept)
      #expect(try history.count(of: Topic("t\(id)", limit: 9)) == (isKept ? 1 : 0))
    }
    // Events of a topic that already exists take less memory.
    for id in 51...EventID(59) { _ = history.append(try event(id, of: "t50")) }
    #expect(history.bytes <= 10_000)
    #expect(try history.count(of: Topic("t50", limit: 9)) == 9)
  }
}
