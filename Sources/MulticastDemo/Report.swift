/// The result of a run.
struct Report {
  /// Where the events came from.
  let source: String
  let eventsRead: Int
  let threads: Int
  /// What each delegate has received, in registration order.
  let summaries: [Summary]
}

extension Report {
  /// The report as it is printed: the same for the same events, whatever the threads did.
  var lines: [String] {
    let read = eventsRead.counted("line")
    var lines = ["read \(read) from \(source.printable) by \(threads.counted("thread"))"]
    for summary in summaries {
      lines.append("\(summary.title): received \(summary.received)")
      lines += summary.details.map { "  \($0)" }
    }
    lines.append("the totals agree: \(summaries.count) delegates received \(read) each")
    return lines
  }

  /// Checks that each delegate received each event once.
  ///
  /// - Parameter delegates: how many delegates there are.
  func checkTotals(delegates: Int) throws {
    guard summaries.count == delegates else {
      throw DemoError.failure(
        "the totals do not agree: \(delegates) delegates, but \(summaries.count) answered")
    }
    for summary in summaries where summary.received != eventsRead {
      throw DemoError.failure(
        "the totals do not agree: \(eventsRead.counted("line")) read, "
          + "but '\(summary.title)' received \(summary.received)")
    }
  }
}
