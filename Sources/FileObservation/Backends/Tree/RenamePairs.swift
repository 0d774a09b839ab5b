import SystemCalls

/// Finds the renames among what has come and gone between two looks: the same file under another
/// name.
struct RenamePairs {
  /// By inode and content: what has gone, and under which of the events that was told.
  private var gone: [Key: Int] = [:]
  private var come: [Key: Int] = [:]

  private struct Key: Hashable {
    let fingerprint: Fingerprint

    static func == (left: Key, right: Key) -> Bool {
      left.fingerprint.isSameFile(as: right.fingerprint)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(fingerprint.inode)
    }
  }

  /// Takes note of an entry that has come or gone, by the event with this number.
  mutating func note(_ kind: RawEvent.Kind, _ fingerprint: Fingerprint, event: Int) {
    switch kind {
    case .created: come[Key(fingerprint: fingerprint)] = event
    case .removed: gone[Key(fingerprint: fingerprint)] = event
    case .modified, .metadata, .movedFrom, .movedTo: break
    }
  }

  /// The events, in which those that are the two halves of one rename say so. What went along in a
  /// renamed folder is not told of.
  func paired(in events: [RawEvent]) -> [RawEvent] {
    if gone.isEmpty || come.isEmpty { return events }
    var partners: [Int: Int] = [:]
    for (key, left) in gone {
      if let arrived = come[key], events[left].path != events[arrived].path {
        partners[arrived] = left
      }
    }
    if partners.isEmpty { return events }
    let folders = Dictionary(
      partners.filter { events[$0.key].type == .directory }.map {
        (events[$0.key].path, events[$0.value].path)
      }, uniquingKeysWith: { first, _ in first })
    var events: [RawEvent?] = events
    var moves: [RawEvent] = []
    for (cookie, (arrived, left)) in partners.sorted(by: { $0.key < $1.key }).enumerated() {
      guard let to = events[arrived], let from = events[left] else { continue }
      events[arrived] = nil
      events[left] = nil
      if Self.wentAlong(from: from.path, to: to.path, in: folders) { continue }
      let cookie = UInt32(truncatingIfNeeded: cookie)
      moves.append(RawEvent(path: from.path, kind: .movedFrom(cookie: cookie), type: from.type))
      moves.append(
        RawEvent(path: to.path, kind: .movedTo(cookie: cookie, replacing: false), type: to.type))
    }
    return moves + events.compactMap { $0 }
  }

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
