/// What happened in a round of ``Churn``, with logical times, and whether that is allowed.
struct ChurnHistory {
  /// Later than everything.
  static let never = Int.max

  /// From when to when one delegate was registered.
  struct Registration {
    var addBegan = 0
    var addReturned = ChurnHistory.never
    var removeBegan = ChurnHistory.never
    var removeReturned = ChurnHistory.never
    /// Whether it was removed by `cancelAndWait`.
    var waited = false
    /// When the last reference was about to be dropped, if the hub holds none.
    var releaseBegan = ChurnHistory.never
    /// When the delegate's deinitialisation began.
    var died = ChurnHistory.never
  }

  /// One invocation, and the delegates that it called.
  struct Invocation {
    var began = 0
    var ended = 0
    /// Indices of registrations, in the order of the calls.
    var calls: [Int] = []
    /// When each call was made; empty if the invocation did not record it.
    var times: [Int] = []
  }

  var registrations: [Registration] = []
  var invocations: [Invocation] = []
}

extension ChurnHistory {
  /// What must not have happened, if anything.
  ///
  /// - Complexity: O(invocations × registrations).
  func violation() -> String? {
    var seenBy = [Int](repeating: -1, count: registrations.count)
    for (number, invocation) in invocations.enumerated() {
      if let violation = wrongCall(invocation, number, &seenBy) { return violation }
      for (id, registration) in registrations.enumerated() where seenBy[id] != number {
        let ends = min(registration.removeBegan, registration.releaseBegan)
        if registration.addReturned < invocation.began && ends > invocation.ended {
          return "delegate \(id) was registered and alive throughout an invocation that did not "
            + "call it"
        }
      }
    }
    return nil
  }

  private func wrongCall(
    _ invocation: Invocation, _ number: Int, _ seenBy: inout [Int]
  ) -> String? {
    // The list was fetched before the first callback ran.
    let fetched = invocation.times.first ?? invocation.ended
    var newestBefore = Int.min
    // The check of a delegate comes after the callback of the one before it.
    var checkedAfter = invocation.began
    for (position, id) in invocation.calls.enumerated() {
      guard registrations.indices.contains(id) else { return "a call came to no delegate: \(id)" }
      let registration = registrations[id]
      if seenBy[id] == number { return "delegate \(id) was called twice by one invocation" }
      seenBy[id] = number
      if registration.addBegan > fetched {
        return "delegate \(id) was called by an invocation that had begun before it was added"
      }
      if registration.removeReturned < checkedAfter {
        return "delegate \(id) was called by an invocation that reached it after its removal"
      }
      if registration.died < checkedAfter { return "delegate \(id) was called after its end" }
      if registration.addReturned < newestBefore {
        return "delegate \(id) was called after one that was added later"
      }
      newestBefore = max(newestBefore, registration.addBegan)
      guard position < invocation.times.count else { continue }
      checkedAfter = invocation.times[position]
      if registration.waited && registration.removeReturned < checkedAfter {
        return "delegate \(id) was called after cancelAndWait had returned"
      }
    }
    return nil
  }
}
