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

  /// An event, and what it says about the file at its path.
  private struct Finding {
    var event: RawEvent
    /// The file that has disappeared from the path.
    var disappeared: Sighting?
    /// The file that has appeared there.
    var appeared: Sighting?
    /// The inode of the file, if it was written to.
    var written: UInt64?
  }

  private var findings: [Finding] = []
  /// The cookies of renames of which only the first hint was read.
  private var awaitedCookies: Set<UInt32> = []
  /// Whether a renamed entry may have been renamed again before it was compared.
  private var isAwaitingLateArrival = false

  /// The number of events.
  var count: Int { findings.count }

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
    findings.append(
      Finding(event: event, disappeared: disappeared, appeared: appeared, written: written))
  }

  /// Replaces each event with others. Those with the same path keep its sightings.
  mutating func replaceEvents(_ replacement: (RawEvent) -> [RawEvent]) {
    findings = findings.flatMap { finding in
      replacement(finding.event).map { new in
        if new.path != finding.event.path { return Finding(event: new) }
        var finding = finding
        finding.event = new
        return finding
      }
    }
  }

  /// The events, in which those of a rename are halves of the rename. Events of entries that were
  /// renamed with their directory are left out, unless the entry was written to as well.
  mutating func pairedEvents() -> [RawEvent] {
    let pairs = findPairs()
    if pairs.isEmpty { return findings.map(\.event) }
    let renamedDirectories = directories(of: pairs)
    var departures: [RawEvent] = []
    var arrivals: [RawEvent] = []
    for (number, pair) in pairs.enumerated() {
      let (from, to) = (findings[pair.origin].event, findings[pair.destination].event)
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
    let others = findings.indices.compactMap { index -> RawEvent? in
      if destinations.contains(index) { return nil }
      let event = findings[index].event
      guard origins.contains(index) else { return event }
      if event.kind == .removed { return nil }
      // Another file has replaced the one that was renamed.
      return RawEvent(path: event.path, kind: .created, type: event.type)
    }
    // Removals come first: an entry that was removed from a renamed directory was not renamed with
    // it, and a path that a rename has taken again exists in the end.
    let removals = others.filter { $0.kind == .removed }
    return removals + departures + arrivals + others.filter { $0.kind != .removed }
  }
}

// MARK: - Pairs

extension Moves {
  /// Removes the events of entries that appeared at a path and disappeared again. What was written
  /// at a path that the file has left counts for the path to which it went: returns the inodes of
  /// such files.
  private mutating func removeTransients() -> Set<UInt64> {
    var arrivals: [Path: Int] = [:]
    var writes: [Path: [Int]] = [:]
    var transients: Set<Int> = []
    var written: Set<UInt64> = []
    for (index, finding) in findings.enumerated() {
      let path = finding.event.path
      if let sighting = finding.disappeared {
        for write in writes[path] ?? [] where findings[write].written == sighting.inode {
          transients.insert(write)
          written.insert(sighting.inode)
        }
        if finding.event.kind == .removed, let arrival = arrivals.removeValue(forKey: path),
          findings[arrival].appeared?.inode == sighting.inode
        {
          transients.formUnion([arrival, index])
        }
      } else if finding.appeared != nil {
        if finding.event.kind == .created { arrivals[path] = index }
      } else if finding.written != nil {
        writes[path, default: []].append(index)
      }
    }
    if transients.isEmpty { return [] }
    findings = findings.indices.filter { !transients.contains($0) }.map { findings[$0] }
    return written
  }

  private mutating func findPairs() -> [Pair] {
    guard findings.contains(where: { $0.disappeared != nil }),
      findings.contains(where: { $0.appeared != nil })
    else { return [] }
    let written = removeTransients()
    let origins = findings.indices.filter { findings[$0].disappeared != nil }
    let originsByInode = Dictionary(grouping: origins) { findings[$0].disappeared?.inode ?? 0 }
    var pairs: [Pair] = []
    var paired: Set<Int> = []
    for (index, finding) in findings.enumerated() {
      guard let appeared = finding.appeared,
        let origin = originsByInode[appeared.inode]?.first(where: { origin in
          findings[origin].event.path != finding.event.path && !paired.contains(origin)
            && findings[origin].disappeared.map { Self.isSameFile($0, appeared) } ?? false
        })
      else { continue }
      paired.insert(origin)
      pairs.append(pair(origin, index, written))
    }
    return pairs + findDescendants(of: pairs, written)
  }

  /// Pairs the entries that have the same inode at the same relative path in a renamed directory.
  private func findDescendants(of pairs: [Pair], _ written: Set<UInt64>) -> [Pair] {
    let renamedDirectories = directories(of: pairs)
    if renamedDirectories.isEmpty { return [] }
    let paired = (origins: Set(pairs.map(\.origin)), destinations: Set(pairs.map(\.destination)))
    var originsByPath: [Path: Int] = [:]
    for (index, finding) in findings.enumerated()
    where finding.disappeared != nil && !paired.origins.contains(index) {
      originsByPath[finding.event.path] = index
    }
    return findings.indices.compactMap { index -> Pair? in
      let finding = findings[index]
      guard let appeared = finding.appeared, !paired.destinations.contains(index),
        let formerPath = Self.formerPath(of: finding.event.path, in: renamedDirectories),
        let origin = originsByPath[formerPath],
        findings[origin].disappeared?.inode == appeared.inode,
        findings[origin].event.type == finding.event.type
      else { return nil }
      return pair(origin, index, written)
    }
  }

  private func pair(_ origin: Int, _ destination: Int, _ written: Set<UInt64>) -> Pair {
    let (before, after) = (findings[origin].disappeared, findings[destination].appeared)
    var isWritten = after.map { written.contains($0.inode) } ?? false
    if let before = before?.fingerprint, let after = after?.fingerprint {
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
      pairs.lazy.filter { findings[$0.destination].event.type == .directory }
        .map { (findings[$0.destination].event.path, findings[$0.origin].event.path) },
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
