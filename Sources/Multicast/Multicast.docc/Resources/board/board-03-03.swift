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

let display = board.subscribe(on: .sender) { update in
  switch update {
  case .snapshot(let board): print("snapshot:", board.sorted(by: <).map { "\($0.key) \($0.value)" })
  case .change(let price): print("change:", price.symbol, price.cents)
  }
}
board.apply(Price(symbol: "TEA", cents: 455))
