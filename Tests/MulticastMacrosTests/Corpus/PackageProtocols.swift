import Foundation
import MulticastMacros

// Delegates as real packages declare them: user interface, media, network, messaging.

final class TableView {}
struct IndexPath2: Hashable, Sendable {
  var row = 0
}
enum EditingStyle { case delete, insert }
typealias Completion = @Sendable (Result<Data, any Error>) -> Void

@Multicast
@MainActor
protocol TableViewDelegate: AnyObject {
  func tableView(_ tableView: TableView, willDisplay cell: Int, forRowAt indexPath: IndexPath2)
  func tableView(_ tableView: TableView, shouldHighlightRowAt indexPath: IndexPath2) -> Bool
  func tableView(_ tableView: TableView, willSelectRowAt indexPath: IndexPath2) -> IndexPath2?
  @Answer(.last, default: 44) func tableView(
    _ tableView: TableView, heightForRowAt indexPath: IndexPath2
  ) -> Double
  func tableView(_ tableView: TableView, didSelectRowAt indexPath: IndexPath2)
}

@Multicast
@MainActor
protocol TableViewDataSource: AnyObject {
  @Answer(.sum) func numberOfSections(in tableView: TableView) -> Int
  @Answer(.first, default: 0) func tableView(
    _ tableView: TableView, numberOfRowsInSection section: Int
  ) -> Int
  func tableView(_ tableView: TableView, titleForHeaderInSection section: Int) -> String?
  func sectionIndexTitles(for tableView: TableView) -> [String]?
  func tableView(_ tableView: TableView, commit style: EditingStyle, forRowAt indexPath: IndexPath2)
}

@Multicast
@MainActor
protocol ScrollViewDelegate: AnyObject {
  func scrollViewDidScroll(_ offset: Double)
  func scrollViewWillEndDragging(velocity: Double, targetOffset: inout Double)
  func viewForZooming() -> TableView?
  func scrollViewShouldScrollToTop() -> Bool
}

@Multicast
protocol TextFieldDelegate: AnyObject {
  func textField(
    _ text: String, shouldChangeCharactersIn range: Range<Int>, replacementString: String
  ) -> Bool
  func textFieldDidBeginEditing()
  @Answer(.some) func textFieldShouldReturn() -> Bool
}

@Multicast
protocol CaptureDelegate: AnyObject, Sendable {
  func captureOutput(didOutput frame: [UInt8], from connection: Int)
  func captureOutput(didDrop frame: [UInt8], reason: String?)
  func captureOutput(didFinish url: URL, error: (any Error)?)
}

@Multicast
protocol AudioPlayerDelegate: NSObjectProtocol {
  func audioPlayerDidFinishPlaying(successfully flag: Bool)
  func audioPlayerDecodeErrorDidOccur(error: (any Error)?)
}

@Multicast
protocol SessionDelegate: AnyObject, Sendable {
  func session(didBecomeInvalidWithError error: (any Error)?)
  func session(task: Int, didReceive data: Data, completion: @escaping Completion)
  @Answer(.first, default: URLCredential2.none)
  func session(challenge: String) async -> URLCredential2
  func session(task: Int, willRedirectTo request: URL) async -> URL?
  func session(task: Int, totalBytes: Int64, expected: Int64)
}

enum URLCredential2: Sendable { case none, trust }

@Multicast
protocol StreamDelegate2: AnyObject {
  func xmppStreamWillConnect(_ sender: StreamSender)
  func xmppStream(_ sender: StreamSender, didReceive message: [String: Any])
  func xmppStream(_ sender: StreamSender, willSend message: [String: Any]) -> [String: Any]?
  func xmppStreamDidDisconnect(_ sender: StreamSender, withError error: (any Error)?)
  func xmppStream(
    _ sender: StreamSender, alternativeResourceForConflictingResource resource: String
  ) -> String?
}

final class StreamSender {}

@Multicast
protocol LocationDelegate: AnyObject {
  func locationManager(didUpdate locations: [(latitude: Double, longitude: Double)])
  func locationManager(didFailWith error: any Error)
  @Answer(.some) func locationManagerShouldDisplayHeadingCalibration() -> Bool
}

@Multicast
protocol PeripheralDelegate: AnyObject, Sendable {
  func peripheral(_ id: UUID, didDiscover services: [String]?)
  func peripheral(_ id: UUID, didUpdateValue value: Data, for characteristic: String, at date: Date)
}

@Multicast
@MainActor
protocol NavigationDelegate: AnyObject {
  @Answer(.first, default: Decision.allow) func decidePolicy(for url: URL) async -> Decision
  func webView(didFinish url: URL!)
  func webView(decide handler: @escaping @MainActor (Decision) -> Void)
}

@Multicast
protocol StoreDelegate<State, Action>: AnyObject {
  associatedtype State: Equatable
  associatedtype Action
  func store(didChange state: State, from old: State, by action: Action)
  func shouldReduce(_ action: Action) -> Bool
}

@Multicast
protocol CacheDelegate<Key, Value>: AnyObject where Key: Hashable {
  associatedtype Key
  associatedtype Value: AnyObject
  func cache(willEvict value: Value, for key: Key)
  @Answer(.sum) func cost(of value: Value) -> Int
}

@Multicast
protocol ResultsControllerDelegate: AnyObject {
  func controllerWillChangeContent()
  func controller(
    didChange object: Any, at indexPath: IndexPath2?, for type: Int, newIndexPath: IndexPath2?
  )
  func controller(sectionIndexTitleForSectionName name: String) -> String?
}

@Multicast
protocol SocketDelegate: AnyObject, Sendable {
  func socket(_ id: Int, didRead data: [UInt8], withTag tag: Int)
  func socket(_ id: Int, shouldTimeoutWriteWithTag tag: Int, elapsed: Duration, done: UInt)
    -> Duration?
  func socketDidDisconnect(_ id: Int, withError error: (any Error)?)
}

@Multicast
protocol Logger2: AnyObject, Sendable {
  func log(_ message: @autoclosure () -> String, file: StaticString, line: UInt)
  @Answer(.inline) func log(metadata: [String: Any])
  var level: Int? { get set }
}

@Multicast
protocol Plugin: AnyObject {
  @Answer(.all) func middlewares() throws -> [@Sendable (Int) -> Int]
  @Answer(.reduce([:]) { $0.merging($1) { old, _ in old } })
  func headers() -> [String: String]
  @Answer(errors: .afterAll) func shutDown() async throws
}

@Multicast
protocol MetricsRecorder: AnyObject, Sendable {
  func increment(_ name: StaticString, by amount: Int)
  func time<T>(_ name: String, _ body: () throws -> T) rethrows
  @Answer(.reduce(Double.infinity, min)) func budget(_ name: String) -> Double
}

@Multicast
protocol RoomDelegate: AnyObject, Sendable {
  nonisolated func room(_ room: String, participantDidJoin name: String)
  nonisolated func room(
    _ room: String, participant name: String?, didPublish tracks: [String: [Int]])
  nonisolated func room(_ room: String, didUpdate isRecording: Bool)
}

@Multicast
protocol CoordinatorDelegate: AnyObject {
  var childCoordinators: [any CoordinatorDelegate] { get }
  func coordinator(
    _ coordinator: any CoordinatorDelegate, didFinishWith result: Result<Void, any Error>)
}

@Multicast
protocol Mockish: AnyObject {
  func fetch<Item: Decodable & Sendable>(_ type: Item.Type, id: some Hashable) async throws
    -> [Item]
  func closure(_ body: @escaping (_ a: Int, _ b: inout String) -> (() -> Void)?)
  func nested(_ value: [[String: (Int, (Bool) -> Void)]]?)
  func existential(_ value: (any Equatable & Sendable)?) -> (any Error)?
  func metatype(_ type: any Error.Type) -> (any Error.Type)?
  @available(*, noasync) func blocking() -> Bool
}
