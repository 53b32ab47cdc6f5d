import FanOutCore
import Foundation
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct TopicListTests {
  private struct Page: Decodable {
    struct Topic: Decodable { var topic: String }

    var topics: [Topic]
    var next: String?

    var names: [String] { topics.map(\.topic) }
  }

  private func page(_ server: RunningServer, _ query: String) async throws -> Page {
    let answer = try await server.request("GET", "/topics\(query)")
    try #require(answer.status == 200, "\(answer.body)")
    return try JSONDecoder().decode(Page.self, from: Data(answer.body.utf8))
  }

  @Test func pagesHaveEachTopicOnce() async throws {
    try await RunningServer.with { server in
      let names = (0..<25).map { "t\($0)" }.sorted()
      for name in names { try await server.published("x", to: name) }
      for limit in [1, 7, 24, 25, 26] {
        var found: [String] = []
        var after: String?
        repeat {
          let page = try await page(server, "?limit=\(limit)\(after.map { "&after=\($0)" } ?? "")")
          #expect(page.names.count <= limit)
          // The last page has no next one.
          #expect((page.next != nil) == (found.count + page.names.count < names.count))
          found += page.names
          after = page.next
        } while after != nil
        #expect(found == names)
      }
    }
  }

  @Test func aPrefixSelectsTopics() async throws {
    try await RunningServer.with { server in
      for name in ["a", "a.b", "a.c", "ab", "b.a"] { try await server.published("x", to: name) }
      #expect(try await page(server, "?prefix=a.").names == ["a.b", "a.c"])
      #expect(try await page(server, "?prefix=a").names == ["a", "a.b", "a.c", "ab"])
      #expect(try await page(server, "?prefix=a&after=a.b&limit=1").names == ["a.c"])
      #expect(try await page(server, "?prefix=a&after=a.b&limit=1").next == "a.c")
      #expect(try await page(server, "?prefix=c").names == [])
      #expect(try await page(server, "?prefix=&after=zz").names == [])
    }
  }

  @Test func aPageHasNoMoreThanAThousandTopics() async throws {
    try await RunningServer.with { server in
      for number in 1...1001 { try await server.published("x", to: "t\(10_000 + number)") }
      let first = try await page(server, "")
      #expect(first.names.count == 1000)
      #expect(first.next == "t11000")
      let second = try await page(server, "?after=t11000")
      #expect(second.names == ["t11001"])
      #expect(second.next == nil)
    }
  }

  @Test(arguments: ["limit=0", "limit=1001", "limit=x", "limit=", "x=1", "after=a&after=b", "&"])
  func anInvalidQueryIsRefused(_ query: String) async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/topics?\(query)")
      #expect(answer.status == 400)
    }
  }
}
