import Testing

@testable import MulticastDemo

@Suite struct ReportTests {
  private func report(received: [Int]) -> Report {
    Report(
      source: "a\nb", eventsRead: 3, threads: 1,
      summaries: received.map { Summary(title: "delegate", received: $0, details: ["detail"]) })
  }

  @Test func theReportListsTheDelegatesInOrder() {
    #expect(
      report(received: [3, 3]).lines == [
        "read 3 lines from a\u{FFFD}b by 1 thread",
        "delegate: received 3", "  detail",
        "delegate: received 3", "  detail",
        "the totals agree: 2 delegates received 3 lines each",
      ])
  }

  @Test func totalsThatAgreePass() throws {
    try report(received: [3, 3]).checkTotals(delegates: 2)
  }

  @Test(arguments: [[3, 2], [4, 3], [3], [3, 3, 3], []])
  func totalsThatDoNotAgreeAreAnError(_ received: [Int]) throws {
    let error = try #require(throws: DemoError.self) {
      try report(received: received).checkTotals(delegates: 2)
    }
    #expect(error.status == 1)
    #expect(error.message.contains("the totals do not agree"))
  }
}
