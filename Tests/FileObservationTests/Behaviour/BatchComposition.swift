import SystemCalls

@testable import FileObservation

/// Composes the changes of successive batches to those of one.
struct BatchComposition {
  private var coalescer = Coalescer()
  /// The files that batches have named, by their present paths.
  private var files: [Path: RawEvent.Sighting] = [:]
  /// The paths of directories before the first batch, by their present ones.
  private var origins: [Path: Path] = [:]
  private var count: UInt64 = 0
  /// The paths that were there before the first batch, and that no batch has named yet.
  ///
  /// The report of a rename does not say whether it replaced a file. In one batch, the observer
  /// knows; here, a file may have been created in an earlier batch than it was renamed in.
  private var untouched: Set<Path>

  init(existing: Set<Path> = []) {
    untouched = existing
  }

  mutating func add(_ batch: ChangeBatch) {
    // All renames of a batch start from the tree before it.
    let renames = batch.changes.compactMap { change in
      change.from.map { (from: $0, to: change.path, type: change.type) }
    }
    var moved: [(path: Path, file: RawEvent.Sighting)] = []
    for rename in renames.sorted(by: { $0.from.bytes.count > $1.from.bytes.count }) {
      name(rename.from, rename.type)
      for path in files.keys where path.isWithin(rename.from) {
        guard let file = disappear(path), let rest = path.relative(to: rename.from) else {
          continue
        }
        moved.append((path == rename.from ? rename.to : rename.to.appending(rest.bytes), file))
      }
    }
    for change in batch.changes where change.kind == .removed {
      name(change.path, .unknown)
      for path in files.keys where path.isWithin(change.path) { _ = disappear(path) }
    }
    for (path, file) in moved.sorted(by: { $0.path < $1.path }) {
      if untouched.contains(path) {
        name(path, .unknown)
        _ = disappear(path)
      }
      appear(path, file)
    }
    origins = renames.reduce(into: origins.filter { files[$0.key] != nil }) { known, rename in
      known[rename.to] = origins[rename.from] ?? rename.from
    }
    for change in batch.changes {
      switch change.kind {
      case .created:
        origins[change.path] = nil
        appear(change.path, fresh(change.type))
      case .modified: note(.modified(isOpen: false), change)
      case .metadata: note(.metadata, change)
      case .removed, .renamed: break
      }
    }
  }

  mutating func netChanges() -> [ChangeBatch.Change] { coalescer.take() }

  private mutating func fresh(_ type: FileType) -> RawEvent.Sighting {
    count += 1
    return RawEvent.Sighting(gone: count, type)
  }

  /// Adds a file that was there before the first batch. It may have moved with its directory.
  private mutating func name(_ path: Path, _ type: FileType) {
    untouched.remove(path)
    if files[path] != nil { return }
    let file = fresh(type)
    files[path] = file
    let around = origins.filter { path.isWithin($0.key) && path != $0.key }
    guard let directory = around.max(by: { $0.key.bytes.count < $1.key.bytes.count }),
      let rest = path.relative(to: directory.key)
    else { return }
    let origin = directory.value.appending(rest.bytes)
    coalescer.note(RawEvent(path: origin, kind: .removed, type: type, file: file))
    coalescer.note(.to(path, file.inode, type))
  }

  private mutating func disappear(_ path: Path) -> RawEvent.Sighting? {
    untouched = untouched.filter { !$0.isWithin(path) }
    guard let file = files.removeValue(forKey: path) else { return nil }
    coalescer.note(RawEvent(path: path, kind: .removed, type: file.type, file: file))
    return file
  }

  private mutating func appear(_ path: Path, _ file: RawEvent.Sighting) {
    files[path] = file
    coalescer.note(.to(path, file.inode, file.type))
  }

  private mutating func note(_ kind: RawEvent.Kind, _ change: ChangeBatch.Change) {
    name(change.path, change.type)
    coalescer.note(RawEvent(path: change.path, kind: kind, type: change.type))
  }
}
