import Dispatch
import SystemCalls

@testable import FileObservation

/// The hints of a disk in memory, as inotify gives them: a watch belongs to a file and not to a
/// path, equal hints in succession are one, and those that find the queue full are dropped.
final class MemoryHints: HintSource {
  private struct Queued: Equatable {
    let watch: Int32
    let reasons: Hint.Reasons
    var cookie: UInt32 = 0
    var name: [UInt8] = []

    static func == (left: Self, right: Self) -> Bool {
      left.watch == right.watch && left.reasons.rawValue == right.reasons.rawValue
        && left.cookie == right.cookie && left.name == right.name
    }
  }

  private struct Watch {
    let node: Int
    var isAnchor: Bool
    let isFile: Bool
  }

  private let disk: MemoryDisk
  /// Whether the next hint finds the queue full.
  var overflows: () -> Bool = { false }
  /// The largest number of watches.
  var limit = Int.max
  private(set) var isDropping = false
  private var notify: () -> Void = {}
  private var queue: [Queued] = []
  private var watches: [Int32: Watch] = [:]
  private var numbers: [Int: Int32] = [:]
  private var lastNumber: Int32 = 0
  private var lastCookie: UInt32 = 0

  init(_ disk: MemoryDisk) {
    self.disk = disk
    disk.hints = self
  }

  var name: String { "memory" }
  var namesEntries: Bool { true }
  var settlingTime: Duration { .zero }
  var queueLimit: Int? { nil }
  var watchCount: Int { watches.count }
  var hasHints: Bool { !queue.isEmpty }

  /// The inode of a watched file; `nil` if the watch has ended.
  func inode(of watch: Int32) -> UInt64? { watches[watch].flatMap { disk.inode(of: $0.node) } }

  func start(on queue: DispatchQueue, hintsAvailable: @escaping @Sendable () -> Void) {
    notify = { queue.async { hintsAvailable() } }
  }
  func rearm() {}
  func stop() {}

  func watch(_ path: UnsafePointer<CChar>, _ subject: WatchSubject) throws(SystemError) -> Int32 {
    let node = try disk.nodeToWatch(at: Path(cString: path))
    if subject != .file, !disk.isDirectory(node) {
      throw SystemError(call: "inotify_add_watch", code: ENOTDIR)
    }
    if let number = numbers[node] {
      if subject == .anchor { watches[number]?.isAnchor = true }
      return number
    }
    if watches.count >= limit { throw SystemError(call: "inotify_add_watch", code: ENOSPC) }
    lastNumber += 1
    numbers[node] = lastNumber
    watches[lastNumber] = Watch(
      node: node, isAnchor: subject == .anchor, isFile: subject == .file)
    return lastNumber
  }

  func unwatch(_ watch: Int32) {
    guard let removed = watches.removeValue(forKey: watch) else { return }
    numbers[removed.node] = nil
    add(Queued(watch: watch, reasons: .unwatched))
  }

  func read(_ body: (Hint) -> Void) throws(SystemError) -> FileTime {
    var end: FileTime
    repeat {
      end = disk.now
      let read = queue
      (queue, isDropping) = ([], false)
      for hint in read {
        hint.name.withUnsafeBufferPointer {
          body(Hint(watch: hint.watch, reasons: hint.reasons, cookie: hint.cookie, name: $0))
        }
      }
      disk.meanwhile()
    } while !queue.isEmpty
    return end
  }
}

// MARK: - Changes

extension MemoryHints {
  /// An entry of a directory has changed.
  func changed(_ directory: Int, _ reasons: Hint.Reasons, cookie: UInt32 = 0, name: [UInt8]) {
    guard let watch = numbers[directory] else { return }
    add(Queued(watch: watch, reasons: reasons, cookie: cookie, name: name))
  }

  /// A file or directory itself has changed.
  func changedItself(_ node: Int, _ reasons: Hint.Reasons) {
    guard let watch = numbers[node] else { return }
    let isDirectory = watches[watch]?.isFile == false
    add(Queued(watch: watch, reasons: reasons.union(isDirectory ? .directory : [])))
  }

  func moved(
    _ node: Int, isDirectory: Bool, _ from: Int, _ oldName: [UInt8], _ to: Int, _ newName: [UInt8]
  ) {
    lastCookie += 1
    let directory: Hint.Reasons = isDirectory ? .directory : []
    changed(from, directory.union([.disappeared, .moved]), cookie: lastCookie, name: oldName)
    changed(to, directory.union([.appeared, .moved]), cookie: lastCookie, name: newName)
    if let watch = numbers[node], watches[watch]?.isAnchor == true {
      add(Queued(watch: watch, reasons: .gone))
    }
  }

  func removed(_ node: Int) {
    guard let watch = numbers.removeValue(forKey: node),
      let removed = watches.removeValue(forKey: watch)
    else { return }
    if removed.isAnchor || removed.isFile { add(Queued(watch: watch, reasons: .gone)) }
    add(Queued(watch: watch, reasons: .unwatched))
  }

  private func add(_ hint: Queued) {
    if isDropping || queue.last == hint { return }
    notify()
    if overflows() {
      isDropping = true
      queue.append(Queued(watch: -1, reasons: .overflow))
    } else {
      queue.append(hint)
    }
  }
}
