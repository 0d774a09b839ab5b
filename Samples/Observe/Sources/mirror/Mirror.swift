import Dispatch
import FileObservation
import Foundation

/// A copy of a directory that follows the batches of an observer. All work is done on its queue.
///
/// The article *Applying a batch* explains the order.
final class Mirror: @unchecked Sendable {
  // Unchecked, because its state is accessed on its queue only.

  private let source: Path
  private let copy: Path
  private let observer: FileObserver
  private let queue = DispatchQueue(label: "mirror")
  private let files = FileManager.default
  /// What was read of each path, until all changes before that have been applied.
  private var unconfirmed: [Path: Reading] = [:]
  private var flushCount = 0
  private var isConfirming = false

  init(of source: Path, at copy: Path) throws {
    self.source = source
    self.copy = copy
    var options = ObserverOptions(filter: PathFilter(sources: []))
    options.kinds = Set(ChangeBatch.Kind.allCases)
    observer = try FileObserver(paths: [source], options: options)
  }

  /// Copies everything, and follows all changes from then on.
  func start(onFailure: @escaping @Sendable (ObserverError) -> Void) throws {
    // First the observer, then the own scan: what changes in between is seen twice rather than never.
    try observer.start(on: queue) { [self] event in
      if case .changed(let batch) = event { apply(batch) }
      if case .warning(let warning) = event { print(warning) }
    } onFailure: {
      onFailure($0)
    }
    queue.async { [self] in
      update(source)
      confirm()
    }
  }

  private func apply(_ batch: ChangeBatch) {
    // What has left its path, from the leaves up. What moves is put aside, as two may have changed
    // places.
    let leaving = batch.changes.filter { $0.kind == .removed || $0.from != nil }
    var aside: [Path: Path] = [:]
    for change in leaving.sorted(by: { ($0.from ?? $0.path) > ($1.from ?? $1.path) }) {
      guard let from = change.from else {
        remove(change.path)
        continue
      }
      let place = Path("\(copy.string ?? "")-aside-\(aside.count)")
      if hasDirectory(from), move(copied(from), to: place) { aside[from] = place }
    }
    // What arrives is not what has been read at its place before.
    let arrivals = batch.changes.filter { $0.from != nil }.map(\.path)
    let moved = Dictionary(
      unconfirmed.compactMap { path, reading in
        let present = batch.changes.present(pathOf: path)
        let isReplaced = present == path && arrivals.contains { path.isWithin($0) }
        return isReplaced ? nil : (present, reading)
      }, uniquingKeysWith: { _, last in last })
    unconfirmed = moved
    // What is new at its path, from the top.
    for change in batch.changes.sorted(by: { $0.path < $1.path }) where change.kind != .removed {
      if let from = change.from {
        remove(change.path)
        if let place = aside[from], hasDirectory(change.path),
          move(place, to: copied(change.path))
        {
          // What was read here meanwhile is not what has been put here.
          unconfirmed = unconfirmed.filter { !$0.key.isWithin(change.path) }
          unconfirmed.merge(moved.filter { $0.key.isWithin(change.path) }) { _, before in before }
        }
      }
      // Another directory than before: what it contains is not that of the former one.
      if change.kind == .modified, change.type == .directory { remove(change.path) }
      update(change.path)
    }
    // What could not be put back, since its new directory has gone by now.
    for place in aside.values { removeItem(place) }
    confirm()
  }

  /// Looks again at what was read, once every change made so far has been applied: what comes and goes
  /// within one burst is never reported, but may have been read.
  private func confirm() {
    if isConfirming || unconfirmed.isEmpty { return }
    isConfirming = true
    flushCount += 1
    observer.flush { [self] in
      queue.async { [self] in
        isConfirming = false
        // What was read after the call waits for another flush.
        let confirmed = unconfirmed.filter { $0.value.flushCount < flushCount }
        for path in confirmed.keys { unconfirmed[path] = nil }
        for (path, reading) in confirmed.sorted(by: { $0.key < $1.key })
        where stamp(of: path) != reading.stamp {
          update(path)
        }
        confirm()
      }
    }
  }

  private struct Reading {
    /// `nil` if nothing was there.
    var stamp: Stamp?
    /// The number of flushes that had begun before.
    var flushCount: Int
  }

  /// What changes with an entry and what it contains.
  private struct Stamp: Equatable {
    var type: FileAttributeType?
    var mode: Int?
    var inode: Int?
    var size: Int?
    var modified: Date?
  }

  private func stamp(of path: Path) -> Stamp? {
    guard let attributes = try? files.attributesOfItem(atPath: text(path)) else { return nil }
    var stamp = Stamp(
      type: attributes[.type] as? FileAttributeType,
      mode: attributes[.posixPermissions] as? Int, inode: attributes[.systemFileNumber] as? Int)
    if stamp.type != .typeDirectory {
      stamp.size = attributes[.size] as? Int
      stamp.modified = attributes[.modificationDate] as? Date
    }
    return stamp
  }

  /// Makes the copy of a path like the source is now.
  private func update(_ path: Path) {
    let (from, to) = (text(path), text(copied(path)))
    unconfirmed[path] = Reading(stamp: nil, flushCount: flushCount)
    guard hasDirectory(path) else { return }
    let stamp = stamp(of: path)
    unconfirmed[path]?.stamp = stamp
    let isKnown =
      (try? files.attributesOfItem(atPath: to))?[.type] as? FileAttributeType == stamp?.type
    if !isKnown || stamp?.type != .typeDirectory { remove(path) }
    guard let stamp else { return }
    do {
      if stamp.type == .typeDirectory {
        // Not its parents: what they contain would not be read.
        if !isKnown { try files.createDirectory(atPath: to, withIntermediateDirectories: false) }
        // The entries of a directory that was not known have no changes of their own if it was moved.
        for name in isKnown ? [] : try files.contentsOfDirectory(atPath: from) {
          update(path / name)
        }
      } else {
        try files.copyItem(atPath: from, toPath: to)
      }
      if stamp.type != .typeSymbolicLink, let mode = stamp.mode {
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: to)
      }
    } catch {
      // It has gone meanwhile, or its directory.
      unconfirmed[path]?.stamp = nil
    }
  }

  private func remove(_ path: Path) {
    if hasDirectory(path) { removeItem(copied(path)) }
  }

  /// Whether a path leads through directories of the copy, and not through a link that is out of date.
  private func hasDirectory(_ path: Path) -> Bool {
    guard path != source, let parent = path.parent else { return true }
    let attributes = try? files.attributesOfItem(atPath: text(copied(parent)))
    return attributes?[.type] as? FileAttributeType == .typeDirectory && hasDirectory(parent)
  }

  private func removeItem(_ path: Path) {
    try? files.removeItem(atPath: text(path))
  }

  private func move(_ path: Path, to other: Path) -> Bool {
    // FileManager's method stops the program for some names that are not ASCII.
    rename(text(path), text(other)) == 0
  }

  /// The path in the copy.
  private func copied(_ path: Path) -> Path {
    guard let relative = path.relative(to: source), relative != "." else { return copy }
    return copy.appending(relative.bytes)
  }

  private func text(_ path: Path) -> String { path.string ?? path.description }
}

extension [ChangeBatch.Change] {
  /// Where what was at a path is after the renames among the changes.
  fileprivate func present(pathOf path: Path) -> Path {
    let moved = filter { change in change.from.map { path.isWithin($0) } ?? false }
    guard let nearest = moved.max(by: { ($0.from ?? "") < ($1.from ?? "") }),
      let from = nearest.from, let rest = path.relative(to: from)
    else { return path }
    return rest == "." ? nearest.path : nearest.path.appending(rest.bytes)
  }
}
