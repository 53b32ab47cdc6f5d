/// Publishes to the log of a server, and acknowledges what is published again without doing so.
struct Publisher: Sendable {
  let topics: Topics
  let log: any EventLog
}

extension Publisher {
  func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
    guard message.key != nil else { return try await log.publish(message, to: topic) }
    return try await publish([Publication(message: message, topic: topic)])[0].get()
  }

  /// Publishes as ``publish(_:to:)`` does, if nothing has to be waited for.
  ///
  /// - Returns: `nil`, and nothing was done, if something has.
  func publishAtOnce(_ message: Message, to topic: Topic) throws(Unavailable) -> Receipt? {
    guard message.key == nil else { return nil }
    return try log.publishAtOnce(message, to: topic)
  }

  /// Publishes in the order of `publications`.
  ///
  /// - Parameter publications: no two of them have a topic and a key in common.
  /// - Returns: the results, in the same order. After a failure all others are failures too.
  func publish(_ publications: [Publication]) async -> [Result<Receipt, Unavailable>] {
    let names = publications.compactMap(\.name)
    let known = names.isEmpty ? [:] : await topics.keys.begin(names)
    func id(_ publication: Publication) -> EventID? { publication.name.flatMap { known[$0] } }
    let new = publications.filter { id($0) == nil }
    let results = new.isEmpty ? [] : await log.publish(new)
    topics.keys.end(
      zip(new, results).compactMap { publication, result in
        publication.name.map { ($0, try? result.get().id) }
      })
    var next = results.makeIterator()
    return publications.map { publication in
      guard let id = id(publication) else {
        return next.next() ?? .failure(Unavailable("the event was not published"))
      }
      let count = topics.subscriberCount(of: publication.topic)
      return .success(Receipt(id: id, subscribers: count, isRepeated: true))
    }
  }
}

extension Publication {
  fileprivate var name: PublicationKeys.Name? {
    message.key.map { PublicationKeys.Name(topic: topic, key: $0) }
  }
}
