import AsyncHTTPClient
import Foundation
import NIOCore
import Testing

@testable import FanOutCore

/// The description in OpenAPI against the server.
@Suite(.timeLimit(.minutes(5))) struct DescriptionTests {
  private typealias Object = [String: Any]

  private static let routes: [Route] = [
    .page, .client, .description, .health, .metrics, .topics, .hubs, .events, .topic("a"),
    .subscribe("a"),
  ]

  /// Fails to compile if there is another route: then add it to `routes`.
  private func isDescribed(_ route: Route) -> Bool {
    switch route {
    case .page, .client, .description, .health, .metrics, .topics, .hubs, .events, .topic,
      .subscribe:
      true
    // `OPTIONS *` has no path.
    case .server: false
    }
  }

  private func description(_ server: RunningServer) async throws -> Object {
    let answer = try await server.request("GET", "/openapi.json")
    try #require(answer.status == 200)
    #expect(answer["content-type"] == "application/json; charset=utf-8")
    return try #require(
      try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? Object)
  }

  private func operations(_ path: Object) -> [String: Object] {
    path.filter { ["get", "head", "post", "put", "delete"].contains($0.key) }
      .compactMapValues { $0 as? Object }
  }

  @Test func itHasThePathsAndMethodsOfTheServer() async throws {
    try await RunningServer.with { server in
      let paths = try #require(try await description(server)["paths"] as? Object)
      let patterns = Self.routes.filter(isDescribed).map {
        $0.pattern.replacing("NAME", with: "{topic}")
      }
      #expect(Set(paths.keys) == Set(patterns))
      for (path, value) in paths {
        let path = path.replacing("{topic}", with: "a")
        let methods = Set(
          operations(try #require(value as? Object)).keys.map { $0.uppercased() })
        let allowed = try await server.request("OPTIONS", path)["allow"] ?? ""
        let names = Set(allowed.split(separator: ", ").map(String.init))
        // It is answered everywhere, and needs no description.
        #expect(methods == names.subtracting(["OPTIONS"]), "\(path)")
      }
    }
  }

  @Test func eachParameterIsTakenAndNoOther() async throws {
    try await RunningServer.with { server in
      let values = [
        "policy": "latest", "lastEventId": "1", "event": "price", "retry": "1", "prefix": "a",
        "after": "a", "limit": "1", "access_token": "x", "topic": "a", "id": "x", "begin": "1",
      ]
      var used: Set<String> = []
      for (path, value) in try #require(try await description(server)["paths"] as? Object) {
        let path = path.replacing("{topic}", with: "a")
        for (method, operation) in operations(try #require(value as? Object)) {
          let parameters = operation["parameters"] as? [Object] ?? []
          let inQuery = parameters.filter { $0["in"] as? String == "query" }
          let names = inQuery.compactMap { $0["name"] as? String }
          let required = inQuery.filter { $0["required"] as? Bool == true }
            .compactMap { $0["name"] as? String }
          for name in names {
            let query = try Set(required + [name]).map {
              "\($0)=\(try #require(values[$0], "\($0)"))"
            }
            used.insert(name)
            let target = "\(path)?\(query.joined(separator: "&"))"
            #expect(try await status(server, method, target) == 200, "\(target)")
          }
          for name in required {
            #expect(try await status(server, method, path) == 400, "\(path) \(name)")
          }
          guard !names.isEmpty else { continue }
          let query = try required.map { "\($0)=\(try #require(values[$0]))&" }.joined()
          for name in values.keys where !names.contains(name) {
            #expect(
              try await status(server, method, "\(path)?\(query)\(name)=1") == 400,
              "\(path) \(name)")
          }
        }
      }
      #expect(used == Set(values.keys))
    }
  }

  @Test func theTypesOfEventsAreAsDescribed() async throws {
    try await RunningServer.with { server in
      let description = try await description(server)
      let paths = try #require(description["paths"] as? [String: Object])
      let publish = try #require(paths["/topics/{topic}"]?["post"] as? Object)
      let parameters = try #require(publish["parameters"] as? [Object])
      let event = try #require(parameters.first { $0["name"] as? String == "event" })
      let components = try #require(description["components"] as? [String: Object])
      let member = try #require(components["schemas"]?["Event"] as? Object)
      let members = try #require(member["properties"] as? [String: Object])
      let schemas = [try #require(event["schema"] as? Object), try #require(members["event"])]
      for name in ["begin", "missed", "disconnected", "begins", "a.b", "a b", "Begin"] {
        let target = "/topics/a?event=\(name.replacing(" ", with: "%20"))"
        let isTaken = try await status(server, "post", target) == 200
        for schema in schemas {
          let pattern = try Regex(try #require(schema["pattern"] as? String))
          #expect((name.firstMatch(of: pattern) != nil) == isTaken, "\(name)")
        }
      }
    }
  }

  /// The status of a request whose response may be a stream.
  private func status(
    _ server: RunningServer, _ method: String, _ target: String
  ) async throws -> Int? {
    let client = try await RawClient.connect(port: server.port)
    try await client.send(
      "\(method.uppercased()) \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
    let answer = try await client.read(until: "\r\n\r\n")
    await client.close()
    return Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3))
  }

  @Test(arguments: [
    ("GET", "/health", 200), ("GET", "/topics", 200), ("POST", "/topics/a", 200),
    ("GET", "/topics?limit=0", 400), ("POST", "/topics/a?x", 400),
    ("GET", "/topics/a/events?x", 400), ("GET", "/topics/a", 200), ("GET", "/topics/a?x", 400),
    ("GET", "/events", 400), ("POST", "/events", 415),
    ("GET", "/hubs", 200), ("GET", "/hubs?limit=0", 400),
  ])
  func responsesAreAsDescribed(_ method: String, _ target: String, _ status: Int) async throws {
    try await RunningServer.with { server in
      let stream = try await server.stream("a")
      try await server.published("x", to: "a")
      let answer = try await server.request(method, target)
      #expect(answer.status == status)
      let description = try await description(server)
      let path = String(target.prefix { $0 != "?" }).replacing("topics/a", with: "topics/{topic}")
      let paths = try #require(description["paths"] as? [String: Object])
      let operation = try #require(paths[path]?[method.lowercased()] as? Object)
      let responses = try #require(operation["responses"] as? [String: Object])
      let response = try resolve(try #require(responses["\(status)"]), description)
      let content = try #require(response["content"] as? [String: Object])
      let schema = try #require(content["application/json"]?["schema"] as? Object)
      let value = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
      try check(value, schema, description)
      withExtendedLifetime(stream) {}
    }
  }

  @Test(arguments: [
    (#"{"topic":"a","data":"x"}"#, "application/json", 200, "Receipt"),
    (#"{"topic":"a","data":"x","id":"k"}"#, "application/x-ndjson", 200, "Receipts"),
    ("x", "application/json", 400, "Error"),
  ])
  func responsesToEventsAreAsDescribed(
    _ body: String, _ type: String, _ status: Int, _ schema: String
  ) async throws {
    try await RunningServer.with { server in
      let description = try await description(server)
      for _ in 0..<2 {
        let answer = try await server.publish(batch: body, type)
        #expect(answer.status == status)
        let value = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        try check(value, ["$ref": "#/components/schemas/\(schema)"], description)
      }
    }
  }

  private func resolve(_ object: Object, _ description: Object) throws -> Object {
    guard let reference = object["$ref"] as? String else { return object }
    let target = try reference.split(separator: "/").dropFirst().reduce(description) {
      try #require($0[String($1)] as? Object, "\(reference)")
    }
    return try resolve(target, description)
  }

  /// Checks types, required members, and that there are no others.
  private func check(_ value: Any, _ schema: Object, _ description: Object) throws {
    let schema = try resolve(schema, description)
    switch schema["type"] as? String {
    case "object":
      let object = try #require(value as? Object)
      let properties = try #require(schema["properties"] as? [String: Object])
      #expect(Set(object.keys).isSubset(of: properties.keys), "\(object)")
      for name in schema["required"] as? [String] ?? [] { #expect(object[name] != nil, "\(name)") }
      for (name, value) in object {
        if let property = properties[name] { try check(value, property, description) }
      }
    case "array":
      let items = try #require(schema["items"] as? Object)
      for element in try #require(value as? [Any]) { try check(element, items, description) }
    case "string":
      let text = try #require(value as? String)
      if let names = schema["enum"] as? [String] { #expect(names.contains(text)) }
    case "integer": #expect(value is Int)
    case "number": #expect(value is Double)
    case "boolean": #expect(value is Bool)
    default: Issue.record("an unknown type: \(schema)")
    }
  }
}
