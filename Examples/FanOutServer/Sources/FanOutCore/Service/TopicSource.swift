package import HTTPTypes
package import NIOCore

/// Topics with their log: what streams and publications need, whatever the routes and connections
/// are.
package final class TopicSource: Sendable {
  package let settings: Settings
  let topics: Topics
  let log: any EventLog
  private let publisher: Publisher

  /// - Parameter makeLog: `nil`: events are only in memory, and ids start at the current time.
  package init(
    _ settings: Settings, makeLog: (@Sendable (Topics) -> any EventLog)? = nil,
    delivery: @escaping Topics.Delivery = Topics.plainDelivery
  ) {
    self.settings = settings
    topics = Topics(settings, delivery: delivery)
    log = makeLog?(topics) ?? LocalLog(topics, startingAfter: EventID.microsecondsSince1970)
    topics.connect(log)
    publisher = Publisher(topics: topics, log: log)
  }
}

extension TopicSource {
  /// - Parameter key: the publisher's own id; a repeat is not published again.
  /// - Throws: an error that is a response.
  package func publish(
    _ data: ByteBuffer, to name: String, type: String?, retry: Duration? = nil, key: String? = nil
  ) async throws -> Receipt {
    let topic = try Topic(name, .all, settings)
    let limit = settings.maxEventBytes
    guard data.readableBytes <= limit else { throw RequestError.tooLong(limit) }
    var request = PublishRequest()
    request.type = try type.map(PublishRequest.type)
    request.retryMilliseconds = try retry.map(PublishRequest.milliseconds)
    request.key = try key.map(PublishRequest.key)
    guard let message = request.message(data) else {
      throw RequestError.badRequest("the event is not UTF-8: events are text")
    }
    do {
      return try await publisher.publish(message, to: topic)
    } catch {
      throw RequestError.unavailable(error)
    }
  }

  /// Subscribes to one topic as the header fields and the query of a request say: `Last-Event-ID`,
  /// `lastEventId=` and `policy=`. Other parameters of the query are those of the application.
  ///
  /// - Parameter whenReadable: called when there are frames again, after there were none.
  /// - Throws: an error that is a response.
  package func subscribe(
    to name: String, _ headers: HTTPFields, query: Substring?,
    whenReadable: @escaping @Sendable () -> Void
  ) throws -> sending StreamFrames {
    let topic = try Topic(name, .all, settings)
    return try subscribe(to: .topic(topic), headers, query: query, whenReadable)
  }

  /// As ``subscribe(to:_:query:whenReadable:)``, to several topics and patterns: each event names
  /// its topic.
  package func subscribe(
    toAll topics: [String], _ headers: HTTPFields, query: Substring?,
    whenReadable: @escaping @Sendable () -> Void
  ) throws -> sending StreamFrames {
    let selection = try TopicSelection(topics, .all, settings)
    return try subscribe(to: selection, headers, query: query, whenReadable)
  }

  private func subscribe(
    to selection: TopicSelection, _ headers: HTTPFields, query: Substring?,
    _ whenReadable: @escaping @Sendable () -> Void
  ) throws -> sending StreamFrames {
    let parameters = (query ?? "").split(separator: "&").filter { parameter in
      let name = parameter.prefix { $0 != "=" }
      return ["policy", "lasteventid", "last-event-id"].contains(name.lowercased())
    }
    let request = try StreamRequest(headers, query: parameters.joined(separator: "&")[...])
    try request.checkPolicy(for: selection)
    do {
      return StreamFrames(
        try topics.subscribe(
          to: selection, after: request.after, request.policy, whenReadable: whenReadable),
        retryMilliseconds: settings.retry.nanoseconds / 1_000_000)
    } catch {
      throw RequestError.unavailable(error)
    }
  }

  /// Ends every stream after its pending events. From now on there are no events and no streams.
  package func close() { topics.close() }

  /// Runs the log until the service group shuts down.
  package func run() async throws { try await log.run() }

  package func drain(within limit: Duration) async { await log.drain(within: limit) }
}
