#if NATS
  import Testing

  @testable import NATSRelay

  /// How far a stream has all messages, as its state says.
  @Suite struct StreamStateTests {
    private func state(_ count: UInt64, deleted: [UInt64]) -> StreamState {
      StreamState(created: 0, first: 11, last: 20, count: count, deleted: deleted)
    }

    @Test func aStreamWithoutGapsHasAllFromItsFirst() {
      let state = state(10, deleted: [])
      #expect(state.gaps == 0)
      #expect(state.complete(after: 10, through: 20) == 20)
      #expect(state.complete(after: 9, through: 20) == nil)
    }

    @Test func itHasAllUpToTheFirstGapBehindThePlace() {
      let state = state(8, deleted: [17, 14])
      #expect(state.gaps == 2)
      #expect(state.complete(after: 10, through: 20) == 13)
      #expect(state.complete(after: 13, through: 20) == nil)
      #expect(state.complete(after: 14, through: 20) == 16)
      #expect(state.complete(after: 14, through: 15) == 15)
      #expect(state.complete(after: 17, through: 20) == 20)
    }

    /// The broker is not asked for a list that is too long.
    @Test func whereTheGapsAreIsUnknownWithoutTheList() {
      #expect(state(8, deleted: []).complete(after: 17, through: 20) == nil)
    }

    @Test func anEmptyStreamHasNoGaps() {
      #expect(StreamState(created: 0, first: 21, last: 20, count: 0).gaps == 0)
    }
  }
#endif
