// Types and values that the examples of the documentation use without declaring them.

import Dispatch
import Multicast

final class Listener: DownloadDelegate {
  func didFinish(_ file: String) {}
}

struct Price: Sendable {
  let symbol = "TEA"
  let value: Int

  init(_ value: Int) { self.value = value }
}

struct Reading: Sendable {}
struct MemoryPressure: Sendable {}

struct LogFile: Sendable {
  func close() {}
}

struct Sensor: Sendable {
  func start() {}
  func stop() {}
}

struct Chart: Sendable {
  func add(_ price: Price) {}
}

let (logger, index, view) = (Listener(), Listener(), Listener())
let chart = Chart()
func store(_ price: Price) async {}
