import FileObservation
import SystemCalls

// Turns a command and a trigger into a process to start.

extension Command {
  /// The part of a run's start that does not depend on the changes.
  struct LaunchContext {
    /// The inherited environment, as `NAME=value`.
    var inherited: [[UInt8]] = []
    var currentDirectory: Path
    /// A file with all paths, each followed by a NUL.
    var pathsFile: Path?
    /// The file for standard input, if not the inherited one.
    var input: Path?
    var variables: [EnvironmentVariable] = []
    /// What replaces `{tests}`; empty for all tests.
    var tests: [Path] = []
    var limits = ArgumentLimits.usual
  }

  /// The space for lists of paths, in bytes. Whole paths that do not fit are left out.
  struct ArgumentLimits: Hashable {
    var arguments: Int
    var variable: Int

    static let usual = ArgumentLimits(arguments: 512 * 1024, variable: 64 * 1024)
    /// In descending order: after `E2BIG`, the next one is used.
    static let all = [usual, ArgumentLimits(arguments: 16 * 1024, variable: 4 * 1024), none]
    private static let none = ArgumentLimits(arguments: 0, variable: 0)
  }

  /// The process to start for a trigger. A path never becomes part of a shell's command line.
  func spawnRequest(for trigger: RunTrigger, in context: LaunchContext) -> SpawnRequest {
    let current = context.currentDirectory
    let here = directory?.absolute(from: current) ?? current
    // Of many changes, few fit, and most commands name none.
    let named = namesChanges ? trigger.changes[...] : []
    let listed = Self.prefix(
      of: named.lazy.map { Self.argument(for: $0.path, in: here) },
      fitting: context.limits.arguments)
    let isCut = listed.count < named.count && words.contains(Self.allPaths)
    let variables = variables(for: trigger, context, isCut: isCut) + environment.variables
    let usualInput = inheritsStandardInput ? SpawnRequest.StandardInput.inherited : .null
    var request = SpawnRequest(
      arguments: commandLine(paths: listed, tests: tests(context)),
      environment: Self.environment(
        context.inherited, with: variables,
        removingOurs: describesRun || changeDelivery == .environment),
      directory: directory,
      standardInput: context.input.map { .file($0) } ?? usualInput,
      takesTerminal: takesTerminal)
    request.socket = socket
    return request
  }

  /// All tests, where their list is too long.
  private func tests(_ context: LaunchContext) -> [[UInt8]] {
    let tests = context.tests.map { Self.guarded($0).bytes }
    let listed = Self.prefix(of: tests, fitting: context.limits.arguments)
    return listed.count == tests.count ? tests : []
  }

  private func variables(
    for trigger: RunTrigger, _ context: LaunchContext, isCut: Bool
  ) -> [EnvironmentVariable] {
    var variables: [EnvironmentVariable] = []
    if describesRun { variables.append(.init("WATCHRUN_REASON", trigger.reasonName)) }
    if socket != nil {
      variables.append(.init("LISTEN_FDS", "1"))
      if let receiver = PassedSocket.receiver { variables.append(.init("LISTEN_PID", receiver)) }
    }
    var isCut = isCut
    if changeDelivery == .environment {
      let paths = trigger.changes.lazy.map(\.path.bytes)
      let listed = Self.prefix(of: paths, fitting: context.limits.variable)
      isCut = isCut || listed.count < paths.count
      variables += [
        .init("WATCHRUN_COUNT", String(paths.count)),
        .init("WATCHRUN_FIRST", paths.first ?? []),
        .init("WATCHRUN_PATHS", Array(listed.joined(separator: [UInt8(ascii: "\n")]))),
      ]
      if let file = context.pathsFile {
        variables.append(.init("WATCHRUN_PATHS_FILE", file.bytes))
      }
    }
    if isCut { variables.append(.init("WATCHRUN_TRUNCATED", "1")) }
    return variables + context.variables
  }

  private static let allPaths = Array("{}".utf8)
  private static let firstPath = Array("{first}".utf8)
  /// As in entr, where it is the first file of the list in the first run.
  private static let entrFirstPath = Array("/_".utf8)
  private static let firstPaths = [firstPath, entrFirstPath]

  private var namesChanges: Bool {
    expandsPlaceholders && words.contains { $0 == Self.allPaths || Self.firstPaths.contains($0) }
  }

  private func first(of paths: [[UInt8]]) -> [UInt8]? {
    paths.first ?? firstPathAtStart?.bytes
  }

  private func commandLine(paths: [[UInt8]], tests: [[UInt8]]) -> [[UInt8]] {
    switch form {
    case .direct:
      if !expandsPlaceholders { return words }
      return words.flatMap { word -> [[UInt8]] in
        if testMap != nil && word == TestMap.word { return tests }
        if word == Self.allPaths { return paths }
        if word == Self.entrFirstPath { return first(of: paths).map { [$0] } ?? [] }
        if word == Self.firstPath { return Array(paths.prefix(1)) }
        return [word]
      }
    case .shell(let shell):
      let line = Array(words.joined(separator: [UInt8(ascii: " ")]))
      if testMap != nil, let line = TestMap.filling(line, with: Array(#""$@""#.utf8)) {
        return [shell, Array("-c".utf8), line, Array("watchrun".utf8)] + tests
      }
      var words = shellLine(paths: paths)
      if socket != nil && Self.mayReplace(shell, words[0]) {
        words[0] = Array("exec ".utf8) + words[0]
      }
      return [shell, Array("-c".utf8)] + words
    }
  }

  /// The command line, and the arguments that the shell substitutes for the placeholders.
  private func shellLine(paths: [[UInt8]]) -> [[UInt8]] {
    let used = Set(words).intersection(Self.firstPaths + [Self.allPaths])
    guard expandsPlaceholders, words.count > 1, !used.isEmpty else {
      return [Array(words.joined(separator: [UInt8(ascii: " ")]))]
    }
    let line = words.map { word -> [UInt8] in
      if word == Self.allPaths { return Array(#""$@""#.utf8) }
      return used.contains(word) ? Array(#"${1+"$1"}"#.utf8) : word
    }.joined(separator: [UInt8(ascii: " ")])
    let arguments = used == [Self.entrFirstPath] ? first(of: paths).map { [$0] } ?? [] : paths
    return [Array(line), Array("watchrun".utf8)] + arguments
  }

  /// Whether `exec` can precede the line, which is one program and its arguments then: the program that receives a
  /// socket must be the process that is started. Other shells do that by themselves.
  private static func mayReplace(_ shell: [UInt8], _ line: [UInt8]) -> Bool {
    let name = Path(bytes: shell).lastComponent
    let first = line.prefix { $0 > UInt8(ascii: " ") }
    return ["sh", "dash", "ash", "fish"].contains { name.elementsEqual($0.utf8) }
      && !line.contains(where: "|&;()`\n".utf8.contains)
      && !first.isEmpty && !first.contains(where: "=$'\"\\{}[]*?~<>!#".utf8.contains)
      && !["exec", "eval", "command", ".", "source", "time"].contains {
        first.elementsEqual($0.utf8)
      }
  }

  /// A path as seen from the directory: relative if below it, with `./` before what looks like an option.
  private static func argument(for path: Path, in directory: Path) -> [UInt8] {
    guard let relative = path.relative(to: directory) else { return path.bytes }
    return guarded(relative).bytes
  }

  private static func guarded(_ path: Path) -> Path {
    let startsLikeOption = path.bytes.first == UInt8(ascii: "-")
    return startsLikeOption ? Path(bytes: Array("./".utf8) + path.bytes) : path
  }

  private static func prefix(of list: some Sequence<[UInt8]>, fitting limit: Int) -> [[UInt8]] {
    var (prefix, size) = ([[UInt8]](), 0)
    for item in list {
      size += item.count + 1
      if size > limit { break }
      prefix.append(item)
    }
    return prefix
  }

  /// The inherited variables, without those that are replaced and, if asked for, those of an outer watchrun.
  private static func environment(
    _ inherited: [[UInt8]], with variables: [EnvironmentVariable], removingOurs: Bool
  ) -> [[UInt8]] {
    var values: [[UInt8]: [UInt8]] = [:]
    for variable in variables { values[variable.name] = variable.value }
    let ours = Array("WATCHRUN_".utf8)
    let kept = inherited.filter { entry in
      !(removingOurs && entry.starts(with: ours))
        && !variables.contains { variable in
          let name = variable.name
          return entry.starts(with: name)
            && (entry.count == name.count || entry[name.count] == UInt8(ascii: "="))
        }
    }
    let added = variables.compactMap { variable in
      values.removeValue(forKey: variable.name).map { variable.name + [UInt8(ascii: "=")] + $0 }
    }
    return kept + added
  }
}
