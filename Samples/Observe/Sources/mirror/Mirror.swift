import Dispatch
import FileObservation
import Foundation

/// A copy of a directory that follows the batches of an observer. All work is done on its queue.
///
/// The article *Applying a batch* explains the rules.
final class Mirror: @unchecked Sendable {
  // Unchecked, because its state is accessed on its queue only.

  private let source: Path
  private let copy: Path
  private let observer: FileObserver
  private let queue = DispatchQueue(label: "mirror")
  private let files = FileManager.default
  /// What was read of each path, until all changes before that have been applied.
  private var unconfirmed: [Path: Reading] = [:]
  private var isConfirming = false

  private struct Reading {
    /// `nil` if nothing was there.
    var stamp: Stamp?
    /// Whether it was the same when it was looked at again.
    var isSame = false
  }

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
      let place = Path("\(text(copy))-aside-\(aside.count)")
      if hasDirectory(from), move(copied(from), to: place) { aside[from] = place }
    }
    // What was read of it moves with it. What was read at its new path was something else. What is
    // gone needs no second look.
    let moves = Moves(batch.changes)
    let moved = Dictionary(
      unconfirmed.compactMap { path, reading in
        // It may have been looked at where it was not any more.
        moves.present(pathOf: path).map { present in
          (present, Reading(stamp: reading.stamp, isSame: reading.isSame && present == path))
        }
      }, uniquingKeysWith: { _, last in last })
    unconfirmed = moved
    // What is new at its path, from the top.
    for change in batch.changes.sorted(by: { $0.path < $1.path }) where change.kind != .removed {
      if let from = change.from {
        remove(change.path)
        if let place = aside[from], hasDirectory(change.path),
          move(place, to: copied(change.path))
        {
          // What was read here by now is not what has been put here.
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

  /// Looks again at what was read, whenever every change made so far has been applied: what comes and
  /// goes within one burst is never reported, but may have been read. What is the same in two looks is
  /// settled, as a batch between them would have moved what is not there any more.
  private func confirm() {
    if isConfirming || unconfirmed.isEmpty { return }
    isConfirming = true
    observer.flush { [self] in
      // The batches have been handed to the queue by now.
      queue.async { [self] in
        for path in unconfirmed.keys.sorted() {
          guard let reading = unconfirmed[path] else { continue }
          if Stamp(of: path) != reading.stamp {
            update(path)
          } else {
            unconfirmed[path] = reading.isSame ? nil : Reading(stamp: reading.stamp, isSame: true)
          }
        }
        // A tree that changes all the time is not flushed all the time.
        queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [self] in
          isConfirming = false
          confirm()
        }
      }
    }
  }

  /// Makes the copy of a path like the source is.
  private func update(_ path: Path) {
    let former = unconfirmed[path]?.stamp
    unconfirmed[path] = Reading()
    guard hasDirectory(path) else { return }
    let to = text(copied(path))
    // The stamp is that of the descriptor: the path may lead to another file in the next moment.
    let file = FileHandle(
      fileDescriptor: open(text(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK), closeOnDealloc: true)
    guard let stamp = Stamp(of: path, opened: file.fileDescriptor) else {
      return removeItem(copied(path))
    }
    unconfirmed[path]?.stamp = stamp
    let isOther = former.map { $0.inode != stamp.inode } ?? false
    if stamp.type != S_IFDIR || isOther || type(of: copied(path)) != S_IFDIR {
      removeItem(copied(path))
    }
    switch stamp.type {
    case S_IFDIR:
      // Not its parents: what they contain would not be read.
      mkdir(to, 0o700)
      // What the copy lacks may have no change of its own: its directory was moved, or it was away
      // when the directory was read.
      for name in stamp.contents where type(of: copied(path / name)) == nil { update(path / name) }
    case S_IFREG: _ = files.createFile(atPath: to, contents: try? file.readToEnd())
    case S_IFLNK: symlink(stamp.contents[0], to)
    default: break
    }
    if stamp.type != S_IFLNK { chmod(to, stamp.mode & 0o7777) }
  }

  private func remove(_ path: Path) {
    if hasDirectory(path) { removeItem(copied(path)) }
  }

  /// Whether a path leads through directories of the copy, and not through a link that is out of date.
  private func hasDirectory(_ path: Path) -> Bool {
    guard path != source, let parent = path.parent else { return true }
    return type(of: copied(parent)) == S_IFDIR && hasDirectory(parent)
  }

  private func removeItem(_ path: Path) {
    try? files.removeItem(atPath: text(path))
  }

  private func move(_ path: Path, to other: Path) -> Bool {
    rename(text(path), text(other)) == 0
  }

  /// The path in the copy.
  private func copied(_ path: Path) -> Path {
    guard let relative = path.relative(to: source), relative != "." else { return copy }
    return copy.appending(relative.bytes)
  }
}

/// What is at a path. What is written there later is in a batch, so size and times do not count.
private struct Stamp: Equatable {
  var mode: mode_t
  var inode: UInt64
  /// The entries of a directory, or the target of a link.
  var contents: [String] = []

  var type: mode_t { mode & S_IFMT }

  /// - Parameter file: What was opened at the path; a negative number for what cannot be opened, such
  ///   as a link.
  init?(of path: Path, opened file: Int32 = -1) {
    let (path, files) = (text(path), FileManager.default)
    var status = stat()
    guard (file < 0 ? lstat(path, &status) : fstat(file, &status)) == 0 else { return nil }
    (mode, inode) = (status.st_mode, UInt64(status.st_ino))
    if type == S_IFDIR {
      contents = ((try? files.contentsOfDirectory(atPath: path)) ?? []).sorted()
    } else if type == S_IFLNK {
      guard let target = try? files.destinationOfSymbolicLink(atPath: path) else { return nil }
      contents = [target]
    }
  }
}

/// Where the changes of a batch have moved what was there before.
private struct Moves {
  private let destinations: [Path: Path]
  private let arrivals: Set<Path>
  private let removed: Set<Path>

  init(_ changes: [ChangeBatch.Change]) {
    let moves = changes.compactMap { change in change.from.map { ($0, change.path) } }
    destinations = Dictionary(moves, uniquingKeysWith: { _, last in last })
    arrivals = Set(moves.map(\.1))
    removed = Set(changes.filter { $0.kind == .removed }.map(\.path))
  }

  /// Where what was at a path is; `nil` if it is gone, or something else has been moved there.
  func present(pathOf path: Path) -> Path? {
    let ancestors = sequence(first: path, next: \.parent)
    let origin = ancestors.first { destinations[$0] != nil || removed.contains($0) }
    if let origin, removed.contains(origin) { return nil }
    let destination = origin.flatMap { destinations[$0] }
    let rest = path.bytes.dropFirst(origin?.bytes.count ?? 0)
    let present = Path(bytes: (destination?.bytes ?? []) + rest)
    // Also below its new place, another rename may have replaced it.
    let isReplaced = sequence(first: present, next: \.parent)
      .prefix { $0 != destination }.contains { arrivals.contains($0) }
    return isReplaced ? nil : present
  }
}

private func text(_ path: Path) -> String { path.string ?? path.description }

private func type(of path: Path) -> mode_t? {
  var status = stat()
  return lstat(text(path), &status) == 0 ? status.st_mode & S_IFMT : nil
}
