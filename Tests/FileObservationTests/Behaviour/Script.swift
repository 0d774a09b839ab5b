import FileObservation
import SystemCalls

/// A scenario: what is done to a folder, and what must be reported. `README.md` beside the scripts
/// says how one is written.
struct Script: Sendable, Hashable {
  /// What it claims.
  var claim = ""
  /// What is there before the folder is watched.
  var preparation: [Operation] = []
  var settings = Settings()
  var steps: [Step] = []
  /// Backends for which the claim is not made, with the reason.
  var exceptions: [String: String] = [:]
  /// Backends that do not keep it yet, with what they do instead.
  var knownIssues: [String: String] = [:]

  /// Whether it needs a consumer that follows what is reported.
  var hasFollower: Bool {
    steps.contains { if case .follow = $0 { true } else { false } }
  }

  struct Settings: Sendable, Hashable {
    /// Extensions that count.
    var extensions: [[UInt8]] = []
    var ignore: [[UInt8]] = []
    var filter: [[UInt8]] = []
    var kinds = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])
    var followsLinks = false
    /// What is watched; the whole folder if empty.
    var roots: [Root] = []
  }

  struct Root: Sendable, Hashable {
    var path: [UInt8]
    var isShallow = false
  }

  enum Step: Sendable, Hashable {
    case perform(Operation)
    /// Waits until all is reported that has happened so far.
    case settle
    case expect(Expectation)
    /// Whoever follows what was reported since the last expectation must know what is there.
    case follow(line: Int)
  }

  /// What must have been reported since the last expectation: this, and nothing else.
  struct Expectation: Sendable, Hashable {
    var line: Int
    var changes: [ExpectedChange] = []
    /// In place of that, where a backend differs.
    var changesByBackend: [String: [ExpectedChange]] = [:]

    func changes(for backend: String) -> [ExpectedChange] {
      changesByBackend[backend] ?? changes
    }
  }
}

/// A line below `expect`.
struct ExpectedChange: Sendable, Hashable {
  /// Any of these.
  var kinds: Set<ChangeBatch.Kind>
  var path: [UInt8]
  var type: FileType
  var origin: [UInt8]?
  /// It may be left out.
  var isOptional = false

  func isMet(by change: ChangeBatch.Change, in folder: Path) -> Bool {
    let origin = change.kind == .renamed ? origin.map { place($0, in: folder) } : nil
    return kinds.contains(change.kind) && place(path, in: folder) == change.path
      && type == change.type && origin == change.from
  }
}

/// A script's path as an absolute one.
func place(_ path: [UInt8], in folder: Path) -> Path {
  if path == [UInt8(ascii: ".")] { return folder }
  var place = folder
  for name in path.split(separator: UInt8(ascii: "/")) {
    if name.elementsEqual("..".utf8) {
      place = place.parent ?? place
    } else {
      place = place.appending(name)
    }
  }
  return place
}
