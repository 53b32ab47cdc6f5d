/// What was called, with its result, as text.
///
/// ## Thread safety
/// Instances are `Sendable`. The thread that writes a report reads the texts.
public protocol DescribedCall: Sendable {
  /// The call with its arguments.
  var callText: String { get }
  /// The result; empty if it has none.
  var resultText: String { get }
}

extension History where Call: DescribedCall {
  /// The history with a column for each thread; time runs downwards.
  ///
  /// A call that overlaps no other is one line, `dequeue() → 1`. Of a call that overlaps others,
  /// one line has the call and a later one the result:
  ///
  /// ```
  /// thread 0         thread 1
  /// enqueue(7)
  /// ┌ dequeue()
  /// │                ┌ dequeue()
  /// └ 7              │
  ///                  └ 7
  /// ```
  public var columns: String {
    let threads = Set(operations.map(\.thread)).sorted()
    let events = operations.indices.flatMap { index in
      [(time: operations[index].began, index, true), (operations[index].returned, index, false)]
    }.sorted { $0.time < $1.time }
    var running: [Int: Int] = [:]
    var lines = [threads.map { "thread \($0)" }]
    var skips = false
    for (position, (_, index, isCall)) in events.enumerated() {
      if skips {
        skips = false
        continue
      }
      let (action, thread) = (operations[index].action, operations[index].thread)
      var text: String
      if isCall, running.isEmpty, position + 1 < events.count, events[position + 1].1 == index {
        text = action.wholeText
        skips = true  // Its return is the next event.
      } else if isCall {
        text = "┌ \(action.callText)"
      } else {
        running[thread] = nil
        text = "└ \(action.resultText)"
      }
      lines.append(
        threads.map { $0 == thread ? text : running[$0] != nil ? "│" : "" })
      if isCall && !skips { running[thread] = index }
    }
    return Columns.text(lines)
  }
}

extension DescribedCall {
  /// The call with its result.
  var wholeText: String { resultText.isEmpty ? callText : "\(callText) → \(resultText)" }
}
