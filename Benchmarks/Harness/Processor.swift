/// The processors of the machine.
enum Processor {
  /// Binds the calling thread to a processor, a different one for each number if there are enough.
  ///
  /// Otherwise new threads share one processor until the system balances them.
  /// Does nothing where the platform has no such function.
  static func bindThread(_ number: Int) {
    #if canImport(Glibc)
      typealias GetAffinity = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> CInt
      typealias SetAffinity = @convention(c) (pid_t, Int, UnsafeRawPointer) -> CInt
      // The Swift overlay does not import the header that declares them.
      guard let get = dlsym(nil, "sched_getaffinity"), let set = dlsym(nil, "sched_setaffinity")
      else { return }
      // SAFETY: the C library documents these types for these names.
      let getAffinity = unsafeBitCast(get, to: GetAffinity.self)
      let setAffinity = unsafeBitCast(set, to: SetAffinity.self)
      // A bit for each processor.
      var mask = [UInt8](repeating: 0, count: 128)
      guard getAffinity(0, mask.count, &mask) == 0 else { return }
      let allowed = (0..<mask.count * 8).filter { mask[$0 / 8] & 1 << ($0 % 8) != 0 }
      guard !allowed.isEmpty else { return }
      let chosen = allowed[number % allowed.count]
      var own = [UInt8](repeating: 0, count: mask.count)
      own[chosen / 8] = 1 << (chosen % 8)
      _ = setAffinity(0, own.count, own)
    #endif
  }
}
