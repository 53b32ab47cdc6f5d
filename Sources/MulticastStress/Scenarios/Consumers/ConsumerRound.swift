import ConcurrencyStress
import Multicast
import Synchronization

/// One hub with one consumer, which the first thread ends while the others send.
final class ConsumerRound: ScenarioRound, @unchecked Sendable {
  // Sendable: `task` and `sequence` are accessed by the first thread alone, `hub` is read by all
  // threads, and all three change when the threads are done.
  private let trial: Trial
  private let end: ConsumerEnd
  private let events: Int
  private var hub: EventHub<Payload>?
  private let log: ConsumerLog
  private var sequence: EventSequence<Payload>?
  private var task: Task<Void, Never>?
  /// How many events of each sender the hub has accepted.
  private let accepted: [Counter]
  private let waitingSenders = Counter()
  private let sendersLeft = Counter()

  init(_ trial: Trial, senders: Int, end: ConsumerEnd, events: Int) {
    self.trial = trial
    self.end = end
    self.events = events
    let hub = EventHub<Payload>(storage: trial.storage)
    let log = ConsumerLog(senders: senders)
    self.hub = hub
    self.log = log
    accepted = (0..<senders).map { _ in Counter() }
    sendersLeft.add(senders)
    let sequence = hub.events(
      buffering: end.hasWaitingSenders ? .bounded(1, whenFull: .suspend) : .unbounded)
    if end == .abandoned {
      self.sequence = sequence
      log.end()
    } else {
      task = Task { await Self.consume(sequence, end, log) }
    }
  }

  private static func consume(
    _ sequence: EventSequence<Payload>, _ end: ConsumerEnd, _ log: ConsumerLog
  ) async {
    if end == .cancelledEarly {
      while !Task.isCancelled { await Task.yield() }
    }
    for await event in sequence {
      log.receive(event)
      if end == .dropped { break }
      if end.hasWaitingSenders { await Task.yield() }
    }
    log.end()
  }

  func work(_ worker: inout Worker) {
    if worker.index == 0 {
      worker.spin(upTo: 512)
      endConsumer(&worker)
    } else {
      send(&worker, as: worker.index - 1)
      sendersLeft.add(-1)
    }
  }

  private func endConsumer(_ worker: inout Worker) {
    switch end {
    case .cancelled, .cancelledEarly, .cancelledWithSendersWaiting:
      worker.begin("cancel")
      task?.cancel()
    case .finished, .finishedWithSendersWaiting:
      worker.begin("finish")
      hub?.finish()
    case .finishedWhenAllHasCome:
      worker.begin("wait")
      trial.wait(for: "a consumer slept while events waited") {
        sendersLeft.value == 0 && log.count == accepted.reduce(0) { $0 + $1.value }
      }
      hub?.finish()
    case .abandoned:
      worker.begin("abandon")
      sequence = nil
    case .dropped:
      worker.begin("cancel")  // There may be no further event.
      if worker.once(in: 2) { task?.cancel() } else { hub?.finish() }
    }
  }

  private func send(_ worker: inout Worker, as sender: Int) {
    guard let hub else { return }
    if end.hasWaitingSenders {
      worker.begin("sendWaiting")
      let (trial, events, waitingSenders) = (trial, events, waitingSenders)
      let accepted = accepted[sender]
      waitingSenders.add(1)
      Task {
        for number in 1...events {
          let isTaken = await hub.sendWaiting(Payload(number, from: sender, trial.lifetimes))
          if isTaken { accepted.add() }
        }
        waitingSenders.add(-1)
      }
      return
    }
    for number in 1...events {
      worker.begin("send")
      let reached = hub.send(Payload(number, from: sender, trial.lifetimes))
      accepted[sender].add(reached)
    }
  }

  func check() {
    trial.wait(for: "a consumer did not end") { log.hasEnded }
    trial.wait(for: "a waiting sender did not return") { waitingSenders.value == 0 }
    guard log.hasEnded, waitingSenders.value == 0, let hub else { return }
    for (sender, accepted) in accepted.map(\.value).enumerated() {
      let run = log.run(of: sender)
      if let gap = run.gap {
        trial.fail("sender \(sender): \(gap.came) came after \(gap.after)")
      }
      if run.first > 1 { trial.fail("sender \(sender): \(run.first) came first") }
      guard end != .cancelledWithSendersWaiting else { continue }
      let isAllowed =
        switch end {
        case .finished, .finishedWhenAllHasCome, .finishedWithSendersWaiting: run.last == accepted
        default: run.last <= accepted
        }
      trial.expect(
        isAllowed, "sender \(sender): \(run.last) of \(accepted) accepted events came")
    }
    trial.expect(end != .cancelledEarly || log.count == 0, "a cancelled task got an event")
    trial.expect(
      hub.subscriberCount == 0, "\(hub.subscriberCount) consumers are left in the hub")
    trial.expect(
      hub.statistics.pending == 0, "\(hub.statistics.pending) events wait for no consumer")
    trial.expect(
      hub.send(Payload(1, from: 0, trial.lifetimes)) == 0,
      "an event entered a buffer without a consumer")
    self.hub = nil
    task = nil
    // A task that has ended may hold its sequence for a moment.
    trial.wait(for: "events were not destroyed") { trial.lifetimes.live == 0 }
  }
}

/// What a consumer has received.
final class ConsumerLog: @unchecked Sendable {
  // Sendable: `runs` is accessed by the consuming task, and by others when it has ended.
  private var runs: [ReceivedRun]
  private let received = Counter()
  private let ended = Atomic(false)

  init(senders: Int) {
    runs = Array(repeating: ReceivedRun(), count: senders)
  }

  func receive(_ event: Payload) {
    runs[event.sender].receive(event.number)
    received.add(1)
  }

  var count: Int { received.value }

  func run(of sender: Int) -> ReceivedRun { runs[sender] }

  // Releasing and acquiring: a thread that sees the end sees what came before it.
  func end() { ended.store(true, ordering: .releasing) }
  var hasEnded: Bool { ended.load(ordering: .acquiring) }
}
