/// What goes to the subscribers of a topic, in order.
///
/// As large as one reference, and thousands may wait: what is rare is indirect.
enum Entry: Sendable {
  case event(Event)
  /// Events that this server will never have.
  indirect case gap(Gap)
  /// Events begin after this one. Until now the server knew nothing of them, so a subscriber that
  /// had some has to be given the others.
  indirect case start(EventID)
}
