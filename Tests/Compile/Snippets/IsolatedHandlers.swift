// Handlers that belong to an actor may use its state, wherever they are passed to `subscribe`.

import Dispatch
import Multicast

struct Price: Sendable {
  var symbol = ""
  var value = 0.0
}

@globalActor actor Trading {
  static let shared = Trading()
}

@MainActor final class Board {
  var last: [String: Double] = [:]
  var subscriptions: [EventSubscription] = []

  func show(_ price: Price) { last[price.symbol] = price.value }
  func store(_ price: Price) async { last[price.symbol] = price.value }

  func follow(_ feed: EventHub<Price>, _ topics: TopicHub<String, Price>) {
    subscriptions = [
      feed.subscribe { [weak self] price in self?.last[price.symbol] = price.value },
      feed.subscribe(on: .main) { [weak self] price in self?.last[price.symbol] = price.value },
      // expected-five-warning@+1 {{converting non-Sendable function value}}
      feed.subscribe(show),
      feed.subscribe { [weak self] price in await self?.store(price) },
      feed.subscribe(buffering: .latest, where: { $0.value > 0 }) {
        self.last[$0.symbol] = $0.value
      },
      feed.subscribe(on: .sender) { _ in },
      topics.subscribe(to: "SWFT") { [weak self] price in self?.show(price) },
      topics.subscribe(to: "SWFT", on: .main) { [weak self] price in self?.show(price) },
    ]
    feed.subscribe(with: self) { board, price in board.last[price.symbol] = price.value }
    feed.subscribe(with: self) { board, price in await board.store(price) }
    feed.subscribe(with: self, on: .main) { board, price in board.show(price) }
    topics.subscribe(to: "SWFT", with: self) { board, price in board.show(price) }
  }
}

@Trading final class Desk {
  var last = 0.0

  func follow(_ feed: EventHub<Price>) -> EventSubscription {
    feed.subscribe { [weak self] price in self?.last = price.value }
  }
}

actor Ledger {
  var total = 0.0

  func book(_ price: Price) { total += price.value }
  func settle(_ price: Price) async { total += price.value }

  func follow(_ feed: EventHub<Price>, _ topics: TopicHub<String, Price>) -> [EventSubscription] {
    feed.subscribe(with: self) { ledger, price in ledger.total += price.value }
    feed.subscribe(with: self) { ledger, price in await ledger.settle(price) }
    topics.subscribe(to: "SWFT", with: self) { ledger, price in ledger.book(price) }
    return [
      feed.subscribe { self.total += $0.value },
      // expected-five-warning@+1 {{converting non-Sendable function value}}
      feed.subscribe(book),
      feed.subscribe { await self.settle($0) },
      feed.subscribe(maxConcurrentCalls: 4) { [weak self] price in await self?.settle(price) },
    ]
  }
}

/// An actor as a parameter.
func follow(_ feed: EventHub<Price>, for ledger: isolated Ledger) -> EventSubscription {
  feed.subscribe { price in ledger.total += price.value }
}

/// Code that belongs to no actor.
func follow(
  _ feed: EventHub<Price>, _ board: Board, _ ledger: Ledger, _ queue: DispatchQueue
) -> [EventSubscription] {
  feed.subscribe(with: ledger) { ledger, price in ledger.total += price.value }
  feed.subscribe(with: board) { @MainActor board, price in board.show(price) }
  return [
    feed.subscribe { @MainActor price in board.show(price) },
    feed.subscribe { @Trading _ in },
    feed.subscribe(on: .main) { price in board.show(price) },
    // expected-five-warning@+1 {{converting non-Sendable function value}}
    feed.subscribe(on: .main, board.show),
    feed.subscribe(on: queue) { _ in },
    feed.subscribe(on: .global()) { _ in },
    feed.subscribe(on: DispatchQueue.main) { _ in },
    feed.subscribe { _ in },
    feed.subscribe { _ in await Task.yield() },
  ]
}
