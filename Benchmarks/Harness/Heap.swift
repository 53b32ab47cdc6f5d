/// The memory of the process that was allocated and not freed.
public enum Heap {
  /// The bytes in use, with what the allocator itself adds; `nil` where the platform does not tell.
  public static var bytesInUse: Int? {
    #if canImport(Glibc)
      report.map { report in
        // The totals of all arenas come last.
        let size = { (tag: String) in last(tag, in: report) ?? 0 }
        return size("<system type=\"current\"") + size("<total type=\"mmap\"")
          - size("<total type=\"fast\"") - size("<total type=\"rest\"")
      }
    #else
      nil
    #endif
  }

  #if canImport(Glibc)
    /// What `malloc_info(3)` says. The Swift overlay does not import the header that declares it.
    private static var report: String? {
      typealias MallocInfo =
        @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
      guard let symbol = dlsym(nil, "malloc_info") else { return nil }
      // SAFETY: the C library documents this type for this name.
      let mallocInfo = unsafeBitCast(symbol, to: MallocInfo.self)
      var text: UnsafeMutablePointer<CChar>?
      var length = 0
      guard let stream = open_memstream(&text, &length) else { return nil }
      let error = mallocInfo(0, stream)
      fclose(stream)
      defer { free(text) }
      guard error == 0, let text else { return nil }
      return String(cString: text)
    }

    /// The size in the last line of `report` that begins with `tag`.
    private static func last(_ tag: String, in report: String) -> Int? {
      let line = report.split(separator: "\n").last { $0.hasPrefix(tag) }
      return line?.split(separator: "\"").dropLast().last.flatMap { Int($0) }
    }
  #endif
}
