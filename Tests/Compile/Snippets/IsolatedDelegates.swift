// Hubs of protocols that belong to an actor.

import Dispatch
import Multicast

// MARK: - The main actor

@MainActor protocol StatusDelegate: AnyObject, Sendable {
  func show(_ text: String)
  var isVisible: Bool { get }
}

extension MulticastDelegate where Delegate == any StatusDelegate {
  @discardableResult
  func invoke(_ body: @escaping @MainActor @Sendable (any StatusDelegate) -> Void) -> Int {
    invokeIsolated(body)
  }
}

@MainActor final class StatusView: StatusDelegate {
  var isVisible = true
  func show(_ text: String) {}
}

func addFromAnywhere(_ hub: MulticastDelegate<any StatusDelegate>, _ view: StatusView) {
  hub.add(view)
  hub += view
  hub.add(view, on: .main)
  hub.add(view, on: .main, buffering: .latest)
  hub.invoke { $0.show("saved") }
  hub.invoke { @MainActor view in view.show("saved") }
  hub.invokeIsolated { @MainActor view in view.show("saved") }
}

@MainActor func callOnTheMainActor(_ hub: MulticastDelegate<any StatusDelegate>) {
  hub.forEach { $0.show("saved") }
  for view in hub { view.show("saved") }
  _ = hub.results { $0.isVisible }
  _ = hub.firstResult { $0.isVisible ? true : nil }
  hub.invoke { $0.show("saved") }
}

func callFromElsewhere(_ hub: MulticastDelegate<any StatusDelegate>) async {
  await hub.forEachIsolated { @MainActor in $0.show("saved") }
  let visible: [Result<Bool, Never>] = await hub.resultsIsolated { @MainActor in $0.isVisible }
  let first = await hub.firstResultIsolated { @MainActor in $0.isVisible ? true : nil }
  let last = await hub.lastResultIsolated { @MainActor in $0.isVisible ? true : nil }
  _ = (visible, first, last)
}

// MARK: - The main actor, not Sendable

@MainActor protocol PlainDelegate: AnyObject {
  func show(_ text: String)
}

@MainActor final class PlainView: PlainDelegate {
  let views = MulticastDelegate<any PlainDelegate>()
  func show(_ text: String) {}

  func use() {
    views.add(self)
    views.add(self, on: .main)
    views.forEach { $0.show("saved") }
  }
}

// MARK: - Another global actor

@globalActor actor Trading {
  static let shared = Trading()
}

@Trading protocol TradingDelegate: AnyObject, Sendable {
  func filled(_ order: Int)
}

extension MulticastDelegate where Delegate == any TradingDelegate {
  @discardableResult
  func invoke(_ body: @escaping @Trading @Sendable (any TradingDelegate) -> Void) -> Int {
    invokeIsolated(body)
  }
}

func trade(_ hub: MulticastDelegate<any TradingDelegate>, _ delegate: any TradingDelegate) {
  hub.add(delegate)
  hub.add(delegate, on: Trading.shared)
  hub.invoke { $0.filled(1) }
}

// MARK: - Actors

protocol Account: Actor {
  func book(_ amount: Int)
}

extension MulticastDelegate where Delegate == any Account {
  @discardableResult
  func invoke(_ body: @escaping @Sendable (isolated any Account) -> Void) -> Int {
    invoke(onEach: { $0 }) { await body($0) }
  }
}

actor Savings: Account {
  var total = 0
  func book(_ amount: Int) { total += amount }
}

func book(_ hub: MulticastDelegate<any Account>, _ account: Savings) {
  hub.add(account)
  hub.invoke { $0.book(1) }
}
