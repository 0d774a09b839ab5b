import SystemCalls

/// Finds the renames among what has come and gone between two looks: the same file under another
/// name.
struct RenamePairs {
  /// What has gone from a path or come to one, and which event tells of that path.
  private struct Sighting {
    let fingerprint: Fingerprint
    let event: Int
  }

  /// A file that was in one place and is in another.
  private struct Pair {
    /// The events that tell of the old place and of the new one.
    let left: Int
    let arrived: Int
    /// It was written to as well.
    let isWritten: Bool
  }

  private var gone: [UInt64: [Sighting]] = [:]
  private var come: [Sighting] = []

  /// Takes note of what has gone from the path of the event with this number, and come there.
  mutating func note(gone: Fingerprint?, come: Fingerprint?, event: Int) {
    if let gone {
      self.gone[gone.inode, default: []].append(Sighting(fingerprint: gone, event: event))
    }
    if let come { self.come.append(Sighting(fingerprint: come, event: event)) }
  }

  /// The events, in which those that are the two halves of one rename say so. What went along in a
  /// renamed folder is only told of if it was written to, too.
  func paired(in events: [RawEvent]) -> [RawEvent] {
    let pairs = findPairs()
    if pairs.isEmpty { return events }
    var folders: [Path: Path] = [:]
    for pair in pairs where events[pair.arrived].type == .directory {
      folders[events[pair.arrived].path] = events[pair.left].path
    }
    var departures: [RawEvent] = []
    var arrivals: [RawEvent] = []
    var arrived: Set<Int> = []
    var left: Set<Int> = []
    for (number, pair) in pairs.enumerated() {
      let (from, to) = (events[pair.left], events[pair.arrived])
      arrived.insert(pair.arrived)
      left.insert(pair.left)
      if !Self.wentAlong(from: from.path, to: to.path, in: folders) {
        let cookie = UInt32(truncatingIfNeeded: number)
        let isReplacing = to.kind != .created
        departures.append(
          RawEvent(path: from.path, kind: .movedFrom(cookie: cookie), type: from.type))
        arrivals.append(
          RawEvent(
            path: to.path, kind: .movedTo(cookie: cookie, replacing: isReplacing), type: to.type))
      }
      if pair.isWritten && to.type != .directory {
        arrivals.append(RawEvent(path: to.path, kind: .modified(isOpen: false), type: to.type))
      }
    }
    // Of a path that something has left for another, and to which something new has come, only the
    // coming is still to be told.
    let others = events.indices.compactMap { index -> RawEvent? in
      if arrived.contains(index) { return nil }
      guard left.contains(index) else { return events[index] }
      if events[index].kind == .removed { return nil }
      return RawEvent(path: events[index].path, kind: .created, type: events[index].type)
    }
    // Where something has gone and another has come by a rename, it is there in the end.
    let removals = others.filter { $0.kind == .removed }
    return departures + removals + arrivals + others.filter { $0.kind != .removed }
  }

  private func findPairs() -> [Pair] {
    if gone.isEmpty { return [] }
    return come.compactMap { sighting -> Pair? in
      let candidates = gone[sighting.fingerprint.inode] ?? []
      let origin = candidates.first {
        $0.event != sighting.event && $0.fingerprint.isSameFile(as: sighting.fingerprint)
      }
      guard let origin else { return nil }
      return Pair(
        left: origin.event, arrived: sighting.event,
        isWritten: !origin.fingerprint.holdsTheSame(as: sighting.fingerprint))
    }
  }

  /// True if a folder above, at whatever height, was renamed just so.
  private static func wentAlong(from: Path, to: Path, in folders: [Path: Path]) -> Bool {
    var above = to.parent
    while let folder = above {
      if let origin = folders[folder], let rest = to.relative(to: folder) {
        return origin.appending(rest.bytes) == from
      }
      above = folder.parent
    }
    return false
  }
}
