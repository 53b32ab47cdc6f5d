/// `value`, opaque to the optimiser: it can neither compute with it at compile time nor move work
/// out of a loop because of it.
@inline(never) @_optimize(none)
public func opaque<Value>(_ value: Value) -> Value {
  value
}

/// Uses `value`, so that the optimiser cannot remove what computes it.
@inline(never) @_optimize(none)
public func blackHole<Value>(_ value: borrowing Value) {}
