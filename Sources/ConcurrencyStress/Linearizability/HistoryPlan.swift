/// What the threads of a history call.
struct HistoryPlan: Equatable, Sendable {
  /// An operation, and the index of its argument.
  struct Call: Equatable, Sendable {
    let operation: Int
    let argument: Int
  }

  /// What the first thread calls before the others begin.
  var before: [Call] = []
  /// What each thread calls.
  var threads: [[Call]]
  /// What the first thread calls when the others are done.
  var after: [Call] = []

  /// The number of calls.
  var count: Int { before.count + after.count + threads.reduce(0) { $0 + $1.count } }
}

extension HistoryPlan {
  /// A plan at random.
  init<Subject, Model>(
    _ test: LinearizabilityTest<Subject, Model>, _ generator: inout SplitMix64
  ) {
    func calls(_ range: ClosedRange<Int>) -> [Call] {
      (0..<Int.random(in: range, using: &generator)).map { _ in
        let operation = Int.random(in: 0..<test.operations.count, using: &generator)
        return Call(
          operation: operation,
          argument: Int.random(
            in: test.operations[operation].callTexts.indices, using: &generator))
      }
    }
    let before = calls(0...2)
    let threads = (0..<test.threads).map { _ in calls(1...test.operationsPerThread) }
    self.init(before: before, threads: threads, after: calls(0...2))
  }

  /// The plans that are smaller by one call.
  var smaller: [HistoryPlan] {
    var plans: [HistoryPlan] = []
    for index in after.indices {
      var plan = self
      plan.after.remove(at: index)
      plans.append(plan)
    }
    for thread in threads.indices {
      for index in threads[thread].indices {
        var plan = self
        plan.threads[thread].remove(at: index)
        plan.threads.removeAll(where: \.isEmpty)
        plans.append(plan)
      }
    }
    for index in before.indices {
      var plan = self
      plan.before.remove(at: index)
      plans.append(plan)
    }
    return plans
  }
}
