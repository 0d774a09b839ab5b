import Support
import SystemCalls

/// The first burst after a pause, and the changes soon after it: what can be learned about its
/// paths.
struct ChangeStream: Sendable {
  /// What a change may be followed up by.
  enum Subject: Hashable, Sendable {
    /// A file that existed: its next write, as by a formatter.
    case file(Path)
    /// A directory in which a name was free or several files were changed: a change of another path
    /// in it, as by a program that renames a temporary file, or that copies files.
    case entries(of: Path)
  }

  /// A change after a pause that would have ended the first burst.
  struct FollowUp: Sendable {
    let gap: Duration
    /// Whether it was in the first burst, because that waited for it.
    let isAwaited: Bool
    /// Whether there was another one.
    var isRepeated = false
  }

  /// Paths beyond these are not remembered, so a large burst costs no more than a small one.
  static let longestList = 16

  /// The paths of the first burst, and whether they existed.
  private var paths: [Path: Bool] = [:]
  private(set) var subjects: Set<Subject> = []
  private(set) var followUps: [Subject: FollowUp] = [:]
  /// Whether the first burst is under way.
  private(set) var isBeginning = true
  /// Whether the first burst has ended later because it waited for a follow-up.
  var hasWaited = false
  private var last: Instant

  init(at time: Instant) {
    last = time
  }

  /// Adds changes of the first burst.
  mutating func begin(with events: [RawEvent], at now: Instant) {
    last = now
    for event in events where event.kind != .metadata {
      if paths.count >= Self.longestList { return }
      if paths[event.path] != nil { continue }
      let exists = event.kind != .created
      paths[event.path] = exists
      if exists { subjects.insert(.file(event.path)) }
      if !exists || paths.count > 1, let parent = event.path.parent {
        subjects.insert(.entries(of: parent))
      }
    }
  }

  mutating func endBeginning() { isBeginning = false }

  /// Adds changes after a pause that has ended the first burst, or would have.
  mutating func followUp(with events: [RawEvent], at now: Instant, within reach: Duration) {
    let gap = last.duration(to: now)
    for subject in subjects where events.contains(where: { isFollowUp($0, of: subject) }) {
      if followUps[subject] != nil {
        followUps[subject]?.isRepeated = true
      } else if gap <= reach {
        followUps[subject] = FollowUp(gap: gap, isAwaited: isBeginning)
      }
    }
  }

  private func isFollowUp(_ event: RawEvent, of subject: Subject) -> Bool {
    switch subject {
    case _ where event.kind == .metadata: false
    case .file(let path): event.path == path
    // An existing file has follow-ups of its own.
    case .entries(let directory): paths[event.path] != true && event.path.isWithin(directory)
    }
  }
}
