extension DeliveryRole {
  /// Whether the calling thread, which has the role, is at an entry without a mailbox: then the
  /// event is in every mailbox. The entry may have been removed.
  var isCallingHandler: Bool {
    guard let entry = calledEntry else { return false }
    // SAFETY: this thread delivers to the entry, so it holds it.
    return Unmanaged<Entry>.fromOpaque(entry)._withUnsafeGuaranteedRef {
      $0.head.pointee.mailbox == nil
    }
  }
}
