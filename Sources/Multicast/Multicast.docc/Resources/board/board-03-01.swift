import Multicast

nonisolated struct Price: Sendable {
  var symbol: String
  var cents: Int
}

let board = StateHub([String: Int]()) { (board: inout [String: Int], price: Price) in
  board[price.symbol] = price.cents
}
