// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Testing

/// How often each race runs. Most faults show in the first thousands of rounds.
let raceRounds = 1_500

/// Races of two or three operations. Each test lists the outcomes that are allowed.
@Suite("Outcomes of races", .serialized)
struct OutcomeTests {
  /// Runs the race, with a delegate that is always there in front, and checks how it ends.
  private func check(
    _ storage: StorageStrategy, duplicates: DuplicatePolicy = .ignore, rounds: Int = raceRounds,
    allowed: Set<[Int]>,
    prepare: @escaping @Sendable (RaceState) -> Void = { _ in },
    actors: [@Sendable (RaceState) -> Void],
    outcome: @escaping @Sendable (RaceState) -> [Int],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let tracker = LifetimeTracker()
    let outcomes = race(
      rounds: rounds,
      setUp: {
        let state = RaceState(storage, duplicates, tracker)
        prepare(state)
        return state
      },
      actors: actors, outcome: outcome)
    let seen = Set(outcomes.keys)
    #expect(seen.isSubset(of: allowed), "\(outcomes)", sourceLocation: sourceLocation)
    #expect(outcomes.values.reduce(0, +) == rounds, sourceLocation: sourceLocation)
    #expect(tracker.created >= rounds, sourceLocation: sourceLocation)
    #expect(tracker.created == tracker.destroyed, "leaked", sourceLocation: sourceLocation)
    #expect(tracker.lateCalls == 0, "called too late", sourceLocation: sourceLocation)
  }

  @Test("add ‖ invoke: the new one is called or not", arguments: StorageStrategy.allCases)
  func addVersusInvoke(storage: StorageStrategy) {
    check(
      storage, allowed: [[1, 0, 1], [1, 1, 2]],
      actors: [
        { state in state.hub.add(state.target!) },
        { state in state.note = state.hub.invoke { $0.receive(1) } },
      ],
      outcome: { [$0.front.calls, $0.target!.calls, $0.note] })
  }

  @Test(
    "add many ‖ invoke: a prefix of them is called", arguments: StorageStrategy.allCases)
  func addManyVersusInvoke(storage: StorageStrategy) {
    // Enough of them to make the list grow twice.
    let many = 9
    check(
      storage,
      allowed: Set(
        (0...many).map { Array(repeating: 1, count: $0) + Array(repeating: 0, count: many - $0) }),
      prepare: { $0.makeGuests(many) },
      actors: [
        { state in for guest in state.guests { state.hub.add(guest) } },
        { state in state.hub.invoke { $0.receive(1) } },
      ],
      outcome: { $0.guests.map(\.calls) })
  }

  @Test("remove ‖ invoke: called or not", arguments: StorageStrategy.allCases)
  func removeVersusInvoke(storage: StorageStrategy) {
    check(
      storage, allowed: [[1, 0, 1], [1, 1, 2]],
      prepare: { $0.addTarget() },
      actors: [
        { state in #expect(state.hub.remove(state.target!)) },
        { state in state.note = state.hub.invoke { $0.receive(1) } },
      ],
      outcome: { [$0.front.calls, $0.target!.calls, $0.note] })
  }

  @Test(
    "remove a strong one ‖ invoke ‖ invoke: called while it lives, then gone",
    arguments: StorageStrategy.allCases)
  func removeStrongVersusTwoInvocations(storage: StorageStrategy) {
    check(
      storage, allowed: [[2]],
      prepare: {
        $0.addTarget(.strong)
        $0.target = nil
      },
      actors: [
        { $0.registration!.cancel() },
        { state in state.hub.invoke { $0.receive(1) } },
        { state in state.hub.invoke { $0.receive(1) } },
      ],
      outcome: { [$0.front.calls] })
  }

  @Test(
    "replace ‖ invoke: called once or not, never twice", arguments: StorageStrategy.allCases)
  func replaceVersusInvoke(storage: StorageStrategy) {
    check(
      storage, duplicates: .replace, allowed: [[1, 1, 2], [1, 0, 1]],
      prepare: { $0.addTarget() },
      actors: [
        { state in state.hub.add(state.target!) },
        { state in state.note = state.hub.invoke { $0.receive(1) } },
      ],
      outcome: { [$0.front.calls, $0.target!.calls, $0.note] })
  }

  @Test(
    "replace again and again ‖ invoke: called once or not, never twice",
    arguments: StorageStrategy.allCases)
  func replaceAgainVersusInvoke(storage: StorageStrategy) {
    check(
      storage, duplicates: .replace, allowed: [[1, 1, 2], [1, 0, 1]],
      prepare: { $0.addTarget() },
      actors: [
        { state in for _ in 0..<10 { state.hub.add(state.target!) } },
        { state in state.note = state.hub.invoke { $0.receive(1) } },
      ],
      outcome: { [$0.front.calls, $0.target!.calls, $0.note] })
  }

  @Test(
    "replace ‖ invoke, both again and again: no invocation calls the old one and the new one",
    arguments: StorageStrategy.allCases)
  func replaceNeverCallsBoth(storage: StorageStrategy) {
    check(
      storage, duplicates: .replace, allowed: [[0], [1]],
      prepare: { state in
        state.hub.removeAll()
        state.addTarget()
      },
      actors: [
        { state in for _ in 0..<30 { state.hub.add(state.target!) } },
        { state in
          for _ in 0..<30 { state.note = max(state.note, state.hub.invoke { $0.receive(1) }) }
        },
      ],
      outcome: { [$0.note] })
  }

  @Test(
    "cancelAndWait ‖ invoke: no call after it has returned", arguments: StorageStrategy.allCases)
  func cancelAndWaitVersusInvoke(storage: StorageStrategy) {
    check(
      storage, rounds: raceRounds / 4, allowed: [[0], [1], [2]],
      prepare: { $0.addTarget() },
      actors: [
        { state in
          state.linger(Int.random(in: 0..<5_000))
          #expect(state.registration!.cancelAndWait(timeout: .seconds(60)))
          state.target!.poison()
        },
        { state in
          for _ in 0..<2 {
            state.hub.invoke { delegate in
              if delegate.id == 1 { state.linger() }  // So that there is something to wait for.
              delegate.receive(1)
            }
          }
        },
      ],
      outcome: { [$0.target!.calls] })
  }

  @Test(
    "cancelAndWait ‖ invoke: what the callback wrote can be read without a lock",
    arguments: StorageStrategy.allCases)
  func cancelAndWaitPublishesTheCallbacks(storage: StorageStrategy) {
    check(
      storage, rounds: raceRounds / 4, allowed: [[0], [1]],
      prepare: { $0.addTarget() },
      actors: [
        { state in
          state.linger(Int.random(in: 0..<5_000))
          #expect(state.registration!.cancelAndWait(timeout: .seconds(60)))
          state.note = state.scratch  // The thread sanitizer would see it.
        },
        { state in
          state.hub.forEach { delegate in
            guard delegate === state.target! else { return }
            state.linger()
            state.scratch += 1
          }
        },
      ],
      outcome: { [$0.note] })
  }

  @Test(
    "last release ‖ invoke: called while it lives, or not", arguments: StorageStrategy.allCases)
  func lastReleaseVersusInvoke(storage: StorageStrategy) {
    check(
      storage, allowed: [[1, 1], [1, 2]],
      prepare: { $0.addTarget() },
      actors: [
        { $0.target = nil },
        { state in state.note = state.hub.invoke { $0.receive(1) } },
      ],
      outcome: { [$0.front.calls, $0.note] })
  }

  @Test(
    "last release ‖ remove of it by handle ‖ count", arguments: StorageStrategy.allCases)
  func lastReleaseVersusCancelVersusCount(storage: StorageStrategy) {
    check(
      storage, allowed: [[1, 0], [2, 0]],
      prepare: { $0.addTarget() },
      actors: [
        { $0.target = nil },
        { $0.registration!.cancel() },
        { $0.note = $0.hub.count },
      ],
      outcome: { [$0.note, $0.hub.count - 1] })
  }

  @Test(
    "self-removal ‖ invoke: each invocation calls it at most once",
    arguments: StorageStrategy.allCases)
  func selfRemoval(storage: StorageStrategy) {
    let leave: @Sendable (RaceState) -> Void = { state in
      state.hub.forEach { delegate in
        delegate.receive(1)
        if delegate.id == 1 { state.hub.remove(delegate) }
      }
    }
    check(
      storage, allowed: [[2, 1, 1], [2, 2, 1]],
      prepare: { $0.addTarget() },
      actors: [leave, leave],
      outcome: { [$0.front.calls, $0.target!.calls, $0.hub.count] })
  }

  @Test(
    "removal of another ‖ removal of another: at least one of them is called",
    arguments: StorageStrategy.allCases)
  func removalOfAnother(storage: StorageStrategy) {
    // Each is called by an invocation of its own and removes the other one.
    check(
      storage, allowed: [[1, 0], [0, 1], [1, 1]],
      prepare: { state in
        state.makeGuests(2)
        for guest in state.guests { state.hub.add(guest) }
      },
      actors: (0..<2).map { index in
        { state in
          state.hub.forEach { delegate in
            guard delegate === state.guests[index] else { return }
            delegate.receive(1)
            state.hub.remove(state.guests[1 - index])
          }
        }
      },
      outcome: { $0.guests.map(\.calls) })
  }

  @Test("prune ‖ add: the living stays, the dead goes", arguments: StorageStrategy.allCases)
  func pruneVersusAdd(storage: StorageStrategy) {
    check(
      storage, allowed: [[2, 1], [2, 0]],
      prepare: { state in
        state.addTarget()
        state.makeGuests(1)
        state.target = nil
      },
      actors: [
        { $0.note = $0.hub.prune() },
        { $0.hub.add($0.guests[0]) },
      ],
      outcome: { state in
        let pruned = state.note + state.hub.prune()
        #expect(pruned == 1)
        return [state.hub.count, state.note]
      })
  }

  @Test(
    "invoke ‖ the last reference to the hub goes away", arguments: StorageStrategy.allCases)
  func invokeVersusEndOfHub(storage: StorageStrategy) {
    check(
      storage, allowed: [[0, 0], [1, 1]],
      prepare: {
        $0.addTarget(.strong)
        $0.target = nil
        $0.sharedHub.value = $0.takeHub()
      },
      actors: [
        { $0.sharedHub.value = nil },
        { state in
          var called = 0
          state.sharedHub.value?.forEach { delegate in
            delegate.receive(1)
            called += 1
          }
          // All or nothing: the invocation keeps the hub.
          state.note = called == 2 ? 1 : called == 0 ? 0 : -1
        },
        { _ = $0.registration!.isActive },
      ],
      outcome: { [$0.front.calls, $0.note] })
  }

  @Test(
    "cancel ‖ the last reference to the hub goes away", arguments: StorageStrategy.allCases)
  func cancelVersusEndOfHub(storage: StorageStrategy) {
    check(
      storage, allowed: [[0]],
      prepare: {
        $0.addTarget(.strong)
        $0.target = nil
        $0.sharedHub.value = $0.takeHub()
      },
      actors: [
        { $0.sharedHub.value = nil },
        { $0.registration!.cancel() },
      ],
      outcome: { [$0.registration!.isActive ? 1 : 0] })
  }

  @Test(
    "removeAll ‖ add ‖ invoke: the new one is there or not, and no delegate is called twice",
    arguments: StorageStrategy.allCases)
  func removeAllVersusAddVersusInvoke(storage: StorageStrategy) {
    check(
      storage,
      allowed: [
        [0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1],
      ],
      actors: [
        { $0.hub.removeAll() },
        { $0.hub.add($0.target!) },
        { state in state.hub.invoke { $0.receive(1) } },
      ],
      outcome: { [$0.front.calls, $0.target!.calls, $0.hub.count] })
  }
}
