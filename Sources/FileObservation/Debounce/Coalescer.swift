import SystemCalls

/// One thing that a backend has seen. Several of them, on one path, become one change.
package struct RawEvent: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case created
    /// Written to; `isOpen` as long as the writer has not closed it.
    case modified(isOpen: Bool)
    case removed
    case metadata
    /// The two halves of a rename bear the same cookie; either may be missing.
    case movedFrom(cookie: UInt32)
    /// `replacing` if there was something of that name already.
    case movedTo(cookie: UInt32, replacing: Bool)
  }

  package let path: Path
  package let kind: Kind
  package let type: FileType

  package init(path: Path, kind: Kind, type: FileType) {
    self.path = path
    self.kind = kind
    self.type = type
  }
}

/// Makes net changes out of raw events: one a path, from the beginning of the burst to its end.
package struct Coalescer {
  fileprivate struct Fate {
    /// Was it there when the burst began?
    let existedBefore: Bool
    /// Is it there now?
    var exists: Bool
    var isWritten = false
    var isTouched = false
    var isOpen = false
    /// Where it was when the burst began, if it has been renamed since.
    var origin: Path?
    var type: FileType
  }

  private struct Departure {
    let path: Path
    /// Where it was when the burst began, though it may have been renamed with a folder since.
    let pathBefore: Path
    let fate: Fate?
  }

  private var fates: [Path: Fate] = [:]
  /// The paths in the order in which they appeared.
  private var order: [Path] = []
  /// First halves of renames that wait for their second: where from, and its fate until then.
  private var departures: [UInt32: Departure] = [:]
  private var openCount = 0
  private var hasRenamedFolders = false

  package init() {}

  /// True while nothing has been noted since the last `take`.
  package var isEmpty: Bool { fates.isEmpty }

  /// True while a file of this burst is being written: its writer has not closed it yet.
  package var isBeingWritten: Bool { openCount > 0 }

  /// Takes note of what a backend has seen.
  package mutating func note(_ event: RawEvent) {
    let path = path(toTellOf: event)
    var fate = fates[path]
    if path != event.path { fates[event.path] = nil }
    if fate == nil { order.append(path) }
    let wasOpen = fate?.isOpen == true
    switch event.kind {
    case .created:
      fate = arrived(fate, replacing: false, type: event.type)
    case .modified(let isOpen):
      fate = fate ?? Fate(existedBefore: true, exists: true, type: event.type)
      fate?.exists = true
      fate?.isWritten = true
      fate?.isOpen = isOpen
    case .metadata:
      fate = fate ?? Fate(existedBefore: true, exists: true, type: event.type)
      fate?.isTouched = true
    case .removed:
      fate = gone(fate)
    case .movedFrom(let cookie):
      departures[cookie] = Departure(path: event.path, pathBefore: path, fate: fate)
      fate = gone(fate)
    case .movedTo(let cookie, let replacing):
      fate = arrived(fate, replacing: replacing, type: event.type)
      if let departure = departures.removeValue(forKey: cookie) {
        fate?.origin = origin(of: departure, arrivingAt: path)
        if event.type == .directory {
          hasRenamedFolders = true
          carryOver(below: departure.path, to: path)
        }
      } else {
        fate?.origin = nil
      }
    }
    if event.type != .unknown { fate?.type = event.type }
    let isOpen = fate?.isOpen == true
    openCount += (isOpen ? 1 : 0) - (wasOpen ? 1 : 0)
    fates[path] = fate
  }

  /// What leaves a folder that has been renamed in this burst is told of by the path that it had at
  /// the beginning of it: of the one in between, nobody has heard.
  private func path(toTellOf event: RawEvent) -> Path {
    switch event.kind {
    case .created, .modified, .metadata, .movedTo: return event.path
    case .removed, .movedFrom: break
    }
    let fate = fates[event.path]
    guard hasRenamedFolders, fate.map({ $0.existedBefore && $0.origin == nil }) ?? true else {
      return event.path
    }
    var above = event.path.parent
    while let folder = above {
      if let origin = fates[folder]?.origin, let rest = event.path.relative(to: folder) {
        let before = origin.appending(rest.bytes)
        return fates[before] == nil ? before : event.path
      }
      above = folder.parent
    }
    return event.path
  }

  /// The net changes since the last call, and a clean slate.
  package mutating func take() -> [ChangeBatch.Change] {
    defer { self = Coalescer() }
    endWhatLeftWithItsFolder()
    // An old name that is told of as a rename's `from` is not told of as removed.
    var toldAsOrigin: Set<Path> = []
    for path in order {
      guard let fate = fates[path], fate.exists, let origin = fate.origin else { continue }
      if fates[origin]?.exists != true { toldAsOrigin.insert(origin) }
    }
    return order.compactMap { path -> ChangeBatch.Change? in
      guard let fate = fates[path] else { return nil }
      if !fate.exists {
        guard fate.existedBefore, !toldAsOrigin.contains(path) else { return nil }
        return ChangeBatch.Change(path: path, kind: .removed, type: .unknown)
      }
      if let origin = fate.origin, toldAsOrigin.contains(origin) {
        return ChangeBatch.Change(path: path, kind: .renamed, type: fate.type, from: origin)
      }
      guard let kind = fate.kindInPlace else { return nil }
      return ChangeBatch.Change(path: path, kind: kind, type: fate.type)
    }
  }

  private func arrived(_ fate: Fate?, replacing: Bool, type: FileType) -> Fate {
    var fate = fate ?? Fate(existedBefore: replacing, exists: true, type: type)
    fate.exists = true
    fate.isWritten = true
    fate.isOpen = false
    return fate
  }

  private func gone(_ fate: Fate?) -> Fate {
    var fate = fate ?? Fate(existedBefore: true, exists: false, type: .unknown)
    fate.exists = false
    fate.isWritten = false
    fate.isTouched = false
    fate.isOpen = false
    fate.origin = nil
    return fate
  }

  /// Where a file that has just been renamed was when the burst began; nil if it was nowhere, or
  /// is back where it was.
  private func origin(of departure: Departure, arrivingAt path: Path) -> Path? {
    let origin: Path?
    if let fate = departure.fate {
      origin = fate.origin ?? (fate.existedBefore ? departure.pathBefore : nil)
    } else {
      origin = departure.pathBefore
    }
    return origin == path ? nil : origin
  }

  /// What was in a folder that is gone is gone with it, though no event has told of it.
  private mutating func endWhatLeftWithItsFolder() {
    let folders = Set(
      fates.lazy.filter { !$0.value.exists && $0.value.type == .directory }.map(\.key))
    if folders.isEmpty { return }
    for path in order where fates[path]?.exists == true && Self.isBelow(path, folders) {
      fates[path] = gone(fates[path])
    }
  }

  private static func isBelow(_ path: Path, _ folders: Set<Path>) -> Bool {
    var folder = path.parent
    while let step = folder, !folders.contains(step) { folder = step.parent }
    return folder != nil
  }

  /// After a folder's rename: what happened in it before is told under its new path.
  private mutating func carryOver(below old: Path, to new: Path) {
    // What had left it before, with a folder of its own, has no new path.
    let left = Set(
      fates.lazy.filter { path, fate in
        !fate.exists && fate.type == .directory && path != old && path.isWithin(old)
      }.map(\.key))
    for (index, path) in order.enumerated() where path != old && path.isWithin(old) {
      guard let fate = fates[path], fate.exists, let rest = path.relative(to: old) else { continue }
      if !left.isEmpty && Self.isBelow(path, left) {
        fates[path] = gone(fate)
        continue
      }
      let moved = new.appending(rest.bytes)
      guard fates[moved] == nil else { continue }
      fates[path] = nil
      fates[moved] = fate
      order[index] = moved
    }
  }
}

extension Coalescer.Fate {
  /// The net change of a path that is where it was, or new.
  fileprivate var kindInPlace: ChangeBatch.Kind? {
    if !existedBefore { return .created }
    if isWritten { return .modified }
    return isTouched ? .metadata : nil
  }
}
