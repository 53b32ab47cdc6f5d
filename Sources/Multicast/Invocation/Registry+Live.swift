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
  var liveCount: Int {
    var count = 0
    forEachLive { _ in
      count += 1
      return true
    }
    return count
  }

  /// Whether any entry is live.
  var hasLive: Bool {
    var hasLive = false
    forEachLive { _ in
      hasLive = true
      return false
    }
    return hasLive
  }

  /// The value of the live entry at `index`, counted from zero.
  func liveValue<Value>(at index: Int, as _: Value.Type) -> Value? {
    guard index >= 0 else { return nil }
    var result: Value?
    var remaining = index
    forEachLive { entry in
      if remaining > 0 {
        remaining -= 1
        return true
      }
      // `nil` if it has just died: then the next one is at this index.
      // SAFETY: the invocation holds the entry.
      result = entry._withUnsafeGuaranteedRef { $0.liveValue(as: Value.self, isCalled: false) }
      return result == nil
    }
    return result
  }

  /// The index among the live entries of the first one whose value is the object at `address`.
  func liveIndex(of address: Int) -> Int? {
    var index = 0
    var found = false
    forEachLive { entry in
      // One that is not indexed has an owner as its target, or itself.
      found = entry.head.pointee.isIndexed && entry.head.pointee.address == address
      if !found { index += 1 }
      return !found
    }
    return found ? index : nil
  }

  /// Runs `step` for each live entry, in order, until it returns `false`.
  ///
  /// It does not read the typed values: here, their type would be looked up for each.
  @inline(__always)
  private func forEachLive(_ step: (Unmanaged<Entry>) -> Bool) {
    forEachEntry { invocation, entry, _ in !invocation.isLive(entry) || step(entry) }
  }

  /// The name of the public type, the name of the hub if it has one, the type and number of its
  /// delegates, and the strategy.
  ///
  /// - Parameter count: that of the delegates; `nil`: of the live ones.
  func description<Value>(
    of typeName: String, for _: Value.Type, count: Int? = nil
  ) -> String {
    """
    \(typeName)<\(Value.self)>(\(nameField(name))count: \(count ?? liveCount), \
    storage: \(strategy.rawValue))
    """
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
