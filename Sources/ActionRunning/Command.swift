import FileObservation
import SystemCalls

/// A command to run, and how it learns what has changed.
public struct Command: Sendable, Hashable {
  /// How the words become a process.
  public enum Form: Sendable, Hashable {
    /// The first word is the program, the others are its arguments.
    case direct
    /// The words, with a space between them, are a line for this shell.
    case shell([UInt8])
  }

  /// The words, as bytes.
  public var words: [[UInt8]]
  /// How the words become a process.
  public var form: Form
  /// What is added to the environment.
  public var environment: [EnvironmentVariable]
  /// Where it runs; the current folder if there is none.
  public var directory: Path?
  /// False to give it `/dev/null` as standard input instead of our own.
  public var inheritsStandardInput: Bool
  /// True to give it the terminal, so that it can read keys and has the signals of Ctrl-C and Ctrl-Z.
  public var takesTerminal = false
  /// What stands for `/_` as long as nothing has changed; if nil, `/_` is left out then.
  public var firstPathAtStart: Path?

  /// A variable, as bytes.
  public struct EnvironmentVariable: Sendable, Hashable {
    /// What comes before the first `=`.
    public let name: [UInt8]
    /// What comes after it.
    public let value: [UInt8]

    /// A variable of this name, in which there must be no `=`.
    public init(name: [UInt8], value: [UInt8]) {
      self.name = name
      self.value = value
    }

    init(_ name: String, _ value: [UInt8]) {
      self.init(name: Array(name.utf8), value: value)
    }
  }

  /// A command of these words.
  public init(
    words: [[UInt8]], form: Form = .direct, environment: [EnvironmentVariable] = [],
    directory: Path? = nil, inheritsStandardInput: Bool = true
  ) {
    self.words = words
    self.form = form
    self.environment = environment
    self.directory = directory
    self.inheritsStandardInput = inheritsStandardInput
  }

  /// A command of these words, executed directly.
  public init(_ words: String...) {
    self.init(words: words.map { Array($0.utf8) })
  }
}

// MARK: - Told what has changed

extension Command {
  /// A path is never pasted into a shell line: it is an argument of its own, in a variable or in a
  /// file. So that all of them fit into what the kernel takes, longer lists are cut.
  private static let longestArgumentList = 512 * 1024
  private static let longestVariable = 64 * 1024

  /// What is to be started for a trigger. `pathsFile` holds all the paths, a NUL behind each.
  func spawnRequest(
    for trigger: Trigger, inherited: [[UInt8]], currentDirectory: Path, pathsFile: Path?
  ) -> SpawnRequest {
    let paths = trigger.changes.map(\.path)
    let here = directory?.absolute(from: currentDirectory) ?? currentDirectory
    let arguments = paths.map { Self.argument(for: $0, in: here) }
    let listed = Self.prefix(of: arguments, fitting: Self.longestArgumentList)
    let listText = Self.prefix(of: paths.map(\.bytes), fitting: Self.longestVariable)
    let isCut =
      listText.count < paths.count || (listed.count < paths.count && words.contains(Self.allPaths))
    var variables: [EnvironmentVariable] = [
      .init("WATCHRUN_REASON", Array(trigger.reason.rawValue.utf8)),
      .init("WATCHRUN_COUNT", Array(String(paths.count).utf8)),
      .init("WATCHRUN_FIRST", paths.first?.bytes ?? []),
      .init("WATCHRUN_PATHS", Array(listText.joined(separator: [UInt8(ascii: "\n")]))),
    ]
    if isCut { variables.append(.init("WATCHRUN_TRUNCATED", Array("1".utf8))) }
    if let pathsFile { variables.append(.init("WATCHRUN_PATHS_FILE", pathsFile.bytes)) }
    return SpawnRequest(
      arguments: commandLine(paths: Array(listed)),
      environment: Self.environment(inherited, with: variables + environment),
      directory: directory,
      standardInput: inheritsStandardInput ? .inherited : .null, takesTerminal: takesTerminal)
  }

  private static let allPaths = Array("{}".utf8)
  private static let firstPath = Array("{first}".utf8)
  /// As in entr, where it is a file of the list at the start, too.
  private static let entrFirstPath = Array("/_".utf8)
  private static let firstPaths = [firstPath, entrFirstPath]

  private func first(of paths: [[UInt8]]) -> [UInt8]? {
    paths.first ?? firstPathAtStart?.bytes
  }

  private func commandLine(paths: [[UInt8]]) -> [[UInt8]] {
    switch form {
    case .direct:
      return words.flatMap { word -> [[UInt8]] in
        if word == Self.allPaths { return paths }
        if word == Self.entrFirstPath { return first(of: paths).map { [$0] } ?? [] }
        if word == Self.firstPath { return Array(paths.prefix(1)) }
        return [word]
      }
    case .shell(let shell):
      return [shell, Array("-c".utf8)] + shellLine(paths: paths)
    }
  }

  /// The line, and the shell's own arguments, which it puts in where the placeholders stand.
  private func shellLine(paths: [[UInt8]]) -> [[UInt8]] {
    let used = Set(words).intersection(Self.firstPaths + [Self.allPaths])
    guard words.count > 1, !used.isEmpty else {
      return [Array(words.joined(separator: [UInt8(ascii: " ")]))]
    }
    let line = words.map { word -> [UInt8] in
      if word == Self.allPaths { return Array(#""$@""#.utf8) }
      return used.contains(word) ? Array(#"${1+"$1"}"#.utf8) : word
    }.joined(separator: [UInt8(ascii: " ")])
    let arguments = used == [Self.entrFirstPath] ? first(of: paths).map { [$0] } ?? [] : paths
    return [Array(line), Array("watchrun".utf8)] + arguments
  }

  /// A path as the command sees it from where it runs: relative if it is below, and never to be
  /// taken for an option.
  private static func argument(for path: Path, in directory: Path) -> [UInt8] {
    guard let relative = path.relative(to: directory) else { return path.bytes }
    let startsLikeOption = relative.bytes.first == UInt8(ascii: "-")
    return startsLikeOption ? Array("./".utf8) + relative.bytes : relative.bytes
  }

  private static func prefix(of list: [[UInt8]], fitting limit: Int) -> ArraySlice<[UInt8]> {
    var size = 0
    return list.prefix { item in
      size += item.count + 1
      return size <= limit
    }
  }

  /// The inherited variables without those that are replaced, and without what another watchrun
  /// above us may have set.
  private static func environment(
    _ inherited: [[UInt8]], with variables: [EnvironmentVariable]
  ) -> [[UInt8]] {
    let equals = UInt8(ascii: "=")
    var values: [[UInt8]: [UInt8]] = [:]
    for variable in variables { values[variable.name] = variable.value }
    let ours = Array("WATCHRUN_".utf8)
    let kept = inherited.filter { entry in
      let name = Array(entry.prefix { $0 != equals })
      return values[name] == nil && !name.starts(with: ours)
    }
    var isPut: Set<[UInt8]> = []
    let added = variables.compactMap { variable -> [UInt8]? in
      guard isPut.insert(variable.name).inserted else { return nil }
      return variable.name + [equals] + (values[variable.name] ?? [])
    }
    return kept + added
  }
}
