import Multicast

nonisolated struct Price: Sendable {
  var symbol: String
  var cents: Int
}

let board = StateHub([String: Int]()) { (board: inout [String: Int], price: Price) in
  board[price.symbol] = price.cents
}

board.apply(Price(symbol: "TEA", cents: 450))
board.apply(Price(symbol: "RICE", cents: 120))
print("now:", board.value["TEA"] ?? 0)
