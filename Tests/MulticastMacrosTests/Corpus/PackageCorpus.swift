import Foundation
import MulticastMacros
import Testing

// The protocols of `PackageProtocols.swift`, and how their composites behave.

@MainActor
final class InterfaceRecorder: TableViewDelegate, TableViewDataSource, ScrollViewDelegate,
  NavigationDelegate
{
  let id: Int
  let log: Log
  init(_ id: Int, _ log: Log) {
    self.id = id
    self.log = log
  }
  private func note(_ text: String) { log.note("\(id) \(text)") }
  func tableView(_ tableView: TableView, willDisplay cell: Int, forRowAt indexPath: IndexPath2) {
    note("display \(cell)")
  }
  func tableView(_ tableView: TableView, shouldHighlightRowAt indexPath: IndexPath2) -> Bool {
    id == 1
  }
  func tableView(_ tableView: TableView, willSelectRowAt indexPath: IndexPath2) -> IndexPath2? {
    id == 1 ? nil : indexPath
  }
  func tableView(_ tableView: TableView, heightForRowAt indexPath: IndexPath2) -> Double {
    Double(id)
  }
  func tableView(_ tableView: TableView, didSelectRowAt indexPath: IndexPath2) { note("select") }
  func numberOfSections(in tableView: TableView) -> Int { id }
  func tableView(_ tableView: TableView, numberOfRowsInSection section: Int) -> Int { section }
  func tableView(_ tableView: TableView, titleForHeaderInSection section: Int) -> String? { nil }
  func sectionIndexTitles(for tableView: TableView) -> [String]? { ["\(id)"] }
  func tableView(_ tableView: TableView, commit style: EditingStyle, forRowAt indexPath: IndexPath2)
  {
    note("\(style)")
  }
  func scrollViewDidScroll(_ offset: Double) { note("\(offset)") }
  func scrollViewWillEndDragging(velocity: Double, targetOffset: inout Double) {
    targetOffset += velocity
  }
  func viewForZooming() -> TableView? { nil }
  func scrollViewShouldScrollToTop() -> Bool { true }
  func decidePolicy(for url: URL) async -> Decision { .deny }
  func webView(didFinish url: URL!) { note("finish") }
  func webView(decide handler: @escaping @MainActor (Decision) -> Void) { handler(.ask) }
}

final class PackageRecorder: Recorder, TextFieldDelegate, CaptureDelegate, SessionDelegate,
  StreamDelegate2,
  LocationDelegate, PeripheralDelegate, StoreDelegate, CacheDelegate, ResultsControllerDelegate,
  SocketDelegate, Logger2, Plugin, MetricsRecorder, RoomDelegate, CoordinatorDelegate, Mockish,
  @unchecked Sendable
{
  var level: Int?
  func textField(
    _ text: String, shouldChangeCharactersIn range: Range<Int>, replacementString: String
  ) -> Bool { range.isEmpty }
  func textFieldDidBeginEditing() { note("begin") }
  func textFieldShouldReturn() -> Bool { id == 2 }
  func captureOutput(didOutput frame: [UInt8], from connection: Int) { note("\(frame.count)") }
  func captureOutput(didDrop frame: [UInt8], reason: String?) { note(reason ?? "") }
  func captureOutput(didFinish url: URL, error: (any Error)?) { note(url.path) }
  func session(didBecomeInvalidWithError error: (any Error)?) { note("invalid") }
  func session(task: Int, didReceive data: Data, completion: @escaping Completion) {
    completion(.success(data))
  }
  func session(challenge: String) async -> URLCredential2 { .trust }
  func session(task: Int, willRedirectTo request: URL) async -> URL? { id == 1 ? nil : request }
  func session(task: Int, totalBytes: Int64, expected: Int64) { note("\(totalBytes)/\(expected)") }
  func xmppStreamWillConnect(_ sender: StreamSender) { note("connect") }
  func xmppStream(_ sender: StreamSender, didReceive message: [String: Any]) {
    note("\(message.count)")
  }
  func xmppStream(_ sender: StreamSender, willSend message: [String: Any]) -> [String: Any]? {
    id == 1 ? nil : message
  }
  func xmppStreamDidDisconnect(_ sender: StreamSender, withError error: (any Error)?) {
    note("gone")
  }
  func xmppStream(
    _ sender: StreamSender, alternativeResourceForConflictingResource resource: String
  ) -> String? { "\(resource)\(id)" }
  func locationManager(didUpdate locations: [(latitude: Double, longitude: Double)]) {
    note("\(locations[0].latitude)")
  }
  func locationManager(didFailWith error: any Error) { note("failed") }
  func locationManagerShouldDisplayHeadingCalibration() -> Bool { false }
  func peripheral(_ id: UUID, didDiscover services: [String]?) { note("services") }
  func peripheral(_ id: UUID, didUpdateValue value: Data, for characteristic: String, at date: Date)
  {
    note(characteristic)
  }
  func store(didChange state: Int, from old: Int, by action: String) {
    note("\(old)\(action)\(state)")
  }
  func shouldReduce(_ action: String) -> Bool { true }
  func cache(willEvict value: StreamSender, for key: String) { note("evict \(key)") }
  func cost(of value: StreamSender) -> Int { id }
  func controllerWillChangeContent() { note("will") }
  func controller(
    didChange object: Any, at indexPath: IndexPath2?, for type: Int, newIndexPath: IndexPath2?
  ) { note("\(type)") }
  func controller(sectionIndexTitleForSectionName name: String) -> String? { name }
  func socket(_ id: Int, didRead data: [UInt8], withTag tag: Int) { note("\(tag)") }
  func socket(
    _ id: Int, shouldTimeoutWriteWithTag tag: Int, elapsed: Duration, done: UInt
  ) -> Duration? { .seconds(self.id) }
  func socketDidDisconnect(_ id: Int, withError error: (any Error)?) { note("gone") }
  func log(_ message: @autoclosure () -> String, file: StaticString, line: UInt) { note(message()) }
  func log(metadata: [String: Any]) { note("\(metadata.count)") }
  func middlewares() throws -> [@Sendable (Int) -> Int] { [{ [id] in $0 + id }] }
  func headers() -> [String: String] { ["id": "\(id)", "k\(id)": ""] }
  func shutDown() async throws { note("down"); throw Failure(id: id) }
  func increment(_ name: StaticString, by amount: Int) { note("\(name) \(amount)") }
  func time<T>(_ name: String, _ body: () throws -> T) rethrows { _ = try body() }
  func budget(_ name: String) -> Double { Double(id) }
  func room(_ room: String, participantDidJoin name: String) { note(name) }
  func room(_ room: String, participant name: String?, didPublish tracks: [String: [Int]]) {
    note("p")
  }
  func room(_ room: String, didUpdate isRecording: Bool) { note("\(isRecording)") }
  var childCoordinators: [any CoordinatorDelegate] { [self] }
  func coordinator(
    _ coordinator: any CoordinatorDelegate, didFinishWith result: Result<Void, any Error>
  ) { note("finished") }
  func fetch<Item: Decodable & Sendable>(_ type: Item.Type, id: some Hashable) async throws
    -> [Item]
  { [] }
  func closure(_ body: @escaping (_ a: Int, _ b: inout String) -> (() -> Void)?) {
    var text = ""
    _ = body(id, &text)
    note(text)
  }
  func nested(_ value: [[String: (Int, (Bool) -> Void)]]?) { note("nested") }
  func existential(_ value: (any Equatable & Sendable)?) -> (any Error)? { nil }
  func metatype(_ type: any Error.Type) -> (any Error.Type)? { type }
  @available(*, noasync) func blocking() -> Bool { true }
}

final class AudioRecorder: NSObject, AudioPlayerDelegate {
  let log: Log
  init(_ log: Log) { self.log = log }
  func audioPlayerDidFinishPlaying(successfully flag: Bool) { log.note("\(flag)") }
  func audioPlayerDecodeErrorDidOccur(error: (any Error)?) {}
}

@Suite("Corpus: delegates of real packages")
struct PackageCorpus {
  let first: PackageRecorder
  let second: PackageRecorder
  let log: Log

  init() {
    (first, second, log) = pair(PackageRecorder.self)
  }

  @MainActor @Test func userInterface() async {
    let recorders = [InterfaceRecorder(1, log), InterfaceRecorder(2, log)]
    let table = TableView()
    let delegate = MulticastTableViewDelegate(recorders)
    delegate.tableView(table, willDisplay: 3, forRowAt: IndexPath2())
    delegate.tableView(table, didSelectRowAt: IndexPath2())
    #expect(log.take() == both("display 3") + both("select"))
    #expect(!delegate.tableView(table, shouldHighlightRowAt: IndexPath2()))
    #expect(delegate.tableView(table, willSelectRowAt: IndexPath2(row: 2))?.row == 2)
    #expect(delegate.tableView(table, heightForRowAt: IndexPath2()) == 2)
    let source = MulticastTableViewDataSource(recorders)
    #expect(source.numberOfSections(in: table) == 3)
    #expect(source.tableView(table, numberOfRowsInSection: 7) == 7)
    #expect(source.tableView(table, titleForHeaderInSection: 0) == nil)
    #expect(source.sectionIndexTitles(for: table) == ["1"])
    source.tableView(table, commit: .delete, forRowAt: IndexPath2())
    #expect(log.take() == both("delete"))
    let scroll = MulticastScrollViewDelegate(recorders)
    var offset = 0.0
    scroll.scrollViewWillEndDragging(velocity: 2, targetOffset: &offset)
    #expect(offset == 4 && scroll.viewForZooming() == nil && scroll.scrollViewShouldScrollToTop())
    let navigation = MulticastNavigationDelegate(recorders)
    #expect(await navigation.decidePolicy(for: URL(filePath: "/")) == .deny)
    var decisions = 0
    navigation.webView { _ in decisions += 1 }
    navigation.webView(didFinish: nil)
    #expect(decisions == 2)
  }

  @Test func media() {
    let capture = MulticastCaptureDelegate([first, second])
    capture.captureOutput(didOutput: [1, 2], from: 0)
    capture.captureOutput(didDrop: [], reason: "late")
    capture.captureOutput(didFinish: URL(filePath: "/x"), error: nil)
    #expect(log.take() == both("2") + both("late") + both("/x"))
    let audio = AudioRecorder(log)
    MulticastAudioPlayerDelegate([audio]).audioPlayerDidFinishPlaying(successfully: true)
    #expect(log.take() == ["true"])
    let text = MulticastTextFieldDelegate([first, second])
    #expect(!text.textField("", shouldChangeCharactersIn: 0..<1, replacementString: ""))
    #expect(text.textFieldShouldReturn())
    text.textFieldDidBeginEditing()
    #expect(log.take() == both("begin"))
  }

  @Test func network() async {
    let session = MulticastSessionDelegate([first, second])
    let log = log
    session.session(task: 1, didReceive: Data([1])) { _ in log.note("completed") }
    session.session(didBecomeInvalidWithError: nil)
    session.session(task: 1, totalBytes: 2, expected: 3)
    #expect(log.take() == ["completed", "completed"] + both("invalid") + both("2/3"))
    #expect(await session.session(challenge: "c") == .trust)
    #expect(await session.session(task: 1, willRedirectTo: URL(filePath: "/y"))?.path == "/y")
    let socket = MulticastSocketDelegate([first, second])
    socket.socket(1, didRead: [], withTag: 9)
    #expect(log.take() == both("9"))
    #expect(
      socket.socket(1, shouldTimeoutWriteWithTag: 1, elapsed: .zero, done: 0) == .seconds(1))
    MulticastPeripheralDelegate([first, second])
      .peripheral(UUID(), didUpdateValue: Data(), for: "c", at: Date())
    #expect(log.take() == both("c"))
  }

  @Test func messaging() {
    let stream = MulticastStreamDelegate2([first, second])
    let sender = StreamSender()
    stream.xmppStreamWillConnect(sender)
    stream.xmppStream(sender, didReceive: ["a": 1])
    #expect(log.take() == both("connect") + both("1"))
    #expect(stream.xmppStream(sender, willSend: [:])?.isEmpty == true)
    #expect(stream.xmppStream(sender, alternativeResourceForConflictingResource: "r") == "r1")
    MulticastRoomDelegate([first, second]).room("r", didUpdate: true)
    MulticastLocationDelegate([first, second]).locationManager(didUpdate: [(1, 2)])
    #expect(log.take() == both("true") + both("1.0"))
  }

  @Test func data() {
    let store = MulticastStoreDelegate<Int, String>([first, second])
    store.store(didChange: 2, from: 1, by: "+")
    #expect(log.take() == both("1+2"))
    #expect(store.shouldReduce("x"))
    let cache = MulticastCacheDelegate<String, StreamSender>([first, second])
    cache.cache(willEvict: StreamSender(), for: "k")
    #expect(cache.cost(of: StreamSender()) == 3)
    let results = MulticastResultsControllerDelegate([first, second])
    results.controller(didChange: 1, at: nil, for: 4, newIndexPath: nil)
    #expect(log.take() == both("evict k") + both("4"))
    #expect(results.controller(sectionIndexTitleForSectionName: "n") == "n")
  }

  @Test func tools() async throws {
    let logger = MulticastLogger2([first, second])
    logger.log("m", file: "f", line: 1)
    logger.log(metadata: ["a": 1])
    logger.level = 3
    #expect(log.take() == both("m") + both("1"))
    #expect(second.level == 3)
    let plugin = MulticastPlugin([first, second])
    #expect(try plugin.middlewares().reduce(0) { $1($0) } == 3)
    #expect(plugin.headers() == ["id": "1", "k1": "", "k2": ""])
    await #expect(throws: Failure(id: 1)) { try await plugin.shutDown() }
    #expect(log.take() == both("down"))
    let metrics = MulticastMetricsRecorder([first, second])
    var runs = 0
    metrics.time("t") { runs += 1 }
    metrics.increment("i", by: 2)
    #expect(runs == 2 && metrics.budget("b") == 1)
    #expect(log.take() == both("i 2"))
    let coordinator = MulticastCoordinatorDelegate([first, second])
    #expect(coordinator.childCoordinators.count == 2)
    coordinator.coordinator(coordinator, didFinishWith: .success(()))
    #expect(log.take() == both("finished"))
  }

  @Test func hardOnesOfMockGenerators() async throws {
    let composite = MulticastMockish([first, second])
    #expect(try await composite.fetch(Int.self, id: 1).isEmpty)
    composite.closure { value, text in
      text = "\(value)"
      return nil
    }
    composite.nested(nil)
    #expect(log.take() == ["1 1", "2 2"] + both("nested"))
    #expect(composite.existential(1) == nil)
    #expect(composite.metatype(Failure.self) != nil)
  }
}
