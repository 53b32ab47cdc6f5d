import MulticastTestSupport
import Testing

@testable import Multicast

private protocol Bound: AnyObject {}
private protocol Unbound {}
private protocol Parameterised<Element>: AnyObject {
  associatedtype Element
}
private class Base: Bound, Unbound {}
private final class Derived: Base {}
private actor Worker {}
private struct Plain: Unbound {}
private final class Failure: Error, Unbound {}

@Suite("StaticType")
struct StaticTypeTests {
  @Test("a class, an actor and an existential that is bound to classes are references")
  func references() {
    let types: [Any.Type] = [
      (any Bound).self, (any Bound & Sendable).self, (any Unbound & AnyObject).self, AnyObject.self,
      (any Base & Unbound).self, (any Actor).self,
    ]
    for type in types { #expect(StaticType(type).isReference, "\(type)") }
    #if !canImport(ObjectiveC)
      for type in [Base.self, Derived.self, Worker.self] as [Any.Type] {
        #expect(StaticType(type).isReference, "\(type)")
      }
    #endif
  }

  @Test("a value, an optional, an error and an existential of any type are not")
  func others() {
    let types: [Any.Type] = [
      Int.self, Plain.self, String.self, Any.self, (any Unbound).self, (any Error).self,
      (any Error & Unbound).self, (any Bound)?.self, Base?.self, (() -> Void).self, Base.Type.self,
      (any Bound.Type).self, (Int, Base).self,
    ]
    for type in types { #expect(!StaticType(type).isReference, "\(type)") }
  }

  /// What `add` and `remove` find must be what a cast finds.
  private func check<Value>(_ value: Value, is object: AnyObject?) {
    #expect(Entry.classInstance(value) === object, "\(Value.self)")
  }

  @Test("the object of a delegate is found whatever the static type is")
  func objects() {
    let (base, derived, worker, failure) = (Base(), Derived(), Worker(), Failure())
    check(base as any Bound, is: base)
    check(base as any Unbound, is: base)
    check(base as any Base & Unbound, is: base)
    check(derived as Base, is: derived)
    check(derived as any Unbound & AnyObject, is: derived)
    check(derived as AnyObject, is: derived)
    check(derived as Any, is: derived)
    check(derived as Base?, is: nil)
    check(worker, is: worker)
    check(worker as any Actor, is: worker)
    check(failure as any Error, is: failure)
    check(failure as any Error & Unbound, is: failure)
    check(Plain() as any Unbound, is: nil)
    check(Plain(), is: nil)
    check(1, is: nil)
  }
}
