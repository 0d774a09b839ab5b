import ActionRunning
import PathFiltering

/// What kind of project a directory holds, and its usual tasks.
struct DetectedProject: Sendable {
  /// The kinds whose tasks are run.
  var kinds: [DetectedKind]
  /// The kinds that were detected and are not used.
  var leftOut: [DetectedKind] = []

  /// `nil` if no kind is detected.
  init?(_ directory: ProjectDirectory) {
    kinds = ProjectDetection.kinds.compactMap { DetectedKind($0, in: directory) }
    if kinds.isEmpty { return nil }
    leaveOutOthers(makeCompiles: ProjectDetection.makeCompiles(in: directory))
  }

  private mutating func leaveOutOthers(makeCompiles: Bool) {
    let all = kinds
    let compilers = all.map(\.kind).filter { $0.role == .compiler }
    // Make compiles the sources, and other compilers only a part of them.
    let isMakeMain =
      makeCompiles && !compilers.contains(where: \.compilesC)
      && all.contains { $0.kind.role == .wrapper }
    var languages: Set<String> = []
    kinds = all.filter { found in
      let kind = found.kind
      switch kind.role {
      case .compiler where isMakeMain: return false
      case .compiler, .independent:
        return kind.language.map { languages.insert($0).inserted } ?? true
      case .wrapper: return compilers.isEmpty || isMakeMain
      case .runner: return all.first?.name == found.name
      }
    }
    leftOut = all.filter { found in !kinds.contains { $0.name == found.name } }
  }

  /// For messages, in one line: the detected kind, the order of its tasks, and unused files.
  /// Tasks that do not depend on others start at once.
  var summary: String {
    let chains = kinds.map { kind in
      let names = kind.tasks.map { name(of: $0, in: kind) }
      return names.joined(separator: kind.isChain ? ", then " : ", ")
    }
    let each = kinds.count > 1 ? ", each with its own tasks and sources" : ""
    let rest = leftOut.isEmpty ? "" : "; not used: \(Self.joined(leftOut.map(\.title)))"
    return "this is \(titles)\(each): \(chains.joined(separator: "; "))\(rest)"
  }

  /// For messages, in one line: what the project defines beside its tasks, and how to run it. `nil` for
  /// nothing.
  var offers: String? {
    let others = kinds.flatMap(\.others)
    guard let first = others.first else { return nil }
    return "also: \(ProjectDetection.some(of: others.map(\.shown))); to run one: watchrun "
      + first.command
  }

  /// For messages: "a Swift package (Package.swift) and a Node package (package.json)".
  var titles: String { Self.joined(kinds.map(\.title)) }

  private static func joined(_ titles: [String]) -> String {
    guard let last = titles.last, titles.count > 1 else { return titles.joined() }
    return titles.dropLast().joined(separator: ", ") + " and " + last
  }

  private func name(of step: ProjectKind.Step, in kind: DetectedKind) -> String {
    kinds.count == 1 ? step.name : "\(kind.name)-\(step.name)"
  }
}

extension DetectedKind {
  /// Whether each task depends on the one before it. Services run side by side.
  fileprivate var isChain: Bool { !tasks.contains { $0.isService } }
}

// MARK: - The project

extension DetectedProject {
  /// The project with the usual tasks.
  var project: Project {
    var project = Project()
    // Documentation is not compiled.
    project.ignores = Self.patterns(["*.md"] + kinds.flatMap(\.products))
    for kind in kinds {
      var before: String?
      for step in kind.tasks {
        let name = name(of: step, in: kind)
        var task = Project.Task(name: name, run: .line(step.run))
        task.isService = step.isService
        if let before, kind.isChain {
          task.after = [before]
        } else {
          task.watched = ["."]
          task.filters = kinds.count == 1 ? [] : Self.patterns(kind.kind.sources)
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
