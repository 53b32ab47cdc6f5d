/// How a schedule chooses the next job from those that are ready.
///
/// ## Thread safety
/// A value.
public enum ScheduleOrder: Sendable, Equatable {
  /// Each with the same probability.
  case random
  /// That of the task with the highest priority, as in probabilistic concurrency testing (PCT):
  /// each task has a random priority, and at `preemptions` random steps the task that is about to
  /// run gets one below those of all tasks that have not been preempted.
  ///
  /// A failure that needs `d` such steps, among `n` tasks and `k` steps, is found by a schedule
  /// with a probability of at least 1 / (n · k^d). The number of steps is that of a first run, in
  /// which jobs run in the order in which they became ready. A task that runs fifty times in a row
  /// while others are ready gets the lowest priority, so that waiting by `Task.yield()` ends.
  case priorities(preemptions: Int)
}

/// Chooses the next job.
struct ScheduleChooser {
  private var kind: Kind

  fileprivate enum Kind {
    case random(SplitMix64)
    case priorities(Priorities)
    case choices([Int])
  }

  fileprivate struct Priorities {
    var generator: SplitMix64
    /// The steps at which the task that is about to run gets a low priority, and which. The order
    /// of the low priorities is independent of that of the steps.
    let changes: [Int: Int64]
    var priorities: [Int: Int64] = [:]
    /// Not above any priority so far.
    var lowest: Int64
    var step = 0
    /// The task that ran last, and how often in a row while others were ready.
    var last = (task: 0, count: 0)
  }

  /// - Parameter steps: about how many steps there will be.
  init(_ order: ScheduleOrder, seed: UInt64, steps: Int) {
    var generator = SplitMix64(seed: seed)
    switch order {
    case .random:
      kind = .random(generator)
    case .priorities(let preemptions):
      var changes: [Int: Int64] = [:]
      for number in 0..<preemptions {
        changes[Int.random(in: 1...max(1, steps), using: &generator)] = Int64(-1 - number)
      }
      kind = .priorities(
        Priorities(generator: generator, changes: changes, lowest: Int64(-preemptions)))
    }
  }

  /// Chooses the jobs at these indices, and then always the one that became ready first. An index
  /// at which there is no job stands for the nearest one.
  init(choices: [Int]) {
    kind = .choices(choices.reversed())
  }

  /// The choices that were given.
  var firstChoices: [Int] {
    if case .choices(let rest) = kind { rest.reversed() } else { [] }
  }

  /// The index of the next job.
  ///
  /// - Parameter tasks: the number of the task of each job that is ready.
  mutating func choose(_ tasks: [Int]) -> Int {
    switch kind {
    case .random(var generator):
      let choice = Int(generator.next() % UInt64(tasks.count))
      kind = .random(generator)
      return choice
    case .priorities(var priorities):
      let choice = priorities.choose(tasks)
      kind = .priorities(priorities)
      return choice
    case .choices(var rest):
      guard let choice = rest.popLast() else { return 0 }
      kind = .choices(rest)
      return min(max(choice, 0), tasks.count - 1)
    }
  }
}

extension ScheduleChooser.Priorities {
  fileprivate mutating func choose(_ tasks: [Int]) -> Int {
    step += 1
    for task in tasks where priorities[task] == nil {
      priorities[task] = Int64(generator.next() >> 2)
    }
    var choice = highest(tasks)
    let isAlone = !tasks.contains { $0 != tasks[choice] }
    let isUnfair = !isAlone && last.task == tasks[choice] && last.count >= 50
    if let change = changes[step] {
      priorities[tasks[choice]] = change
      choice = highest(tasks)
    } else if isUnfair {
      lowest -= 1
      priorities[tasks[choice]] = lowest
      choice = highest(tasks)
    }
    let count = last.task == tasks[choice] ? last.count : 0
    last = (tasks[choice], isAlone ? 0 : count + 1)
    return choice
  }

  /// The first job of the task with the highest priority.
  private func highest(_ tasks: [Int]) -> Int {
    var best = 0
    for index in tasks.indices where priorities[tasks[index]]! > priorities[tasks[best]]! {
      best = index
    }
    return best
  }
}
