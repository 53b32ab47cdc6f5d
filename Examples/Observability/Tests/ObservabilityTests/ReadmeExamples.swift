import Multicast
import MulticastTracing

private struct Order: Sendable {}

private func store(_ order: Order) async {}

/// An example of the README, which ``ReadmeTests`` searches here.
private func storeOrders(_ order: Order) async {
  let orders = EventHub<Traced<Order>>()
  let sequence = orders.events()

  orders.send(tracing: order, inSpan: "place order")

  for await order in sequence {
    await order.withSpan("store order") { order, _ in await store(order) }
  }
}
