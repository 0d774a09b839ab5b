import SystemCalls

/// The events since the last report. Pairs entries that disappeared with entries that appeared
/// elsewhere, and reports them as renames.
///
/// Two sightings are of the same file if their fingerprints prove it. If the entry that disappeared
/// has no fingerprint, the inodes must be equal, and either the source has hinted at a rename, or
/// an ancestor was renamed from the one path to the other.
struct Moves {
  /// A file that has disappeared or appeared.
  struct Sighting {
    let inode: UInt64
    let fingerprint: Fingerprint?
    /// Whether the source has hinted at a rename, or at neither creation nor removal.
    let mayBeMove: Bool
  }

  /// A rename, by the indices of two events.
  private struct Pair {
    let origin: Int
    let destination: Int
    /// Whether the file was written to as well.
    let isWritten: Bool
  }

  private(set) var events: [RawEvent] = []
  /// Files that disappeared and appeared, by the index of the event.
  private var disappeared: [Int: Sighting] = [:]
  private var appeared: [Int: Sighting] = [:]
  /// The inodes of files that were written to, by the index of the event.
  private var written: [Int: UInt64] = [:]
  /// The inodes of files that were written to at a path that they have left.
  private var writtenBefore: Set<UInt64> = []
  /// The cookies of renames of which only the first hint was read.
  private var awaitedCookies: Set<UInt32> = []
  /// Whether a renamed entry was renamed again before it was compared.
  private var isAwaitingLateArrival = false

  /// Whether hints are missing that name the destinations of renames.
  var isAwaitingArrival: Bool { !awaitedCookies.isEmpty || isAwaitingLateArrival }

  /// Begins to process hints, which include those of late arrivals.
  mutating func beginProcessing() {
    isAwaitingLateArrival = false
  }

  mutating func expectLateArrival() {
    isAwaitingLateArrival = true
  }

  mutating func departed(_ cookie: UInt32) {
    awaitedCookies.insert(cookie)
  }

  mutating func arrived(_ cookie: UInt32) {
    if !awaitedCookies.isEmpty { awaitedCookies.remove(cookie) }
  }

  /// Treats renames without a known destination as removals.
  mutating func stopAwaiting() {
    awaitedCookies = []
    isAwaitingLateArrival = false
  }

  mutating func add(
    _ event: RawEvent, disappeared: Sighting? = nil, appeared: Sighting? = nil,
    written: UInt64? = nil
  ) {
    if let written { self.written[events.count] = written }
    if let disappeared { self.disappeared[events.count] = disappeared }
    if let appeared { self.appeared[events.count] = appeared }
    events.append(event)
  }

  /// Replaces each event with others. Those with the same path keep its sightings.
  mutating func replaceEvents(_ replacement: (Int, RawEvent) -> [RawEvent]) {
    let all = self
    (events, disappeared, appeared, written) = ([], [:], [:], [:])
    for (index, event) in all.events.enumerated() {
      for new in replacement(index, event) {
        let isSame = new.path == event.path
        add(
          new, disappeared: isSame ? all.disappeared[index] : nil,
          appeared: isSame ? all.appeared[index] : nil,
          written: isSame ? all.written[index] : nil)
      }
    }
  }

  /// The events, in which those of a rename are halves of the rename. Events of entries that were
  /// renamed with their directory are left out, unless the entry was written to as well.
  mutating func pairedEvents() -> [RawEvent] {
    removeTransients()
    let pairs = findPairs()
    if pairs.isEmpty { return events }
    let renamedDirectories = directories(of: pairs)
    var departures: [RawEvent] = []
    var arrivals: [RawEvent] = []
    for (number, pair) in pairs.enumerated() {
      let (from, to) = (events[pair.origin], events[pair.destination])
      if Self.formerPath(of: to.path, in: renamedDirectories) != from.path {
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
    // An entry that was renamed out of a renamed directory does not move with it.
    departures.sort { $0.path.bytes.count > $1.path.bytes.count }
    let origins = Set(pairs.map(\.origin))
    let destinations = Set(pairs.map(\.destination))
    let others = events.indices.compactMap { index -> RawEvent? in
      if destinations.contains(index) { return nil }
      guard origins.contains(index) else { return events[index] }
      if events[index].kind == .removed { return nil }
      // Another file has replaced the one that was renamed.
      return RawEvent(path: events[index].path, kind: .created, type: events[index].type)
    }
    // Removals come first: an entry that was removed from a renamed directory was not renamed with
    // it, and a path that a rename has taken again exists in the end.
    let removals = others.filter { $0.kind == .removed }
    return removals + departures + arrivals + others.filter { $0.kind != .removed }
  }
}

// MARK: - Pairs

extension Moves {
  /// Removes the events of entries that appeared at a path and disappeared again. What was written at a
  /// path that the file has left counts for the path to which it went.
  private mutating func removeTransients() {
    if disappeared.isEmpty || appeared.isEmpty { return }
    var arrivals: [Path: Int] = [:]
    var writes: [Path: [Int]] = [:]
    var transients: Set<Int> = []
    for index in events.indices {
      let path = events[index].path
      if let sighting = disappeared[index] {
        for write in writes[path] ?? [] where written[write] == sighting.inode {
          transients.insert(write)
          writtenBefore.insert(sighting.inode)
        }
        if events[index].kind == .removed, let arrival = arrivals.removeValue(forKey: path),
          appeared[arrival]?.inode == sighting.inode
        {
          transients.formUnion([arrival, index])
        }
      } else if appeared[index] != nil {
        if events[index].kind == .created { arrivals[path] = index }
      } else if written[index] != nil {
        writes[path, default: []].append(index)
      }
    }
    if transients.isEmpty { return }
    replaceEvents { index, event in transients.contains(index) ? [] : [event] }
  }

  private func findPairs() -> [Pair] {
    if disappeared.isEmpty || appeared.isEmpty { return [] }
    let originsByInode = Dictionary(grouping: disappeared.keys.sorted()) {
      disappeared[$0]?.inode ?? 0
    }
    var pairs: [Pair] = []
    var paired: Set<Int> = []
    for (event, sighting) in appeared.sorted(by: { $0.key < $1.key }) {
      let origin = originsByInode[sighting.inode]?.first { origin in
        events[origin].path != events[event].path && !paired.contains(origin)
          && disappeared[origin].map { Self.isSameFile($0, sighting) } ?? false
      }
      guard let origin else { continue }
      paired.insert(origin)
      pairs.append(pair(origin, event))
    }
    return pairs + findDescendants(of: pairs, paired)
  }

  /// Pairs the entries that have the same inode at the same relative path in a renamed directory.
  private func findDescendants(of pairs: [Pair], _ paired: Set<Int>) -> [Pair] {
    let renamedDirectories = directories(of: pairs)
    if renamedDirectories.isEmpty { return [] }
    var originsByPath: [Path: Int] = [:]
    for origin in disappeared.keys where !paired.contains(origin) {
      originsByPath[events[origin].path] = origin
    }
    let destinations = Set(pairs.map(\.destination))
    return appeared.keys.sorted().compactMap { event -> Pair? in
      guard !destinations.contains(event),
        let formerPath = Self.formerPath(of: events[event].path, in: renamedDirectories),
        let origin = originsByPath[formerPath],
        disappeared[origin]?.inode == appeared[event]?.inode,
        events[origin].type == events[event].type
      else { return nil }
      return pair(origin, event)
    }
  }

  private func pair(_ origin: Int, _ destination: Int) -> Pair {
    var isWritten = appeared[destination].map { writtenBefore.contains($0.inode) } ?? false
    if let before = disappeared[origin]?.fingerprint, let after = appeared[destination]?.fingerprint
    {
      isWritten = isWritten || !before.hasSameContent(as: after)
    }
    return Pair(origin: origin, destination: destination, isWritten: isWritten)
  }

  private static func isSameFile(_ before: Sighting, _ after: Sighting) -> Bool {
    if let before = before.fingerprint, let after = after.fingerprint {
      return before.isSameFile(as: after)
    }
    return before.mayBeMove && after.mayBeMove
  }

  /// The former path of each renamed directory, by its new path.
  private func directories(of pairs: [Pair]) -> [Path: Path] {
    Dictionary(
      pairs.lazy.filter { events[$0.destination].type == .directory }
        .map { (events[$0.destination].path, events[$0.origin].path) },
      uniquingKeysWith: { _, last in last })
  }

  /// The path of an entry before its ancestor was renamed; `nil` if none was.
  private static func formerPath(of path: Path, in renamedDirectories: [Path: Path]) -> Path? {
    if renamedDirectories.isEmpty { return nil }
    var ancestor = path.parent
    while let directory = ancestor {
      if let origin = renamedDirectories[directory], let rest = path.relative(to: directory) {
        return origin.appending(rest.bytes)
      }
      ancestor = directory.parent
    }
    return nil
  }
}
