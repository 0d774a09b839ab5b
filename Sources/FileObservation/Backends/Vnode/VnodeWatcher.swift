import Dispatch
import SystemCalls

/// Watches folders, and the files in them, by their vnodes. Used on one queue only.
final class VnodeWatcher: FolderWatcher {
  private let source: any VnodeSource
  private let queue: DispatchQueue
  private let told: @Sendable (Int32, VnodeEvents) -> Void
  private var watches: [Int32: any VnodeWatch] = [:]
  private var lastNumber: Int32 = 0

  /// - Parameter told: Is called on the queue with a watch's number and what it tells.
  init(
    _ source: any VnodeSource, queue: DispatchQueue,
    told: @escaping @Sendable (Int32, VnodeEvents) -> Void
  ) {
    self.source = source
    self.queue = queue
    self.told = told
  }

  deinit {
    for watch in watches.values { watch.cancel() }
  }

  var watchesFiles: Bool { true }

  func watch(_ path: UnsafePointer<CChar>, _ subject: WatchSubject) throws(SystemError) -> Int32 {
    if watches.count >= source.capacity { throw SystemError(call: "open", code: EMFILE) }
    // Numbers of watches that were given back are free again, after some two thousand million.
    repeat { lastNumber = lastNumber == .max ? 1 : lastNumber + 1 } while watches[lastNumber] != nil
    let (number, told) = (lastNumber, told)
    watches[number] = try source.watch(
      path, followsLinks: subject != .folder, on: queue
    ) { told(number, $0) }
    return number
  }

  func unwatch(_ watch: Int32) {
    watches.removeValue(forKey: watch)?.cancel()
  }

  /// Gives all of them back.
  func unwatchAll() {
    for watch in watches.values { watch.cancel() }
    watches = [:]
  }

  func limitReached(watched: Int, unwatched: Int) -> ObserverError {
    .descriptorLimitReached(watched: watched, unwatched: unwatched)
  }
}
