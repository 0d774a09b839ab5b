import FileObservation
import SystemCalls

extension Rounds {
  /// A path that changed in the present round and has not been judged.
  struct Touch: Hashable, Sendable {
    let path: Path
    /// The net change that a run receives; `nil` for the former path of a rename.
    var change: ChangeBatch.Change?
    /// Whether nothing was there when it changed first.
    let wasAbsent: Bool
    /// Whether it was created or removed at some time.
    var isEntryChanged: Bool
    /// Whether it is a directory whose entries were not reported.
    var isMovedAsWhole: Bool

    init(_ change: ChangeBatch.Change) {
      path = change.path
      self.change = change
      wasAbsent = change.kind == .created || change.kind == .renamed
      isEntryChanged = change.isOfEntry
      isMovedAsWhole = change.kind == .renamed && change.type == .directory
    }

    /// The former path of a renamed one.
    init(removed path: Path) {
      self.path = path
      (wasAbsent, isEntryChanged, isMovedAsWhole) = (false, true, false)
    }
  }

  /// Paths that changed and have not been judged, in order, each once.
  struct Touches: Sendable {
    private(set) var entries: [Touch] = []
    private var indices: [Path: Int] = [:]
    /// Whether the kernel dropped events of the round, so that paths may be missing.
    var sawOverflow = false

    init(_ entries: [Touch] = [], sawOverflow: Bool = false) {
      self.entries = entries
      self.sawOverflow = sawOverflow
      for (index, touch) in entries.enumerated() { indices[touch.path] = index }
    }

    var isEmpty: Bool { entries.isEmpty }
    var reason: RunTrigger.Reason { sawOverflow ? .overflow : .change }

    /// Adds a change, or combines it with an earlier one to the same path.
    mutating func add(_ touch: Touch) {
      guard let index = indices[touch.path] else {
        indices[touch.path] = entries.count
        entries.append(touch)
        return
      }
      if let change = touch.change {
        entries[index].change = entries[index].change?.followed(by: change) ?? change
      }
      entries[index].isEntryChanged = entries[index].isEntryChanged || touch.isEntryChanged
      entries[index].isMovedAsWhole = entries[index].isMovedAsWhole || touch.isMovedAsWhole
    }

    /// Removes all changes and returns them.
    mutating func take() -> Touches {
      defer { self = Touches() }
      return self
    }

    /// The changes for a run.
    var trigger: RunTrigger { RunTrigger(reason, changes: entries.compactMap(\.change)) }

    /// The present contents of the paths.
    func contents(_ read: Reader) -> [PathContent] {
      read(entries.map { ($0.path, $0.isMovedAsWhole) })
    }
  }
}

extension ChangeBatch.Change {
  /// Whether an entry of its directory came or went.
  var isOfEntry: Bool {
    switch kind {
    case .created, .removed, .renamed: true
    case .modified, .metadata: false
    }
  }
}
