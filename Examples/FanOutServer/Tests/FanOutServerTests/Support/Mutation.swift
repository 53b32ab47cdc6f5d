/// Generates slightly wrong requests.
struct Mutation {
  private static let seeds = [
    "POST /topics/news HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST /topics/a.b-c_d~e HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: u\r\n\r\n",
    "GET /topics/news/events?policy=latest HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 12\r\n\r\n",
    "GET /topics/news/events?policy=disconnect HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "GET /topics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n",
    "OPTIONS /topics/news HTTP/1.1\r\nHost: a\r\nOrigin: https://b.example\r\n\r\n",
    "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET http://a:80/health?x#y HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
    "PUT * HTTP/1.0\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
  ].map { Array($0.utf8) }

  private static let words = [
    "\r\n", "\r\n\r\n", "\n", "\0", "%", "%00", "%ff", "..", "//", "?", "#", "&", "=", ":", " ",
    "\t", "://", "http://", "[::1", "-1", "0", "18446744073709551616", "9223372036854775807",
    "ffffffffffffffff", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "Last-Event-ID: ",
    "Origin: ", "Host: ", "Authorization: Bearer ", "policy=", "ä", "\u{feff}", "HTTP/1.1", "GET ",
  ].map { Array($0.utf8) }

  private var generator: SplitMix64

  init(seed: UInt64) {
    generator = SplitMix64(seed: seed)
  }

  mutating func next() -> [UInt8] {
    var bytes = Self.seeds.randomElement(using: &generator)!
    for _ in 0..<Int.random(in: 0...6, using: &generator) { change(&bytes) }
    return bytes
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let place = Int.random(in: 0...bytes.count, using: &generator)
    let end = min(bytes.count, place + Int.random(in: 0...12, using: &generator))
    switch Int.random(in: 0...6, using: &generator) {
    case 0: if place < bytes.count { bytes[place] = .random(in: 0...255, using: &generator) }
    case 1: if place < bytes.count { bytes[place] ^= 1 << Int.random(in: 0...7, using: &generator) }
    case 2: bytes.removeSubrange(place..<end)
    case 3: bytes.insert(contentsOf: Self.words.randomElement(using: &generator)!, at: place)
    case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 5: bytes.insert(contentsOf: Self.seeds.randomElement(using: &generator)!, at: place)
    default: bytes.removeSubrange(place...)
    }
  }
}
