import FuzzedCalls

/// The function that libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  // SAFETY: libFuzzer passes `count` bytes that are valid during the call.
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  if let violation = RegistryCalls.run(bytes) { fatalError(violation) }
  return 0
}
