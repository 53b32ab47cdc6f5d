import Multicast

/// An invocation as users write it, with a closure that captures a value.
/// `Benchmarks/shared-writes` checks its machine code.
@_cdecl("multicast_bench_quiet_for_each") @inline(never)
public func quietForEach(_ hub: UnsafeRawPointer, _ value: Int) {
  // SAFETY: the argument is such a hub, which the caller keeps.
  Unmanaged<MulticastDelegate<any Observer>>.fromOpaque(hub)._withUnsafeGuaranteedRef { hub in
    hub.forEach { $0.notify(value) }
  }
}
