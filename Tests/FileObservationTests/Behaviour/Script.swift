import FileObservation
import SystemCalls

/// A scenario: operations in a directory, and the expected reports. See `README.md`.
struct Script: Sendable, Hashable {
  var claim = ""
  /// The operations before the directory is observed.
  var preparation: [Operation] = []
  var settings = Settings()
  var steps: [Step] = []
  /// Backends for which the claim does not hold, with the reason.
  var exceptions: [String: String] = [:]
  /// Backends that fail the script, with a description of the fault.
  var knownIssues: [String: String] = [:]

  /// Whether the script has a `follow` line.
  var hasFollower: Bool {
    steps.contains { if case .follow = $0 { true } else { false } }
  }

  struct Settings: Sendable, Hashable {
    var extensions: [[UInt8]] = []
    var ignore: [[UInt8]] = []
    var filter: [[UInt8]] = []
    var kinds = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])
    var followsLinks = false
    /// The roots; the whole directory if empty.
    var roots: [Root] = []
  }

  struct Root: Sendable, Hashable {
    var path: [UInt8]
    var isShallow = false
  }

  enum Step: Sendable, Hashable {
    case perform(Operation)
    /// Waits until all changes so far are reported.
    case settle
    case expect(Expectation)
    /// A consumer that follows the reports since the last expectation must know the tree.
    case follow(line: Int)
  }

  /// The exact changes that must have been reported since the last expectation.
  struct Expectation: Sendable, Hashable {
    var line: Int
    var changes: [ExpectedChange] = []
    /// The changes for backends that differ.
    var changesByBackend: [String: [ExpectedChange]] = [:]

    func changes(for backend: String) -> [ExpectedChange] {
      changesByBackend[backend] ?? changes
    }
  }
}

/// A line after `expect`.
struct ExpectedChange: Sendable, Hashable {
  /// The accepted kinds.
  var kinds: Set<ChangeBatch.Kind>
  var path: [UInt8]
  var type: FileType
  var origin: [UInt8]?
  /// Whether the change may be missing.
  var isOptional = false

  func isMet(by change: ChangeBatch.Change, in directory: Path) -> Bool {
    let origin = change.kind == .renamed ? origin.map { place($0, in: directory) } : nil
    return kinds.contains(change.kind) && place(path, in: directory) == change.path
      && type == change.type && origin == change.from
  }
}

/// The absolute path of a path in a script.
func place(_ path: [UInt8], in directory: Path) -> Path {
  if path == [UInt8(ascii: ".")] { return directory }
  var place = directory
  for name in path.split(separator: UInt8(ascii: "/")) {
    if name.elementsEqual("..".utf8) {
      place = place.parent ?? place
    } else {
      place = place.appending(name)
    }
  }
  return place
}
