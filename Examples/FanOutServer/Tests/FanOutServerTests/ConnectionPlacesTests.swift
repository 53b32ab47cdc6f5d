import NIOCore
import Testing

@testable import FanOutCore

@Suite struct ConnectionPlacesTests {
  private func address(_ text: String) throws -> SocketAddress {
    try SocketAddress(ipAddress: text, port: 1)
  }

  @Test(arguments: [
    ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false),
    ("2001:db8::1", "2001:db8::ffff:1", true), ("2001:db8::1", "2001:db8:0:1::1", false),
    ("::ffff:10.0.0.1", "10.0.0.1", true), ("::ffff:10.0.0.1", "::ffff:10.0.0.2", false),
    ("::1", "10.0.0.1", false),
  ])
  func connectionsCountPerAddress(_ one: String, _ other: String, _ isSame: Bool) throws {
    let places = ConnectionPlaces(9, perAddress: 1)
    #expect(places.take(try address(one)) == .all)
    #expect(places.take(try address(other)) == (isSame ? .none : .all))
    places.release(try address(one))
    #expect(places.take(try address(one)) == .all)
  }

  /// Its address is that of all clients.
  @Test func aTrustedProxyHasNoLimitOfItsAddress() throws {
    let places = ConnectionPlaces(9, perAddress: 1, proxies: try TrustedProxies(["10.0.0.0/8"]))
    for _ in 0..<3 { #expect(places.take(try address("10.0.0.1")) == .all) }
    for admission in [ConnectionPlaces.Admission.all, .none] {
      #expect(places.take(try address("11.0.0.1")) == admission)
    }
    for _ in 0..<3 { places.release(try address("10.0.0.1")) }
    for _ in 0..<8 { #expect(places.take(try address("10.0.0.1")) == .all) }
    #expect(places.take(try address("10.0.0.1")) == .monitoring)
  }

  @Test func connectionsCountInTotal() throws {
    let places = ConnectionPlaces(3, perAddress: nil)
    for number in 1...3 { #expect(places.take(try address("10.0.0.\(number)")) == .all) }
    #expect(places.take(try address("10.0.0.4")) == .monitoring)
    #expect(places.take(nil) == .monitoring)
    places.release(try address("10.0.0.2"))
    // The clients of a Unix socket have no address.
    #expect(places.take(nil) == .all)
    #expect(places.take(nil) == .monitoring)
  }

  @Test func someRefusedConnectionsMayStay() throws {
    let places = ConnectionPlaces(9, perAddress: 1)
    let may = (0...ConnectionPlaces.reservedForRefusals).map { _ in places.beginRefusal() }
    #expect(may.filter(\.self).count == ConnectionPlaces.reservedForRefusals && !may.last!)
    places.endRefusal()
    #expect(places.beginRefusal())
  }
}
