/// The beginning of a message about a hub: the library, and the hub if it has a name.
func messagePrefix(_ hub: String?) -> String {
  hub.map { "Multicast: in the hub \"\($0)\":" } ?? "Multicast:"
}
