import PathFiltering
import Support
import SystemCalls

/// A kind of project that is detected by its files: a row of ``ProjectDetection/kinds``.
struct ProjectKind: Sendable {
  /// Decides which kinds are left out where several are detected in one directory.
  enum Role: Hashable, Sendable {
    case compiler
    /// Is used whatever else there is.
    case independent
    /// Usually calls the compiler that is configured beside it, and is then left out.
    case wrapper
    /// Only runs commands of others, and is left out beside any of them.
    case runner
  }

  /// The prefix of its tasks' names where there are tasks of other kinds.
  let name: String
  /// For messages, with an article: "a Swift package". `nil` if that is the name of its file.
  var title: String?
  let role: Role
  /// Of several kinds for one language, only the first is used.
  var language: String?

  /// The files by which it is detected. The first one that exists is used.
  let files: [String]
  /// Patterns for what its tools write beside the sources.
  var products: [String] = []
  /// Finds further products, which are named in its files.
  var findProducts: (@Sendable (ProjectDirectory) -> [String])?
  /// Patterns for its sources. They matter where there are several kinds.
  var sources: [String] = []
  /// The directory that the last task fills, which is then served; `.` where there are no tasks.
  var page: String?
  /// What its files say before the paths of directories beside this one that it is made from.
  var dependencyMarks: [String] = []
  /// Whether a save stops its tools, since they compare times: a file that is saved while it is compiled looks
  /// older than what is made from it.
  var comparesTimes = false
  /// Finds members of a workspace in a directory above, from which a member may be made.
  var findSiblings: (@Sendable (_ root: ProjectDirectory, _ member: ProjectDirectory) -> [Path])?
  /// The tools that read those files.
  var programs: [String] = []
  /// What a file lacks that has no usual task: "recipe 'build' or 'test'".
  var wanted: String?
  /// Finds what else its files define. It is never run by itself, but offered.
  var findOthers: (@Sendable (ProjectDirectory, _ file: String) -> [Offer])?
  /// The usual tasks, in order, each of which depends on the one before it. Empty if there are none.
  let tasks: @Sendable (ProjectDirectory, _ file: String) -> [Project.Task]
}

extension Project.Task {
  /// A task of a shell line, with patterns of the files in whose directories it runs.
  init(_ name: String, _ line: String, each: [String] = []) {
    self.init(name: name, run: .line(line))
    (watched, self.each) = (["."], GlobPattern.all(each))
  }

  /// Its shell line.
  var line: String { if case .line(let line) = run { line } else { "" } }
}

extension GlobPattern {
  /// The patterns of these lines, each once.
  static func all(_ lines: [String]) -> [GlobPattern] {
    var known: Set<String> = []
    return lines.filter { known.insert($0).inserted }.compactMap { GlobPattern(line: $0.utf8) }
  }
}

extension ProjectKind {
  /// A command that a project defines and that is not run by itself: it may do anything.
  struct Offer: Hashable, Sendable {
    var name: String
    /// What to type after `watchrun`.
    var command: String
    /// The same in a list.
    var shown: String
    /// Why it is not suggested for each save: what others see of it if it is run, such as `git push`, or what
    /// watches by itself.
    var publication: String?

    init(_ name: String, _ command: String, shown: String? = nil) {
      self.name = name
      self.command = command
      self.shown = shown ?? command
      if GoalNames.publishes(name) || GoalNames.isOneTime(name) { publication = self.shown }
    }

    /// For messages: why one of a usual name is not run by itself; `nil` for any other.
    var refusal: String? {
      guard let publication, ProjectDetection.usualNames.contains(name) else { return nil }
      return "\(shown) is not run by itself, since it runs '\(publication)'"
    }
  }
}

/// A kind of project with the findings in a directory.
package struct DetectedKind: Sendable {
  let kind: ProjectKind
  let file: String
  let tasks: [Project.Task]
  let products: [String]
  let others: [ProjectKind.Offer]
  /// Directories outside that it is made from.
  let dependencies: [String]

  var name: String { kind.name }

  /// For messages: "a Swift package (Package.swift)".
  var title: String { kind.title.map { "\($0) (\(file))" } ?? "a \(file)" }

  /// Whether it has something to run or to serve.
  let isUsable: Bool

  init?(_ kind: ProjectKind, in directory: ProjectDirectory) {
    guard let file = directory.first(of: kind.files) else { return nil }
    let tasks = kind.tasks(directory, file)
    // The page of a package is usually one that its tools make first.
    let isServed = kind.page == "." && !directory.holds("package.json")
    isUsable = !tasks.isEmpty || isServed
    self.kind = kind
    self.file = file
    self.tasks = tasks
    products = kind.products + (kind.findProducts?(directory) ?? [])
    let others = kind.findOthers?(directory, file) ?? []
    self.others = others.filter { !GoalNames.isMaintenance($0.name) }
    dependencies = Self.dependencies(of: kind, in: directory)
  }
}

extension DetectedKind {
  /// The directories outside that a project of this kind is made from.
  static func dependencies(of kind: ProjectKind, in directory: ProjectDirectory) -> [String] {
    guard !kind.dependencyMarks.isEmpty, let file = directory.first(of: kind.files) else {
      return []
    }
    let named = paths(in: directory.text(of: file) ?? "", after: kind.dependencyMarks)
    let known = Set(named.map { Path($0).absolute(from: directory.path) })
    let siblings = siblings(of: kind, in: directory).filter {
      !known.contains(Path($0).absolute(from: directory.path))
    }
    return (named.filter { $0.hasPrefix("../") } + siblings).filter(directory.holdsDirectory)
  }

  /// The members of a workspace above, by their paths from the directory.
  private static func siblings(of kind: ProjectKind, in directory: ProjectDirectory) -> [String] {
    guard let find = kind.findSiblings else { return [] }
    var up = ""
    return directory.ancestors.firstResult { root in
      up += "../"
      let found = find(root, directory).filter { $0 != directory.path }
      let paths = found.compactMap { $0.relative(to: root.path) }.map { up + $0.bytes.decoded }
      return paths.isEmpty ? nil : paths
    } ?? []
  }

  /// The paths after one of these marks: `path = "../core"`.
  static func paths(in text: String, after marks: [String]) -> [String] {
    var found: [String] = []
    for line in text.split(whereSeparator: \.isNewline) {
      let plain = line.filter { !$0.isWhitespace }
      for mark in marks {
        var rest = plain.utf8[...]
        while let start = rest.firstIndex(of: mark) {
          rest = rest[start...].dropFirst(mark.utf8.count)
          let value = rest.prefix { !"\"',}".utf8.contains($0) }.decoded
          // A comment of Go.
          let path = String(value[..<(value.utf8.firstIndex(of: "//") ?? value.endIndex)])
          if !found.contains(path) { found.append(path) }
        }
      }
    }
    return found
  }
}

extension StringProtocol {
  /// Whether the text contains another one.
  func includes(_ part: String) -> Bool { utf8.firstIndex(of: part) != nil }
}
