import Multicast

nonisolated struct Price: Sendable {
  var symbol: String
  var cents: Int
}

let prices = EventHub<Price>()
