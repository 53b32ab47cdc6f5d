internal import ArgumentParser
internal import FanOutCore
internal import Logging
internal import SQLiteStore

/// The options of the history on disk.
struct StoreOptions: ParsableArguments {
  @Option(
    help: """
      Folder for the events, so that a restart loses none that the server acknowledged. (default: \
      events are only in memory)
      """)
  var store: String?
  @Option(help: "Events that the store keeps, of all topics together.") var storeEvents = 1_000_000
  @Option(help: "Size of the store's database in bytes. Older events leave it first.")
  var storeBytes = 1 << 30
  @Option(help: "Seconds for which the store keeps an event. (default: no limit)")
  var storeAge: Int?
}

extension StoreOptions {
  func validate() throws {
    try Options.require("--store-events", storeEvents, in: 1...1_000_000_000)
    try Options.require("--store-bytes", storeBytes, in: (1 << 20)...(1 << 44))
    try Options.require("--store-age", storeAge ?? 1, in: 1...1_000_000_000)
    guard store?.isEmpty != true else { throw ValidationError("--store: the folder has no name") }
    guard storeAge == nil || store != nil else {
      throw ValidationError("--store-age: there is no --store")
    }
  }

  /// Opens the store, and creates the log of a server with it; `nil` without `--store`.
  func makeLog(_ settings: Settings) throws -> (@Sendable (Topics) -> any EventLog)? {
    guard let store else { return nil }
    var limits = StoreSettings(folder: store)
    limits.maxEvents = storeEvents
    limits.maxBytes = storeBytes
    limits.maxAge = storeAge.map { .seconds($0) }
    do {
      let database = try EventDatabase(limits)
      let restored = try SQLiteStore.Restored(database, keys: settings.rememberedKeys)
      return { SQLiteStore(database, restored, $0, logger: settings.logger) }
    } catch {
      throw Failure("--store: \(error)")
    }
  }
}
