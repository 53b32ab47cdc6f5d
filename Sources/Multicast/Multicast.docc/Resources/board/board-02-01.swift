import Multicast

nonisolated struct Price: Sendable {
  var symbol: String
  var cents: Int
}

let prices = EventHub<Price>()
let newest = prices.events(buffering: .coalescing(by: \.symbol))

prices.send(Price(symbol: "TEA", cents: 450))
prices.send(Price(symbol: "RICE", cents: 120))
