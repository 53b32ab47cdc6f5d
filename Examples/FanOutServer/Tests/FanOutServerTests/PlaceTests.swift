import NIOCore
import Testing

@testable import FanOutCore

/// What a client gets because of turns.
@Suite struct PlaceTests {
  private let start = Turn()

  /// What a client lacks after turns of `kinds`.
  private func missing(
    _ ahead: Place.Ahead?, _ kinds: [Turn.Kind]
  ) -> (missing: [Place.Missing], place: Place) {
    var place = Place(start, ahead)
    var last = start
    for kind in kinds { last = last.append(kind) }
    let missing = place.advance(to: last).missing
    #expect(place.turn === last)
    return (missing, place)
  }

  private func event(_ id: EventID) throws -> Event {
    let message = try #require(Message(ByteBuffer(string: "x")))
    return Event(id: id, topic: try Topic("news", limit: 9), message: message)
  }

  @Test func gapsAreToldInOrderAndOnce() {
    let gaps = [Gap(after: 3, through: 5), Gap(after: 9, through: 20)]
    #expect(missing(nil, gaps.map(Turn.Kind.gap)).missing == gaps.map(Place.Missing.gone))
    var place = missing(nil, gaps.map(Turn.Kind.gap)).place
    #expect(place.advance(to: place.turn).missing.isEmpty)
  }

  @Test(arguments: [true, false])
  func aClientAheadMissesOnlyTheRestOfAGap(_ isClaim: Bool) throws {
    let kinds = [Turn.Kind.gap(Gap(after: 3, through: 5)), .gap(Gap(after: 6, through: 9))]
    let (missing, place) = missing(Place.Ahead(id: 7, isClaim: isClaim), kinds)
    #expect(missing == [.gone(Gap(after: 7, through: 9))])
    #expect(try place.has(event(7)))
    #expect(try !place.has(event(8)))
  }

  @Test func aClaimHoldsUpToWhatTheLogKnows() throws {
    let bound = Turn.Kind.bound(newest: 7, last: 5)
    let right = missing(Place.Ahead(id: 7, isClaim: true), [bound])
    #expect(right.missing.isEmpty)
    #expect(try right.place.has(event(7)))
    let wrong = missing(Place.Ahead(id: 8, isClaim: true), [bound])
    #expect(wrong.missing == [.gone(Gap(after: 8, through: 5))])
    #expect(try !wrong.place.has(event(6)))
    // The log has confirmed the event, so the bound is older.
    #expect(missing(Place.Ahead(id: 8, isClaim: false), [bound]).missing.isEmpty)
    #expect(missing(nil, [bound]).missing.isEmpty)
  }

  @Test func aClientBeforeTheFirstEventGetsWhatItMissed() throws {
    let begins = Turn.Kind.start(after: 5, last: nil)
    #expect(missing(nil, [begins]).missing.isEmpty)
    #expect(missing(Place.Ahead(id: 5, isClaim: true), [begins]).missing.isEmpty)
    let unknown = Place.Missing.unknown(Gap(after: 2, through: 5))
    #expect(missing(Place.Ahead(id: 2, isClaim: true), [begins]).missing == [unknown])
    #expect(missing(Place.Ahead(id: 2, isClaim: false), [begins]).missing == [unknown])
    let wrong = missing(Place.Ahead(id: 9, isClaim: true), [begins])
    #expect(wrong.missing == [.unknown(Gap(after: 9, through: 5))])
    #expect(try !wrong.place.has(event(6)))
    let right = missing(Place.Ahead(id: 9, isClaim: false), [begins])
    #expect(right.missing.isEmpty)
    #expect(try right.place.has(event(9)))
  }

  @Test func allClientsLearnThatIDsBeginAgain() throws {
    let again = Turn.Kind.start(after: 0, last: 5)
    #expect(missing(nil, [again]).missing == [.gone(Gap(after: 5, through: 0))])
    let ahead = missing(Place.Ahead(id: 7, isClaim: false), [again])
    #expect(ahead.missing == [.gone(Gap(after: 7, through: 0))])
    #expect(try !ahead.place.has(event(1)))
    let reached = missing(Place.Ahead(id: 4, isClaim: false), [again])
    #expect(reached.missing == [.gone(Gap(after: 5, through: 0))])
  }

  @Test func onlyTheFirstEventsWakeStreams() {
    var place = Place(start)
    let gap = start.append(.gap(Gap(after: 1, through: 2)))
    let begun = gap.append(.start(after: 5, last: nil))
    let again = begun.append(.start(after: 0, last: 5)).append(.bound(newest: 1, last: 0))
    #expect(place.advance(to: gap).entries == 0)
    #expect(place.advance(to: again).entries == 1)
  }

  @Test func aLongListOfTurnsIsFreedWithoutStackOverflow() {
    weak var last: Turn?
    do {
      let first = Turn()
      var end = first
      for id in 1...EventID(200_000) { end = end.append(.bound(newest: id, last: id)) }
      last = end
      #expect(last != nil)
      withExtendedLifetime(first) {}
    }
    #expect(last == nil)
  }
}
