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
  /// What was read of each path, until all changes before that have been applied.
  private var unconfirmed: [Path: Reading] = [:]
  private var isConfirming = false

  private struct Reading {
    var finding = Finding.nothing
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
      let place = Path(bytes: copy.bytes + "-aside-\(aside.count)".utf8)
      if hasDirectory(from), move(copied(from), to: place) { aside[from] = place }
    }
    // What was read of it moves with it. What was read at its new path was something else. What is
    // gone needs no second look.
    let moves = Moves(batch.changes)
    let moved = Dictionary(
      unconfirmed.compactMap { path, reading in
        // It may have been looked at where it was not any more.
        moves.present(pathOf: path).map { present in
          (present, Reading(finding: reading.finding, isSame: reading.isSame && present == path))
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
          let finding = look(at: path).finding
          if finding != reading.finding {
            update(path)
          } else if finding != .unknown {
            unconfirmed[path] = reading.isSame ? nil : Reading(finding: finding, isSame: true)
          }
        }
        // A tree that changes all the time is not flushed all the time, and one that may not be read less.
        let isStuck = unconfirmed.values.allSatisfy { $0.finding == .unknown }
        queue.asyncAfter(deadline: .now() + .milliseconds(isStuck ? 1000 : 100)) { [self] in
          isConfirming = false
          confirm()
        }
      }
    }
  }

  /// Makes the copy of a path like the source is.
  private func update(_ path: Path) {
    let former = unconfirmed[path]?.finding
    unconfirmed[path] = Reading()
    guard hasDirectory(path) else { return }
    let (finding, file) = look(at: path)
    unconfirmed[path]?.finding = finding
    let to = copied(path)
    switch finding {
    case .nothing: removeItem(to)
    // It is not gone.
    case .unknown: break
    case .entry(let stamp):
      let isOther = former?.inode.map { $0 != stamp.inode } ?? false
      if stamp.type != S_IFDIR || isOther || type(of: to) != S_IFDIR { removeItem(to) }
      switch stamp.type {
      case S_IFDIR:
        // Not its parents: what they contain would not be read.
        _ = to.withCString { mkdir($0, 0o700) }
        // What the copy lacks may have no change of its own: its directory was moved, or it was away
        // when the directory was read.
        for name in stamp.contents where type(of: to.appending(name)) == nil {
          update(path.appending(name))
        }
      case S_IFREG:
        guard let file, let contents = try? file.readToEnd() ?? Data() else {
          unconfirmed[path]?.finding = .unknown
          return
        }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let made = FileHandle(
          fileDescriptor: to.withCString { open($0, flags, 0o600) }, closeOnDealloc: true)
        try? made.write(contentsOf: contents)
      case S_IFLNK:
        _ = Path(bytes: stamp.contents[0]).withCString { target in
          to.withCString { symlink(target, $0) }
        }
      default: break
      }
      if stamp.type != S_IFLNK { _ = to.withCString { chmod($0, stamp.mode & 0o7777) } }
    }
  }

  /// Looks at a path. The finding is that of the descriptor: the path may lead to another file in the next moment.
  private func look(at path: Path) -> (finding: Finding, file: FileHandle?) {
    // The watched path itself may be a link to the tree.
    let isRoot = path == source
    var status = stat()
    guard path.withCString({ isRoot ? stat($0, &status) : lstat($0, &status) }) == 0 else {
      return (.ofError, nil)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFDIR:
      let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | (isRoot ? 0 : O_NOFOLLOW)
      let number = path.withCString { open($0, flags) }
      if number < 0 { return (.ofError, nil) }
      let file = FileHandle(fileDescriptor: number, closeOnDealloc: true)
      guard fstat(number, &status) == 0 else { return (.unknown, nil) }
      let isDirectory = status.st_mode & S_IFMT == S_IFDIR
      return (.entry(Stamp(status, isDirectory ? names(in: number) : [])), file)
    case S_IFLNK:
      var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = path.withCString { readlink($0, &target, target.count) }
      return (count < 0 ? .ofError : .entry(Stamp(status, [Array(target.prefix(count))])), nil)
    default:
      return (.entry(Stamp(status, [])), nil)
    }
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
    if type(of: path) == S_IFDIR {
      let number = path.withCString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
      for name in names(in: number) { removeItem(path.appending(name)) }
      close(number)
    }
    _ = path.withCString { Foundation.remove($0) }
  }

  private func move(_ path: Path, to other: Path) -> Bool {
    path.withCString { from in other.withCString { rename(from, $0) } } == 0
  }

  /// The path in the copy.
  private func copied(_ path: Path) -> Path {
    guard let relative = path.relative(to: source), relative != "." else { return copy }
    return copy.appending(relative.bytes)
  }
}

/// What was found at a path.
private enum Finding: Equatable {
  case nothing
  /// It cannot be looked at, for want of permissions for example.
  case unknown
  case entry(Stamp)

  var inode: UInt64? { if case .entry(let stamp) = self { stamp.inode } else { nil } }

  static var ofError: Finding { errno == ENOENT || errno == ENOTDIR ? .nothing : .unknown }
}

/// What is at a path. What is written there later is in a batch, so size and times do not count.
private struct Stamp: Equatable {
  let mode: mode_t
  let inode: UInt64
  /// The entries of a directory, or the target of a link. Names are bytes, and need not be UTF-8.
  let contents: [[UInt8]]

  var type: mode_t { mode & S_IFMT }

  init(_ status: stat, _ contents: [[UInt8]]) {
    (mode, inode, self.contents) = (status.st_mode, UInt64(status.st_ino), contents)
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

private func type(of path: Path) -> mode_t? {
  var status = stat()
  return path.withCString { lstat($0, &status) } == 0 ? status.st_mode & S_IFMT : nil
}

/// The names in an open directory, in order.
private func names(in directory: Int32) -> [[UInt8]] {
  guard let list = fdopendir(dup(directory)) else { return [] }
  defer { closedir(list) }
  var names: [[UInt8]] = []
  while let entry = readdir(list) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { start in
        UnsafeRawBufferPointer(start: start, count: strlen(start)).map { $0 }
      }
    }
    if name != [UInt8](".".utf8), name != [UInt8]("..".utf8) { names.append(name) }
  }
  return names.sorted { $0.lexicographicallyPrecedes($1) }
}
