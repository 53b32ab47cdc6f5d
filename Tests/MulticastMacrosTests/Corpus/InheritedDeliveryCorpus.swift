import Dispatch
import MulticastMacros
import Testing

// Protocols that are not Sendable, and those that refine them, which are.

struct Track: Sendable {
  var number = 0
}

final class Lyrics {
  var text = ""
}

typealias Rating = (Int) -> Void
typealias Bytes = Span<UInt8>
typealias Update = (inout Int) -> Void

enum Media {
  struct Cover: Sendable { var name = "" }

  @Multicast
  nonisolated protocol Titled: AnyObject {
    func rename(_ name: String)
    func reset()
    func show(_ track: Track, _ other: consuming Track?, _ cover: Cover)
    func pass(
      _ value: any Sendable, _ type: Track.Type, then body: @escaping @Sendable (Int) -> Void)
    func generic<T: Sendable>(_ value: T, _ other: [some Sendable])
    func read(_ lyrics: Lyrics, _ count: Int)
    func rate(_ rating: Rating, _ update: Update)
    func measure(_ bytes: Bytes, _ count: Int)
    func keep(_ rating: @escaping Rating)
    var title: String? { get set }
    var cover: Cover? { get set }
    subscript(track: Track) -> Int? { get set }
  }
}

/// Whether it is Sendable, only the protocol that it refines tells.
@Multicast
protocol Seekable: Media.Titled {
  func seek(_ second: Int)
  func jump(to track: Track?)
}

@Multicast
protocol Playing: Seekable, Sendable {
  func play()
}

final class PlayingRecorder: Recorder, Playing, @unchecked Sendable {
  func rename(_ name: String) { note("rename \(name)") }
  func reset() { note("reset") }
  func show(_ track: Track, _ other: consuming Track?, _ cover: Media.Cover) {
    note("show \(track.number) \(cover.name)")
  }
  func pass(_ value: any Sendable, _ type: Track.Type, then body: @escaping @Sendable (Int) -> Void)
  {
    note("pass \(value)")
    body(id)
  }
  func generic<T: Sendable>(_ value: T, _ other: [some Sendable]) {
    note("generic \(value) \(other)")
  }
  func read(_ lyrics: Lyrics, _ count: Int) { note("read \(lyrics.text)") }
  func rate(_ rating: Rating, _ update: Update) {
    var value = id
    update(&value)
    rating(value)
  }
  func measure(_ bytes: Bytes, _ count: Int) { note("\(bytes.count)") }
  func keep(_ rating: @escaping Rating) { rating(id) }
  var title: String? { didSet { note("title \(title ?? "")") } }
  var cover: Media.Cover? { didSet { note("cover \(cover?.name ?? "")") } }
  subscript(track: Track) -> Int? {
    get { nil }
    set { note("set \(track.number) \(newValue ?? 0)") }
  }
  func seek(_ second: Int) { note("seek \(second)") }
  func jump(to track: Track?) { note("jump \(track?.number ?? 0)") }
  func play() { note("play") }
}

@Suite("Corpus: delivery of what a Sendable protocol inherits from one that is not Sendable")
struct InheritedDeliveryCorpus {
  @Test("an inherited call without an answer reaches each delegate on its queue")
  func queue() async {
    let (first, second, log) = pair(PlayingRecorder.self)
    let composite = MulticastPlaying([second])
    let queue = DispatchQueue(label: "player")
    queue.suspend()
    composite.add(first, on: queue)
    composite.play()
    composite.rename("a")
    composite.reset()
    composite.show(Track(number: 1), nil, Media.Cover(name: "b"))
    composite.pass(2, Track.self) { log.note("then \($0)") }
    composite.generic(3, [4])
    composite.title = "c"
    composite.cover = Media.Cover(name: "d")
    composite[Track(number: 5)] = 6
    composite.seek(7)
    composite.jump(to: Track(number: 8))
    (composite as any Media.Titled).rename("e")
    let expected = [
      "play", "rename a", "reset", "show 1 b", "pass 2", "then", "generic 3 [4]", "title c",
      "cover d", "set 5 6", "seek 7", "jump 8", "rename e",
    ]
    func lines(_ id: Int) -> [String] {
      expected.map { $0 == "then" ? "then \(id)" : "\(id) \($0)" }
    }
    #expect(log.take() == lines(2))
    queue.resume()
    await composite.delegates.flush()
    #expect(log.take() == lines(1))
  }

  @Test("and on the main actor")
  @MainActor func mainActor() async {
    let (first, second, log) = pair(PlayingRecorder.self)
    let composite = MulticastPlaying()
    composite.add(first, on: .main)
    composite.add(second, on: .main)
    onAnotherThread {
      composite.rename("a")
      composite.title = "b"
      composite.seek(1)
    }
    #expect(log.take() == [])
    await composite.delegates.flush()
    #expect(Set(log.take()) == Set(both("rename a") + both("title b") + both("seek 1")))
  }

  /// Blocks the main actor until `body` has ended.
  private func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
    let hasEnded = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      body()
      hasEnded.signal()
    }
    hasEnded.wait()
  }

  @Test("arguments that may not leave the thread are passed on the calling thread")
  func local() {
    let (first, second, log) = pair(PlayingRecorder.self)
    let composite = MulticastPlaying([first, second])
    let lyrics = Lyrics()
    lyrics.text = "a"
    composite.read(lyrics, 1)
    #expect(log.take() == both("read a"))
    var sum = 0
    composite.rate({ sum += $0 }, { $0 += 10 })
    #expect(sum == 23)
    composite.measure([1, 2, 3].span, 3)
    #expect(log.take() == both("3"))
    composite.keep { log.note("\($0)") }
    #expect(log.take() == ["1", "2"])
  }
}
