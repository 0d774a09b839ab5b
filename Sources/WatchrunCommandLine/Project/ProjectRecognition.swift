import FileObservation
import PathFiltering
import SystemCalls

/// A folder that may hold a project, as far as recognition looks into it.
struct ProjectFolder {
  let path: Path

  /// True if there is a file of that name.
  func holds(_ name: String) -> Bool {
    (try? FileStatus(of: path.appending(name), followsLinks: true))?.type == .file
  }

  func holdsFolder(_ name: String) -> Bool {
    (try? FileStatus(of: path.appending(name), followsLinks: true))?.type == .directory
  }

  func holdsAnything(_ name: String) -> Bool {
    (try? FileStatus(of: path.appending(name))) != nil
  }

  /// What a file says; nil if it is not there.
  func text(of name: String) -> String? {
    let bytes = try? fileContents(of: path.appending(name))
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// What a folder was recognised as.
struct RecognizedProject: Hashable {
  /// One kind of project in it.
  struct Kind: Hashable {
    /// What its tasks are called by where there are others.
    var name: String
    /// For people, with an article: "a Swift package (Package.swift)".
    var title: String
    /// The usual tasks, in order; each stands after the one before it.
    var tasks: [Step]
    /// What its tools write beside the sources.
    var products: [String] = []
    /// What it is made of.
    var sources: [String]
  }

  /// A task, and its line for the shell.
  struct Step: Hashable {
    var name: String
    var run: String

    init(_ name: String, _ run: String) {
      self.name = name
      self.run = run
    }
  }

  var kinds: [Kind]
  /// What is there and not made use of.
  var leftOut: [Kind] = []

  /// What is in the folder; nil if nothing of it is known.
  init?(_ folder: ProjectFolder) {
    kinds = Recognition.all.compactMap { $0(folder) }
    // Beside a tool that builds by itself, a Makefile only wraps it.
    if kinds.contains(where: { Recognition.builders.contains($0.name) }) {
      leftOut = kinds.filter { $0.name == Recognition.make }
      kinds.removeAll { $0.name == Recognition.make }
    }
    if kinds.isEmpty { return nil }
  }

  /// For people, in one line: what it is, and what is done in it. What does not wait for anything else
  /// begins at once.
  var summary: String {
    let others = leftOut.map { "; \($0.title) is left out" }.joined()
    let chains = kinds.map { kind in
      kind.tasks.map { name(of: $0, in: kind) }.joined(separator: ", then ")
    }
    return "this is \(titles): \(chains.joined(separator: "; "))\(others)"
  }

  /// "a Swift package (Package.swift) and a Node package (package.json)".
  var titles: String {
    let titles = kinds.map(\.title)
    guard let last = titles.last, titles.count > 1 else { return titles.joined() }
    return titles.dropLast().joined(separator: ", ") + " and " + last
  }

  private func name(of step: Step, in kind: Kind) -> String {
    kinds.count == 1 ? step.name : "\(kind.name)-\(step.name)"
  }

  /// What is done in it.
  var project: Project {
    var project = Project()
    // What is written for people leads to the same program.
    let ignored = ["*.md"] + kinds.flatMap(\.products)
    project.ignores = Self.patterns(ignored)
    for kind in kinds {
      var before: String?
      for step in kind.tasks {
        let name = name(of: step, in: kind)
        var task = Project.Task(name: name, run: .line(step.run))
        if let before {
          task.after = [before]
        } else {
          task.watched = ["."]
          task.filters = kinds.count == 1 ? [] : Self.patterns(kind.sources)
        }
        project.tasks.append(task)
        before = name
      }
    }
    return project
  }

  private static func patterns(_ lines: [String]) -> [GlobPattern] {
    var known: Set<String> = []
    return lines.filter { known.insert($0).inserted }.compactMap { GlobPattern(line: $0.utf8) }
  }
}
