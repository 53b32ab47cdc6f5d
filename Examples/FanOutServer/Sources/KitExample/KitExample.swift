import FanOut
import Hummingbird

@main struct KitExample {
  static func main() async throws {
    let hub = FanOutHub()
    let router = Router()
    router.get("/events/:topic") { request, context in
      try hub.sse(request, topic: context.parameters.require("topic"))
    }
    router.post("/events/:topic") { request, context in
      let body = try await request.body.collect(upTo: 65_536)
      let event = try await hub.publish(body, to: context.parameters.require("topic"))
      return "\(event.id)\n"
    }
    let port = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 8080
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      services: [hub])
    try await application.runService()
  }
}
