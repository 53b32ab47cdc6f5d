import Multicast
import MulticastTestSupport
import Testing

@Suite("Promise 9: bad input is refused with a message that names it")
struct BadInputTests {
  @Test("a value type as a weak delegate names the type and says what to do")
  func aValueTypeAddedWeakly() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let hub = MulticastDelegate<any Listening>()
      hub.add(RecordingValue(1, journal: Journal()))
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("RecordingValue"))
    #expect(message.contains("ownership: .strong"))
  }

  @Test("a value type among the initial delegates is refused in the same words")
  func aValueTypeAmongTheInitialDelegates() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let hub = MulticastDelegate<any Listening>(
        [RecordingObserver(0), RecordingValue(1, journal: Journal())] as [any Listening])
      hub.removeAll()
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("RecordingValue"))
    #expect(message.contains("ownership: .strong"))
  }

  @Test("a value that was made an object is refused as a weak delegate")
  func aBridgedValueAddedWeakly() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      MulticastDelegate<AnyObject>().add("x" as AnyObject)
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("as AnyObject"))
    #expect(message.contains("ownership: .strong"))
    let other = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      MulticastDelegate<AnyObject>().add(RecordingValue(1, journal: Journal()) as AnyObject)
    }
    #expect(
      String(decoding: try #require(other).standardErrorContent, as: UTF8.self)
        .contains("RecordingValue"))
  }

  @Test("an error that is a class is refused as a weak delegate of a hub of any Error")
  func anErrorAddedWeakly() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      MulticastDelegate<any Error>().add(ErrorObject(1))
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("ErrorObject"))
    #expect(message.contains("ownership: .strong"))
  }

  @Test("an index that is not there gives nil", arguments: StorageStrategy.allCases)
  func anIndexThatIsNotThere(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0) }
    #expect(hub[0] == nil)
    for delegate in delegates { hub += delegate }
    #expect(hub[-1] == nil)
    #expect(hub[Int.min] == nil)
    #expect(hub[3] == nil)
    #expect(hub[Int.max] == nil)
    #expect(hub[2] === delegates[2])
  }

  @Test("removing what is not there gives false", arguments: StorageStrategy.allCases)
  func removingWhatIsNotThere(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let (delegate, stranger) = (RecordingObserver(1), RecordingObserver(2))
    #expect(!hub.remove(stranger))
    hub += delegate
    #expect(!hub.remove(stranger))
    hub -= stranger
    #expect(hub.count == 1)
    #expect(hub.remove(delegate))
    #expect(!hub.remove(delegate))
    hub.removeAll()
    hub.removeAll()
    #expect(hub.prune() == 0)
  }

  @Test("cancelling twice does nothing", arguments: StorageStrategy.allCases)
  func cancellingTwice(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let (delegate, neighbour) = (RecordingObserver(1), RecordingObserver(2))
    let registration = hub.add(delegate)
    hub += neighbour
    registration.cancel()
    registration.cancel()
    #expect(hub.map(\.id) == [2])
  }
}
