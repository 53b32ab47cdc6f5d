/// Parameters of a list of topics.
struct TopicsRequest: Sendable {
  static let limits = 1...1000

  /// Only topics whose names begin with it.
  var prefix = ""
  /// Only topics after this name: the `next` of the page before.
  var after: String?
  var limit = limits.upperBound
  /// The token of the query.
  var token: String?
}

extension TopicsRequest {
  init(query: Substring?) throws(RequestError) {
    var query = try Query(query)
    prefix = try query.take("prefix") ?? prefix
    after = try query.take("after")
    limit = try query.takeNumber("limit", in: Self.limits) ?? limit
    token = try query.take("access_token")
    try query.refuseRest("prefix", "after", "limit")
  }

  /// The page as JSON.
  ///
  /// - Parameters:
  ///   - topics: sorted by name.
  ///   - grant: the topics that the page may have.
  func page(of topics: [TopicStatistics], _ grant: Grant = .all) -> String {
    let rest = topics.lazy.filter { topic in
      topic.topic.hasPrefix(prefix) && (after.map { topic.topic > $0 } ?? true)
        && grant.allows(topic.topic)
    }
    let found = Array(rest.prefix(limit + 1))
    let page = found.prefix(limit)
    var members = [("topics", JSON.array(page.map(\.json)))]
    if found.count > limit, let last = page.last {
      members.append(("next", JSON.string(last.topic)))
    }
    return JSON.object(members)
  }
}
