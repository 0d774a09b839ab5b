import SystemCalls

/// What was found since the last report, in which it pairs what disappeared in one place with what appeared
/// in another: the same file, renamed.
///
/// Two sightings are of one file if their fingerprints prove it. Where the one that disappeared has none,
/// they must have the same inode, and either the source must have hinted at a rename, or a directory
/// above must have been renamed alike.
struct Moves {
  /// A path where a file disappeared or appeared.
  struct Sighting {
    let inode: UInt64
    let fingerprint: Fingerprint?
    /// Whether the source has hinted that it was renamed, or nothing speaks against it.
    let mayBeMove: Bool
  }

  private struct Pair {
    /// The events of the old path and of the new one.
    let left: Int
    let arrived: Int
    /// Whether it was written to as well.
    let isWritten: Bool
  }

  private(set) var events: [RawEvent] = []
  private var gone: [Int: Sighting] = [:]
  private var come: [Int: Sighting] = [:]
  /// The cookies of renames whose new names were not read yet.
  private var awaitedCookies: Set<UInt32> = []

  /// Whether something has been renamed again before its arrival was looked at.
  private var hasMissedArrival = false

  /// Whether hints are still to be read that say where something was renamed to.
  var isAwaitingArrival: Bool { !awaitedCookies.isEmpty || hasMissedArrival }

  /// The next hints are read: they include those of missed arrivals.
  mutating func expectMissedArrivals() {
    hasMissedArrival = false
  }

  mutating func missArrival() {
    hasMissedArrival = true
  }

  mutating func departed(_ cookie: UInt32) {
    awaitedCookies.insert(cookie)
  }

  mutating func arrived(_ cookie: UInt32) {
    if !awaitedCookies.isEmpty { awaitedCookies.remove(cookie) }
  }

  /// What has not arrived by now has left the tree.
  mutating func stopAwaiting() {
    awaitedCookies = []
    hasMissedArrival = false
  }

  mutating func add(_ event: RawEvent, gone: Sighting? = nil, come: Sighting? = nil) {
    if let gone { self.gone[events.count] = gone }
    if let come { self.come[events.count] = come }
    events.append(event)
  }

  /// Replaces each event, by its index, with others. Those of its path keep its sightings.
  mutating func replaceEvents(_ replacement: (Int, RawEvent) -> [RawEvent]) {
    let all = self
    (events, gone, come) = ([], [:], [:])
    for (index, event) in all.events.enumerated() {
      for new in replacement(index, event) {
        let isSame = new.path == event.path
        add(new, gone: isSame ? all.gone[index] : nil, come: isSame ? all.come[index] : nil)
      }
    }
  }

  /// The events, in which the two of a rename say so. What went along in a renamed directory is left
  /// out, unless it was written to as well.
  mutating func pairedEvents() -> [RawEvent] {
    removePassages()
    let pairs = findPairs()
    if pairs.isEmpty { return events }
    var directories: [Path: Path] = [:]
    for pair in pairs where events[pair.arrived].type == .directory {
      directories[events[pair.arrived].path] = events[pair.left].path
    }
    var departures: [RawEvent] = []
    var arrivals: [RawEvent] = []
    var arrived: Set<Int> = []
    var left: Set<Int> = []
    for (number, pair) in pairs.enumerated() {
      let (from, to) = (events[pair.left], events[pair.arrived])
      arrived.insert(pair.arrived)
      left.insert(pair.left)
      if !Self.wentAlong(from: from.path, to: to.path, in: directories) {
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
    // Where one file has left and another has appeared, only the second is left to report.
    let others = events.indices.compactMap { index -> RawEvent? in
      if arrived.contains(index) { return nil }
      guard left.contains(index) else { return events[index] }
      if events[index].kind == .removed { return nil }
      return RawEvent(path: events[index].path, kind: .created, type: events[index].type)
    }
    // What is removed below a renamed directory does not go with it, and a path that was vacated and taken again
    // by a rename exists in the end.
    let removals = others.filter { $0.kind == .removed }
    return removals + departures + arrivals + others.filter { $0.kind != .removed }
  }
}

// MARK: - Pairs

extension Moves {
  /// Removes what has both appeared at a path and left it again.
  private mutating func removePassages() {
    if gone.isEmpty || come.isEmpty { return }
    var appeared: [Path: Int] = [:]
    var passages: Set<Int> = []
    for index in events.indices {
      if come[index] != nil, events[index].kind == .created {
        appeared[events[index].path] = index
      } else if let left = gone[index], events[index].kind == .removed,
        let before = appeared.removeValue(forKey: events[index].path),
        come[before]?.inode == left.inode
      {
        passages.formUnion([before, index])
      }
    }
    if passages.isEmpty { return }
    replaceEvents { index, event in passages.contains(index) ? [] : [event] }
  }

  private func findPairs() -> [Pair] {
    if gone.isEmpty || come.isEmpty { return [] }
    let leftByInode = Dictionary(grouping: gone.keys.sorted()) { gone[$0]?.inode ?? 0 }
    var pairs: [Pair] = []
    var paired: Set<Int> = []
    for (event, sighting) in come.sorted(by: { $0.key < $1.key }) {
      let origin = leftByInode[sighting.inode]?.first { left in
        left != event && events[left].path != events[event].path && !paired.contains(left)
          && gone[left].map { Self.isOneFile($0, sighting) } ?? false
      }
      guard let origin else { continue }
      paired.insert(origin)
      pairs.append(pair(origin, event))
    }
    return pairs + findCompanions(of: pairs, paired)
  }

  /// Pairs what lies at the same place in a renamed directory as before, and is the same file by its inode.
  private func findCompanions(of pairs: [Pair], _ paired: Set<Int>) -> [Pair] {
    let directories = pairs.filter { events[$0.arrived].type == .directory }
    if directories.isEmpty { return [] }
    let origins = Dictionary(
      directories.map { (events[$0.arrived].path, events[$0.left].path) },
      uniquingKeysWith: { first, _ in first })
    var leftByPath: [Path: Int] = [:]
    for left in gone.keys where !paired.contains(left) { leftByPath[events[left].path] = left }
    let arrived = Set(pairs.map(\.arrived))
    return come.keys.sorted().compactMap { event -> Pair? in
      guard !arrived.contains(event),
        let before = Self.pathBefore(events[event].path, in: origins),
        let left = leftByPath[before], gone[left]?.inode == come[event]?.inode,
        events[left].type == events[event].type
      else { return nil }
      return pair(left, event)
    }
  }

  private func pair(_ left: Int, _ event: Int) -> Pair {
    var isWritten = false
    if let before = gone[left]?.fingerprint, let after = come[event]?.fingerprint {
      isWritten = !before.holdsTheSame(as: after)
    }
    return Pair(left: left, arrived: event, isWritten: isWritten)
  }

  private static func isOneFile(_ left: Sighting, _ arrived: Sighting) -> Bool {
    if let before = left.fingerprint, let after = arrived.fingerprint {
      return before.isSameFile(as: after)
    }
    return left.mayBeMove && arrived.mayBeMove
  }

  /// Where an entry was before the directory around it was renamed; nil if none was.
  private static func pathBefore(_ path: Path, in origins: [Path: Path]) -> Path? {
    var above = path.parent
    while let directory = above {
      if let origin = origins[directory], let rest = path.relative(to: directory) {
        return origin.appending(rest.bytes)
      }
      above = directory.parent
    }
    return nil
  }

  private static func wentAlong(from: Path, to: Path, in origins: [Path: Path]) -> Bool {
    pathBefore(to, in: origins) == from
  }
}
