import Multicast

/// One run of the program: a source of events, a hub, and the delegates.
final class Demo {
  private let source: any EventSource
  private let threads: Int

  /// The hub. A `MulticastDelegate` holds its delegates weakly unless `add` says otherwise…
  private let delegates = MulticastDelegate<any EventDelegate>()

  // … so the program must keep them alive: here, the run does.
  private let counter: KeyCounter
  private let filter: MatchFilter?
  private let meter: RateMeter

  /// - Parameters:
  ///   - options: what to do.
  ///   - printProgress: where the rate meter prints.
  init(_ options: Options, printProgress: @escaping @Sendable (String) -> Void) throws {
    source = try options.openInput()
    threads = options.threads
    counter = KeyCounter(field: options.keyField, top: options.top)
    filter = try Self.makeFilter(options, reading: source)
    meter = RateMeter(print: printProgress)

    // Registration order is the order of delivery.
    delegates.add(counter)
    if let filter { delegates.add(filter) }
    delegates += meter  // Shorthand for `add`.
  }
}

extension Demo {
  private static func makeFilter(
    _ options: Options, reading source: any EventSource
  ) throws -> MatchFilter? {
    guard let text = options.match ?? (source as? SampleSource)?.match else { return nil }
    guard let path = options.output else { return MatchFilter(text) }
    let input = (source as? LineSource)?.identity
    return MatchFilter(text, writingTo: try OutputFile(path: path, sparing: input))
  }

  /// Delivers all events.
  ///
  /// - Returns: what to print.
  func run() throws -> [String] {
    try FanOut(source: source, delegates: delegates).run(threads: threads)

    // Asks each delegate, and collects the answers in registration order. One that throws does not
    // keep the next from being asked.
    let answers = delegates.results { try $0.didFinish() }

    let report = Report(
      source: source.name, eventsRead: source.eventsRead, threads: threads,
      summaries: try answers.map { try $0.get() })
    try report.checkTotals(delegates: filter == nil ? 2 : 3)
    meter.printProgress()
    return report.lines
  }
}
