import Foundation
import MCPEventStore
import Synchronization
import Testing

/// The example of a store for the streams of MCP servers.
@Suite(.timeLimit(.minutes(5))) struct MCPEventStoreTests {
  /// Collects what a store replays.
  private final class Replay: Sendable {
    private let events = Mutex<[(id: String, text: String)]>([])

    func add(_ id: String, _ message: Data) {
      events.withLock { $0.append((id, String(decoding: message, as: UTF8.self))) }
    }

    var texts: [String] { events.withLock { $0.map(\.text) } }
    var ids: [String] { events.withLock { $0.map(\.id) } }
  }

  /// - Returns: what followed, and the stream.
  private func replay(_ store: MCPEventStore, after id: String) async throws -> (Replay, String) {
    let replay = Replay()
    let stream = try await store.replay(after: id) { replay.add($0, $1) }
    return (replay, stream)
  }

  @Test func aClientGetsWhatCameAfterItsEventOnItsStream() async throws {
    let store = MCPEventStore()
    var ids: [String] = []
    // An id of a stream may have the separator of ids.
    for text in ["", "1", "2", "", "3"] {
      ids.append(store.store(Data(text.utf8), of: "a_b"))
      _ = store.store(Data("other".utf8), of: "a")
    }
    #expect(Set(ids).count == 5)
    for (index, expected) in [["1", "2", "3"], ["2", "3"], ["3"], ["3"], []].enumerated() {
      let (replay, stream) = try await replay(store, after: ids[index])
      #expect(replay.texts == expected)
      #expect(stream == "a_b")
    }
    #expect(store.stream(of: ids[2]) == "a_b")
    // A client continues after an event of the replay as well.
    let (first, _) = try await replay(store, after: ids[0])
    #expect(first.ids == [ids[1], ids[2], ids[4]])
  }

  @Test func aGapAndAnUnknownEventAreErrors() async throws {
    let store = MCPEventStore(keeping: 2)
    var ids: [String] = []
    for number in 0..<4 {
      ids.append(store.store(Data("\(number)".utf8), of: "s"))
    }
    // Those after the second one are all there, though it is not.
    #expect(try await replay(store, after: ids[1]).0.texts == ["2", "3"])
    let other = MCPEventStore().store(Data(), of: "s")
    let future = ids[3].replacingOccurrences(of: "-4_", with: "-5_")
    #expect(future != ids[3])
    for id in [ids[0], other, future, "", "x", "_", "s_4"] {
      await #expect(throws: MCPEventStore.UnknownEvent.self) { try await replay(store, after: id) }
    }
    #expect(store.stream(of: "x") == nil)
  }

  @Test func theMemoryIsBounded() async throws {
    let store = MCPEventStore(keeping: 100, bytes: 10 * (1024 + 100))
    let message = Data(count: 100)
    var ids: [String] = []
    for number in 0..<50 {
      ids.append(store.store(message, of: "s\(number)"))
      ids.append(store.store(message, of: "s\(number)"))
    }
    // The newest ten messages are those of five streams.
    var kept = 0
    for id in ids {
      kept += (try? await replay(store, after: id).0.texts.count) ?? 0
    }
    #expect(kept == 5)
  }

  /// A server that begins each stream with an empty one has very many of them.
  @Test func emptyMessagesTakeMemoryToo() async throws {
    let store = MCPEventStore(keeping: 100, bytes: 10 * 1024)
    let ids = (0..<20).flatMap { number in
      (0..<2).map { _ in store.store(Data(), of: "s\(number)") }
    }
    await #expect(throws: MCPEventStore.UnknownEvent.self) {
      try await replay(store, after: ids[0])
    }
    #expect(try await replay(store, after: ids[38]).1 == "s19")
  }
}
