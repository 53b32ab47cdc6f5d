internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// The loops that the other workloads are compared with, and the ones one might write instead.
  static var floor: Workload {
    Workload("floor", summary: "bare loops over observers, per delivery") { settings in
      settings.sizes(or: [10, 1000]).map { size in
        Experiment("floor", detail: "N = \(size)") {
          let strong = Listeners(size)
          let weak = Listeners(size)
          let list = BareList<any Observer>(strong.observers.map { $0 })
          let openList = BareList<any OpenObserver>(strong.observers.map { $0 })
          let weakList = BareWeakList(weak.observers)
          let naiveList = NaiveList(strong.observers.map { $0 })
          let strongCase = { (name: String, isBaseline: Bool, run: @escaping (Int) -> Void) in
            Case(
              name, size: size, isBaseline: isBaseline, deliveries: size,
              delivered: strong.takeReceived, run: run)
          }
          return [
            strongCase("floor", true) { BareLoop.notify(list, $0) },
            strongCase("open floor", false) { BareLoop.notify(openList, $0) },
            strongCase("for loop", false) { BareLoop.notify(naiveList, $0) },
            Case(
              "weak floor", size: size, deliveries: size, delivered: weak.takeReceived
            ) { BareLoop.notify(weakList, $0) },
          ]
        }
      }
    }
  }
}
