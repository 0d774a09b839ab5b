import Support

/// A kind of project that is detected by its files: a row of ``ProjectDetection/kinds``.
struct ProjectKind: Sendable {
  /// Decides which kinds are left out where several are detected in one directory.
  enum Role: Hashable, Sendable {
    /// Compiles sources.
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
  /// Whether it compiles C, perhaps beside another language.
  var compilesC: Bool { role == .compiler && sources.contains("*.c") }

  /// The files by which it is detected. The first one that exists is used.
  let files: [String]
  /// The best-known one; `nil` for the first.
  var usualFile: String?
  /// Patterns for what its tools write beside the sources.
  var products: [String] = []
  /// Finds further products, which are named in its files.
  var findProducts: (@Sendable (ProjectDirectory) -> [String])?
  /// Patterns for its sources. They matter where there are several kinds.
  var sources: [String] = []
  /// What a file lacks that has no usual task: "recipe 'build' or 'test'".
  var wanted: String?
  /// Finds what else its files define. It is never run by itself, but offered.
  var findOthers: (@Sendable (ProjectDirectory, _ file: String) -> [Offer])?
  /// The usual tasks, in order, each of which depends on the one before it. Empty if there are none.
  let tasks: @Sendable (ProjectDirectory, _ file: String) -> [Step]

  /// A task of a detected project and its shell line.
  struct Step: Hashable, Sendable {
    var name: String
    var run: String
    var isService = false

    init(_ name: String, _ run: String) {
      self.name = name
      self.run = run
    }
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

    init(_ name: String, _ command: String, shown: String? = nil) {
      self.name = name
      self.command = command
      self.shown = shown ?? command
    }
  }
}

/// A kind of project with the findings in a directory.
struct DetectedKind: Sendable {
  let kind: ProjectKind
  let file: String
  let tasks: [ProjectKind.Step]
  let products: [String]
  let others: [ProjectKind.Offer]

  var name: String { kind.name }

  /// For messages: "a Swift package (Package.swift)".
  var title: String { kind.title.map { "\($0) (\(file))" } ?? "a \(file)" }

  /// `nil` if there is none of the kind's files, or no task in it.
  init?(_ kind: ProjectKind, in directory: ProjectDirectory) {
    guard let file = directory.first(of: kind.files) else { return nil }
    let tasks = kind.tasks(directory, file)
    if tasks.isEmpty { return nil }
    self.kind = kind
    self.file = file
    self.tasks = tasks
    products = kind.products + (kind.findProducts?(directory) ?? [])
    others = kind.findOthers?(directory, file) ?? []
  }
}

extension StringProtocol {
  /// Whether the text contains another one. `contains` would link the regular expression engine into
  /// the program, which is larger than watchrun itself.
  func includes(_ part: String) -> Bool {
    var rest = utf8[...]
    while rest.count >= part.utf8.count {
      if rest.starts(with: part.utf8) { return true }
      rest = rest.dropFirst()
    }
    return part.isEmpty
  }
}
