import Foundation
import Testing

@testable import FanOutCore

/// The statuses of the description in OpenAPI against those that the server gives.
@Suite(.timeLimit(.minutes(5))) struct DescribedStatusTests {
  private typealias Object = [String: Any]

  private struct Operation: Hashable, Sendable {
    let method: String
    let path: String

    var isPublication: Bool { method == "POST" }
    /// Only a request that the server cannot read has an answer with a body.
    var hasNoBody: Bool { method == "HEAD" }
    var isMonitoring: Bool { ["/health", "/metrics"].contains(path) }

    /// A request that succeeds, apart from `fields`.
    func request(
      _ fields: String..., host: String = "localhost", length: String? = nil,
      type: String = "application/json", method: String? = nil, version: String = "1.1"
    ) -> String {
      let query = path == "/events" && !isPublication ? "?topic=a" : ""
      let body = isPublication ? #"{"topic":"a","data":"x"}"# : ""
      let target = path.replacing("{topic}", with: "a") + query
      let lines = [
        "\(method ?? self.method) \(target) HTTP/\(version)", "Host: \(host)",
        "Content-Type: \(type)", length ?? "Content-Length: \(body.utf8.count)",
      ]
      return (lines + fields + ["", body]).joined(separator: "\r\n")
    }
  }

  /// Of requests whose method the server does not know, because it cannot read their heads.
  private static let unreadable: Set = [431, 505]

  /// A server, and what it answers to an operation.
  private struct Case: Sendable {
    var settings = Settings()
    /// Connections that it has already.
    var connections = 0
    let statuses: @Sendable (Operation) -> [(request: String, status: Int)]
  }

  private func cases() throws -> [Case] {
    var local = Settings()
    local.isLoopbackOnly = true
    let token = "a-token-of-the-file"
    var closed = Settings()
    closed.tokens = AccessTokens(publish: try Tokens(token), subscribe: try Tokens(token))
    var perAddress = Settings()
    perAddress.maxConnectionsPerAddress = 1
    var full = Settings()
    full.maxConnections = 1
    let long = "X: " + String(repeating: "x", count: 200_000)
    return [
      Case(settings: local) { operation in
        let all = [
          (operation.request(), 200), (operation.request("Host: localhost"), 400),
          (operation.request("Origin: https://page.example"), 403),
          (operation.request(host: "server.example"), 421), (operation.request(long), 431),
          (operation.request(length: "Transfer-Encoding: gzip, chunked"), 501),
          (operation.request(version: "1.2"), 505),
        ]
        guard !operation.hasNoBody else { return all }
        let other = [(operation.request(method: "DELETE"), 405)]
        guard operation.isPublication else { return all + other }
        let refused = [
          (operation.request(length: "Content-Length: 9999999"), 413),
          (operation.request("Content-Encoding: gzip"), 415),
        ]
        guard operation.path == "/events" else { return all + other + refused }
        return all + other + refused + [(operation.request(type: "text/plain"), 415)]
      },
      Case(settings: closed) { operation in
        let isOpen = ["/", "/client.js", "/openapi.json"].contains(operation.path)
        return [(operation.request(), isOpen || operation.isMonitoring ? 200 : 401)]
      },
      Case(settings: perAddress, connections: 1) { [($0.request(), 429)] },
      Case(settings: full, connections: 1) { [($0.request(), $0.isMonitoring ? 200 : 503)] },
    ]
  }

  /// The statuses of each operation, and those among them whose response is an `Error`.
  private func described() throws -> [Operation: (all: Set<Int>, errors: Set<Int>)] {
    let data = Data(PackageResources.openapi_json)
    let description = try #require(try JSONSerialization.jsonObject(with: data) as? Object)
    let components = try #require(description["components"] as? Object)
    let shared = try #require(components["responses"] as? [String: Object])
    var result: [Operation: (all: Set<Int>, errors: Set<Int>)] = [:]
    var used: Set<String> = []
    for (path, value) in try #require(description["paths"] as? [String: Object]) {
      for (method, value) in value where method != "parameters" {
        let operation = Operation(method: method.uppercased(), path: path)
        let responses = try #require((value as? Object)?["responses"] as? [String: Object])
        result[operation] = ([], [])
        for (status, response) in responses {
          let status = try #require(Int(status))
          let reference = response["$ref"] as? String
          let name = reference.map { String($0.trimmingPrefix("#/components/responses/")) }
          if let name { used.insert(name) }
          let content = try #require(name.map { shared[$0] } ?? response)["content"] as? Object
          let schema = (content?["application/json"] as? Object)?["schema"] as? Object
          result[operation]?.all.insert(status)
          guard schema?["$ref"] as? String == "#/components/schemas/Error" else { continue }
          result[operation]?.errors.insert(status)
        }
      }
    }
    #expect(used == Set(shared.keys))
    return result
  }

  @Test func theDescriptionHasTheStatusesOfTheServerAndNoOthers() async throws {
    let described = try described()
    let operations = Array(described.keys)
    var given: [Operation: Set<Int>] = [:]
    for one in try cases() {
      let statuses = try await RunningServer.with(one.settings) { server in
        var held: [RawClient] = []
        for _ in 0..<one.connections {
          held.append(try await RawClient.connect(port: server.port))
          try await held.last?.send("GET /topics/a/events HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = try await held.last?.read(until: "\r\n\r\n")
        }
        var statuses: [Operation: Set<Int>] = [:]
        for operation in operations {
          for (request, status) in one.statuses(operation) {
            let client = try await RawClient.connect(port: server.port)
            try await client.send(request)
            if operation.hasNoBody { await client.finish() }
            let answer =
              try await operation.hasNoBody
              ? client.readAll() : client.read(until: "\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(operation): \(answer)")
            if operation.hasNoBody, !Self.unreadable.contains(status) {
              #expect(answer.hasSuffix("\r\n\r\n"), "\(operation): \(answer)")
            } else if status >= 400 {
              _ = try await client.read(until: #"{"error":""#)
            }
            await client.close()
            statuses[operation, default: []].insert(status)
          }
        }
        for client in held { await client.close() }
        return statuses
      }
      given.merge(statuses) { $0.union($1) }
    }
    for operation in operations {
      var expected = try #require(given[operation])
      let errors = operation.hasNoBody ? Self.unreadable : expected.subtracting([200])
      #expect(described[operation]?.errors == errors, "\(operation)")
      // While it shuts down.
      if operation.path == "/health" { expected.insert(503) }
      #expect(described[operation]?.all == expected, "\(operation)")
    }
  }
}
