// Properties of the live entries, for the public types.

extension Registry {
  /// The values of the live entries, in order.
  func live<Value>(as _: Value.Type) -> [Value] {
    var values: [Value] = []
    forEachValue(Value.self, access: .read) { value in
      values.append(value)
      return true
    }
    return values
  }

  /// The number of live entries.
  func liveCount<Value>(as _: Value.Type) -> Int {
    var count = 0
    forEachValue(Value.self, access: .read) { _ in
      count += 1
      return true
    }
    return count
  }

  /// Whether any entry is live.
  func hasLive<Value>(as _: Value.Type) -> Bool {
    var hasLive = false
    forEachValue(Value.self, access: .read) { _ in
      hasLive = true
      return false
    }
    return hasLive
  }

  /// The name of the public type, the name of the hub if it has one, the type and number of its
  /// delegates, and the strategy.
  func description<Value>(of typeName: String, for _: Value.Type) -> String {
    let count = liveCount(as: Value.self)
    return
      "\(typeName)<\(Value.self)>(\(nameField(name))count: \(count), storage: \(strategy.rawValue))"
  }

  /// As `description(of:for:)`, with the types of the delegates in order.
  func debugDescription<Value>(of typeName: String, for _: Value.Type) -> String {
    let types = live(as: Value.self).map { "\(type(of: $0 as Any))" }.joined(separator: ", ")
    return "\(description(of: typeName, for: Value.self)) [\(types)]"
  }
}

/// The name of a hub as the first field of its description.
func nameField(_ name: String?) -> String {
  name.map { "name: \"\($0)\", " } ?? ""
}
