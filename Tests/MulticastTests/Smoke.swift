import Multicast
import Synchronization
import Testing

protocol Obs: AnyObject, Sendable { func on(_ x: Int) }
final class O: Obs {
  let n = Atomic<Int>(0)
  func on(_ x: Int) { n.wrappingAdd(x, ordering: .relaxed) }
}
@Test(arguments: StorageStrategy.allCases) func smoke(_ s: StorageStrategy) {
  let hub = MulticastDelegate<any Obs>(storage: s)
  let a = O()
  let b = O()
  var c: O? = O()
  let r = hub.add(a)
  hub += b
  hub.add(c!)
  hub.add(a)
  #expect(hub.count == 3)
  hub ~> { $0.on(1) }
  c = nil
  #expect(hub.count == 2)
  #expect(hub.prune() == 0)
  r.cancel()
  r.cancel()
  #expect(!r.isActive)
  hub.invoke { $0.on(1) }
  #expect(a.n.load(ordering: .relaxed) == 1)
  #expect(b.n.load(ordering: .relaxed) == 2)
  #expect(hub.remove(b))
  #expect(!hub.remove(b))
  #expect(hub.isEmpty)
  #expect(r.cancelAndWait(timeout: .seconds(1)))
  for _ in 0..<1000 {
    let o = O()
    hub += o
    #expect(hub.contains(o))
  }
  #expect(hub.count == 0)
  print(hub)
}
