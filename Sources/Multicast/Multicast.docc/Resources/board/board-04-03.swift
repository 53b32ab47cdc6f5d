import Multicast

let prices = TopicHub<String, Int>(retention: .last(100), epoch: 1)

let seen = prices.publish(450, to: "prices.TEA")!
prices.publish(120, to: "prices.RICE")
prices.publish(455, to: "prices.TEA")
prices.finish()

for await element in prices.events(matching: ["prices.*"], from: .after(seen)) {
  switch element {
  case .event(let event, at: let position): print(position, event.topic, event.event)
  case .missed(let range, of: _): print("missing: \(range.count, default: "unknown")")
  }
}
