/// Everything that one run of the program has measured.
struct Report {
  let program: String
  let environment: Environment
  let isQuick: Bool
  let notes: [String]
  private(set) var outcomes: [Outcome] = []
  private(set) var verdicts: [Verdict] = []

  init(_ program: String, _ environment: Environment, isQuick: Bool, notes: [String]) {
    self.program = program
    self.environment = environment
    self.isQuick = isQuick
    self.notes = notes
  }

  mutating func append(_ outcome: Outcome, _ verdicts: [Verdict]) {
    outcomes.append(outcome)
    self.verdicts += verdicts
  }
}

// MARK: - Text

extension Report {
  var headline: String {
    let lines = environment.fields.map { "\($0.name): \($0.value)" }
    return (lines + notes.map { "note: \($0)" }).joined(separator: "\n")
  }

  static func text(of outcome: Outcome) -> String {
    var table = Table(indentation: 2)
    let hasSizes = outcome.rows.contains { $0.size != nil }
    let hasThreads = outcome.rows.contains { $0.threads != 1 }
    table.append(
      ["system"] + (hasSizes ? ["N"] : []) + (hasThreads ? ["threads"] : [])
        + ["metric", "unit", "minimum", "median", "p99", "maximum", "ratio"])
    for row in outcome.rows {
      let distribution = row.distribution
      table.append(
        [row.system] + (hasSizes ? [row.size.map(String.init) ?? ""] : [])
          + (hasThreads ? ["\(row.threads)"] : [])
          + [
            row.metric.name, row.metric.unit, distribution.minimum.formatted,
            distribution.median.formatted, distribution.percentile(99).formatted,
            distribution.maximum.formatted, row.ratio?.fixed(2) ?? "",
          ])
    }
    return "\(outcome.title)\n\(table.text)\n"
  }

  static func text(of verdicts: [Verdict]) -> String {
    var table = Table(indentation: 2)
    table.append(["requirement", "must be", "measured", ""])
    for verdict in verdicts {
      table.append([
        verdict.requirement.title, "\(verdict.requirement.bound)", verdict.value.formatted,
        verdict.isKept ? "ok" : "MISSED",
      ])
    }
    return table.text
  }
}

// MARK: - Files

extension Report {
  /// Writes both files. One that cannot be written does not keep the other from being written.
  func write(json: OutputFile?, csv: OutputFile?) throws(OptionError) {
    let jsonWritten = Result { () throws(OptionError) in try json?.write(self.json) }
    try csv?.write(self.csv)
    try jsonWritten.get()
  }

  /// One line for each row, with a head.
  var csv: String {
    let head = [
      "experiment", "system", "size", "threads", "metric", "unit", "minimum", "median", "p99",
      "maximum", "ratio",
    ]
    var lines = [head.joined(separator: ",")]
    for outcome in outcomes {
      for row in outcome.rows {
        let distribution = row.distribution
        let numbers = [
          distribution.minimum, distribution.median, distribution.percentile(99),
          distribution.maximum,
        ]
        let cells =
          [outcome.name, row.system, row.size.map(String.init) ?? "", "\(row.threads)"]
          + [row.metric.name, row.metric.unit] + numbers.map { "\($0)" }
          + [row.ratio.map { "\($0)" } ?? ""]
        // Names have no quotes in them.
        lines.append(cells.map { $0.contains(",") ? "\"\($0)\"" : $0 }.joined(separator: ","))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  var json: String {
    let document = JSON.object([
      ("program", .string(program)),
      ("environment", .object(environment.fields.map { ($0.name, .string($0.value)) })),
      ("quick", .bool(isQuick)),
      ("notes", .array(notes.map(JSON.string))),
      ("rows", .array(outcomes.flatMap(Self.json))),
      ("requirements", .array(verdicts.map(Self.json))),
    ])
    return document.text() + "\n"
  }

  private static func json(_ outcome: Outcome) -> [JSON] {
    outcome.rows.map { row in
      .object([
        ("experiment", .string(outcome.name)),
        ("system", .string(row.system)),
        ("size", row.size.map(JSON.int) ?? .null),
        ("threads", .int(row.threads)),
        ("metric", .string(row.metric.name)),
        ("unit", .string(row.metric.unit)),
        ("minimum", .number(row.distribution.minimum)),
        ("median", .number(row.distribution.median)),
        ("p99", .number(row.distribution.percentile(99))),
        ("maximum", .number(row.distribution.maximum)),
        ("ratio", row.ratio.map(JSON.number) ?? .null),
        ("samples", .array(row.distribution.samples.map(JSON.number))),
      ])
    }
  }

  private static func json(_ verdict: Verdict) -> JSON {
    .object([
      ("title", .string(verdict.requirement.title)),
      ("bound", .string("\(verdict.requirement.bound)")),
      ("measured", .number(verdict.value)),
      ("kept", .bool(verdict.isKept)),
    ])
  }
}
