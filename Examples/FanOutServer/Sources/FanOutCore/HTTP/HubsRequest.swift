internal import Multicast

/// Parameters of a list of hubs.
struct HubsRequest: Sendable {
  static let limits = 1...1000

  /// The most receivers of each hub.
  var limit = 50
  /// The token of the query.
  var token: String?
}

extension HubsRequest {
  init(query: Substring?) throws(RequestError) {
    var query = try Query(query)
    limit = try query.takeNumber("limit", in: Self.limits) ?? limit
    token = try query.take("access_token")
    try query.refuseRest("limit")
  }

  /// The hubs as JSON, the receivers for which the most events wait first.
  ///
  /// - Parameter grant: the topics whose receivers it may have. Unless these are all, only they
  ///   count.
  /// - Complexity: O(n log n) for n receivers.
  func page(of hubs: [HubSnapshot], _ grant: Grant = .all) -> String {
    JSON.object([("hubs", JSON.array(hubs.map { json(of: $0, grant) }))])
  }

  private func json(of hub: HubSnapshot, _ grant: Grant) -> String {
    let receivers = hub.receivers.filter { Self.allows($0, grant) }
    func sum(_ count: (DeliveryStatistics) -> Int) -> Int {
      receivers.reduce(0) { $0 + ($1.statistics.map(count) ?? 0) }
    }
    var counts = ("\(hub.dropped)", "\(hub.refused)")
    if case .patterns = grant { counts = ("\(sum { $0.dropped })", "0") }
    let first = receivers.sorted(by: Self.isSlower).prefix(limit)
    return JSON.object([
      ("name", JSON.string(hub.name ?? "")), ("type", JSON.string(hub.type)),
      ("receiverCount", "\(receivers.count)"), ("pending", "\(sum { $0.pending })"),
      ("dropped", counts.0), ("refused", counts.1),
      ("receivers", JSON.array(first.map(Self.json))),
    ])
  }

  /// Patterns of a receiver are not the name of a topic, and only for who may have all topics.
  private static func allows(_ receiver: ReceiverSnapshot, _ grant: Grant) -> Bool {
    if case .all = grant { return true }
    guard let topic = receiver.topic, (try? Topic(topic[...], limit: .max)) != nil else {
      return false
    }
    return grant.allows(topic)
  }

  /// Those without a difference are in the order of their topics, so that a list stays as it is.
  private static func isSlower(_ first: ReceiverSnapshot, _ second: ReceiverSnapshot) -> Bool {
    func rank(_ receiver: ReceiverSnapshot) -> (Int, Int) {
      (receiver.statistics?.pending ?? 0, receiver.statistics?.dropped ?? 0)
    }
    let ranks = (rank(first), rank(second))
    return ranks.0 == ranks.1 ? (first.topic ?? "") < (second.topic ?? "") : ranks.0 > ranks.1
  }

  private static func json(of receiver: ReceiverSnapshot) -> String {
    var members = [
      ("line", JSON.string(receiver.site?.description ?? "")),
      ("kind", JSON.string(receiver.kind)), ("place", JSON.string(receiver.place)),
    ]
    if let topic = receiver.topic { members.append(("topic", JSON.string(topic))) }
    if let label = receiver.label { members.append(("label", JSON.string(label))) }
    if let age = receiver.age { members.append(("age", "\((age * 10).rounded() / 10)")) }
    if let statistics = receiver.statistics {
      members += [
        ("delivered", "\(statistics.delivered)"), ("pending", "\(statistics.pending)"),
        ("dropped", "\(statistics.dropped)"),
      ]
    }
    return JSON.object(members)
  }
}
