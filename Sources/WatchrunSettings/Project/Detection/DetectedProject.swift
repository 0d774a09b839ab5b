import ActionRunning
import PathFiltering
import Support
import SystemCalls

/// What kind of project a directory holds, and its usual tasks.
package struct DetectedProject: Sendable {
  /// The kinds whose tasks are run.
  var kinds: [DetectedKind]
  /// The kinds that were detected and are not used.
  package var leftOut: [DetectedKind] = []
  /// The kinds whose files have none of the usual tasks.
  private let others: [DetectedKind]

  private let directory: ProjectDirectory

  init?(_ directory: ProjectDirectory) {
    self.directory = directory
    let all = ProjectDetection.kinds.compactMap { DetectedKind($0, in: directory) }
    kinds = all.filter(\.isUsable)
    if kinds.isEmpty { return nil }
    others = all.filter { !$0.isUsable }
    leaveOutOthers(
      makeCompiles: ProjectDetection.makeCompiles(in: directory),
      makeCalls: ProjectDetection.makeCalls(in: directory))
  }

  private mutating func leaveOutOthers(makeCompiles: Bool, makeCalls: (ProjectKind) -> Bool) {
    let all = kinds
    let compilers = all.map(\.kind).filter { $0.role == .compiler }
    // Make compiles the sources, and other compilers only a part of them.
    let isMakeMain =
      makeCompiles && !compilers.contains { $0.sources.contains("*.c") }
      && all.contains { $0.kind.role == .wrapper }
    var languages: Set<String> = []
    kinds = all.filter { found in
      let kind = found.kind
      switch kind.role {
      case .compiler where isMakeMain: return false
      case .compiler, .independent:
        return kind.language.map { languages.insert($0).inserted } ?? true
      case .wrapper:
        return isMakeMain
          || compilers.isEmpty
            && !all.contains { $0.kind.role == .independent && makeCalls($0.kind) }
      case .runner: return all.first?.name == found.name
      }
    }
    leftOut = all.filter { found in !kinds.contains { $0.name == found.name } }
  }

  /// For messages, in one line: the detected kind, the order of its tasks, and unused files.
  /// Tasks that do not depend on others start at once.
  package var summary: String {
    let chains = kinds.map { kind in
      let names =
        kind.tasks.map { name(of: $0, in: kind) } + (kind.kind.page.map { ["serve \($0)"] } ?? [])
      return names.joined(separator: kind.isChain ? ", then " : ", ")
        + (kind.tasks.contains { !$0.each.isEmpty } ? " in each package" : "")
    }
    let each = kinds.count > 1 ? ", each with its own tasks and sources" : ""
    let rest = leftOut.isEmpty ? "" : "; not used: \(leftOut.map(\.title).listed)"
    return "this is \(titles)\(each): \(chains.joined(separator: "; "))\(rest)"
  }

  /// For messages, a line each: what else there is to know before it runs.
  var notes: [String] {
    // What would be run by its name, and what it does that others see.
    let refusals = (kinds + others).flatMap(\.others).compactMap(\.refusal)
    let names = kinds.contains { $0.name == "node" } ? ProjectDetection.watchers(in: directory) : []
    let watching = ProjectDetection.watching(names, "needs no watchrun", "need no watchrun")
    return [offers].compactMap { $0 } + refusals + [watching].compactMap { $0 } + missingPrograms
      + unusedFiles
  }

  /// For messages, a line each: files that are not used, and what to type for them.
  package var unusedFiles: [String] {
    // One of them is enough to know.
    let processFile = ProjectDetection.procfile.files.first { name in
      directory.holds(name) && !kinds.contains { $0.file == name }
    }
    let recipes = leftOut.filter {
      [.wrapper, .runner].contains($0.kind.role) && $0.kind.page == nil && $0.file != processFile
    }.map { kind in
      let line = kind.tasks.map(\.line).joined(separator: " && ")
      return (kind.file, TypedLine.words(ofLine: line.word))
    }
    let processes = processFile.map { [($0, ["--config".word, $0.word])] } ?? []
    return (recipes + processes).map { "\($0) is not used; to take it: \(TypedLine.line($1))" }
      + ForeignFile.notes(in: directory)
  }

  private var missingPrograms: [String] {
    var missing: [String] = []
    for step in kinds.flatMap(\.tasks) where !step.isService {
      // A condition comes before the tool.
      let words = step.line.split(separator: Character(" ")).map(String.init)
      let start = words.first == "[" ? words.drop { $0 != "||" }.dropFirst() : words[...]
      guard let program = start.first,
        program.allSatisfy({ $0.isLetter || $0.isNumber || "-_.".contains($0) }),
        !missing.contains(program), !directory.findsProgram(program)
      else { continue }
      missing.append(program)
    }
    return missing.map { program in
      let source = Self.sources[program].map { ": \($0)" } ?? ""
      return "\(program) is not installed, and the tasks need it; install it\(source)"
    }
  }

  /// Where tools that few systems have are found.
  private static let sources = [
    "just": "https://just.systems", "task": "https://taskfile.dev", "cargo": "https://rustup.rs",
    "go": "https://go.dev/dl", "uv": "https://docs.astral.sh/uv", "deno": "https://deno.com",
    "bun": "https://bun.sh", "pnpm": "https://pnpm.io", "mkdocs": "pip install mkdocs",
    "hugo": "https://gohugo.io", "meson": "pip install meson", "cmake": "https://cmake.org",
    "zig": "https://ziglang.org", "swift": "https://swift.org",
  ]

  /// For messages, in one line: what the project defines beside its tasks, and how to run it. `nil` for
  /// nothing.
  var offers: String? {
    let others = (kinds + self.others).flatMap(\.others).filter { $0.refusal == nil }
    if others.isEmpty { return nil }
    // Nothing that others see is suggested for each save.
    let suggested = others.first { $0.publication == nil }
    return "also: \(ProjectDetection.some(of: others.map(\.shown)))"
      + (suggested.map { "; to run one: watchrun \($0.command)" } ?? "")
  }

  /// For messages: "a Swift package (Package.swift) and a Node package (package.json)".
  package var titles: String { kinds.map(\.title).listed }

  private func name(of step: Project.Task, in kind: DetectedKind) -> String {
    kinds.count == 1 ? step.name : "\(kind.name)-\(step.name)"
  }
}

extension DetectedKind {
  /// Whether each task depends on the one before it. Services run side by side.
  fileprivate var isChain: Bool { !tasks.contains { $0.isService } }

  /// What its tools write, also in members of a workspace.
  fileprivate var allProducts: [String] {
    let places = tasks.flatMap { $0.each.map(\.text.decoded) }.compactMap { pattern -> Substring? in
      let cut = pattern.lastIndex(of: "/") ?? pattern.startIndex
      return pattern.hasPrefix("!") || cut == pattern.startIndex ? nil : pattern[..<cut]
    }
    let ofMembers = places.flatMap { place in
      products.filter { $0.hasPrefix("/") }.map { "/\(place)\($0)" }
    }
    return products + ofMembers
  }

  /// The files of the root of a workspace that concern all its members.
  fileprivate func sharedFiles(in root: ProjectDirectory) -> [Path] {
    let sources = kind.sources.compactMap { GlobPattern(line: $0) }
    return root.names(of: .file).filter { name in
      sources.contains { $0.matches(Path(name), isDirectory: false) }
    }.map { Path($0) }
  }
}

// MARK: - The project

extension DetectedProject {
  /// Whether pages are made of Markdown, which is documentation otherwise.
  private var makesPages: Bool {
    kinds.contains { kind in
      kind.kind.page != nil
        || [.wrapper, .runner].contains(kind.kind.role) && directory.holds([kind.file], with: ".md")
        || kind.tasks.contains { ProjectDetection.Script($0.line, in: directory).makesPages }
    }
  }

  package var project: Project {
    var project = Project()
    // What the tools of one kind write, people may write for another.
    let isAlone = kinds.count == 1
    project.ignores = GlobPattern.all(
      (makesPages ? [] : ["*.md"]) + (isAlone ? kinds[0].allProducts : []))
    if kinds.contains(where: { $0.name == "procfile" }) {
      project.readVariables(ofProcessesIn: directory)
    }
    // The processes of a Procfile are no sources of each other.
    project.detectedFiles = kinds.filter { !$0.tasks.isEmpty && $0.name != "procfile" }.map {
      Path($0.file)
    }
    for kind in kinds {
      var before: String?
      for step in kind.tasks {
        var task = step
        task.name = name(of: step, in: kind)
        if kind.kind.comparesTimes
          || ProjectDetection.Script(step.line, in: directory).comparesTimes
        {
          task.onBusy = .restart
        }
        if let before, kind.isChain { task.after = [before] }
        if !step.each.isEmpty { task.watched = kind.sharedFiles(in: directory) }
        if !task.after.isEmpty && step.each.isEmpty {
          task.watched = []
        } else {
          task.watched += kind.dependencies.map { Path($0) }
          if !isAlone {
            let others = kinds.filter { $0.name != kind.name }.flatMap(\.allProducts)
            task.filters = GlobPattern.all(
              ProjectDetection.data + others.map { "!\($0)" } + kind.kind.sources)
            task.ignores = GlobPattern.all(kind.allProducts)
          }
        }
        project.tasks.append(task)
        before = task.name
      }
      if let served = kind.kind.page {
        var page = Project.Page(name: kinds.count == 1 ? "page" : "\(kind.name)-page")
        page.served = Path(served)
        page.after = before.map { [$0] } ?? []
        project.pages.append(page)
      }
    }
    return project
  }
}
