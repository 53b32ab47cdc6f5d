import CoreMetrics
import InMemoryTracing
import Logging
import MetricsTestKit
import Multicast
import MulticastLogging
import MulticastMetrics
import MulticastTracing

// Your program bootstraps other backends. These keep everything in memory.
let logger = Logger(label: "app") { StreamLogHandler.standardOutput(label: $0) }
let (tracer, metrics) = (InMemoryTracer(), TestMetrics())

let prices = EventHub<Int>(name: "prices")
HubDirectory.shared.add(prices)  // The hubs of this directory are logged and counted.

prices.warnOfLeaks(above: 100, to: logger)
prices.measureHandlers(slowerThan: .milliseconds(500), to: logger)
let drops = DropLog(logger: logger)
let gauges = HubMetrics(factory: metrics)
// In a server: Task { await drops.run(every: .seconds(30)) }, and the same for the gauges.

let view = prices.subscribe(options: [.traced("show price", tracer: tracer)]) { price in
  print("price: \(price)")  // inside a span
}
for price in [42, 43] { prices.send(price, inSpan: "send price", tracer: tracer) }
await prices.flush()
view.cancel()

for span in tracer.finishedSpans where span.operationName == "show price" {
  let cause = tracer.finishedSpans.first { $0.spanID == span.parentSpanID }
  print("\(span.operationName), a child of: \(cause?.operationName ?? "nothing")")
}

let archive = prices.events(buffering: .bounded(1, whenFull: .dropOldest), label: "archive")
for price in [44, 45, 46] { prices.send(price) }
await drops.report()
await gauges.report()
let dropped = try metrics.expectCounter("multicast_dropped_total", [("hub", "prices")])
let pending = try metrics.expectGauge("multicast_pending", [("hub", "prices")])
print("dropped: \(dropped.totalValue), pending: \(Int(pending.lastValue ?? 0))")
withExtendedLifetime(archive) {}
