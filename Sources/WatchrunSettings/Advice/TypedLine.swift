import Support
import SystemCalls

/// A command line whose command cannot be what its author meant, and what advice about it is made from.
package struct TypedLine {
  var words: [[UInt8]]
  var options: [[UInt8]] = []
  let directory: ProjectDirectory
  var project: TaskWords.Project?
  /// Whether another program reads standard output, as in `watchrun . | xargs`.
  var isPiped = false

  /// The words as text. What is not UTF-8 never equals a word that is looked for.
  var texts: [String] { words.map { $0.decoded } }
  var first: String { texts.first ?? "" }
  var rest: [[UInt8]] { Array(words.dropFirst()) }
  var usual: UsualLines { UsualLines(directory: directory) }

  /// What is missing, for the beginning of a message.
  var lack: String {
    let name = Path(bytes: words.first ?? [])
    if project != nil, !name.bytes.contains(UInt8(ascii: "/")), words.count == 1 {
      return "no task and no program '\(name)'"
    }
    return "no program '\(name)' in PATH"
  }
}

// MARK: - Lines to type

extension TypedLine {
  /// Without options that mean something else in the tool whose habit it is.
  func line(_ command: [[UInt8]], adding more: [[UInt8]] = []) -> String {
    Self.line((isOfNotifier ? [] : options) + more + command)
  }

  static func line(_ words: [[UInt8]]) -> String {
    words.isEmpty ? "watchrun" : "watchrun " + ShellWords.quoted(words)
  }

  /// A command for an example: the rest of the line, nothing where a project has tasks, what tests the
  /// project, or a placeholder.
  func command(_ rest: [[UInt8]]) -> String {
    if !rest.isEmpty { return " " + ShellWords.quoted(rest) }
    if project != nil { return "" }
    return " " + (usual.test ?? "COMMAND")
  }

  /// How to watch these paths: with the rest of the line as the command.
  func watching(_ paths: [[UInt8]], _ rest: [[UInt8]]) -> String {
    let marked = rest.first == "--".word ? Array(rest.dropFirst()) : rest
    return line([], adding: Self.watched(paths)) + command(marked)
  }

  /// How to print the changes of paths, and how to wait for one.
  func printing(_ paths: [[UInt8]]) -> String {
    Self.line(["--print".word, "lines".word] + Self.watched(paths))
  }

  func waiting(_ paths: [[UInt8]]) -> String {
    Self.line(["-p".word, "--once".word] + Self.watched(paths) + ["true".word])
  }

  static func watched(_ paths: [[UInt8]]) -> [[UInt8]] { paths.flatMap { ["-w".word, $0] } }

  /// Whether options are those of inotifywait: `-e modify,create`.
  var isOfNotifier: Bool {
    zip(options, options.dropFirst()).contains { option, value in
      (option.last == UInt8(ascii: "e") && option.first == UInt8(ascii: "-")
        || option == Array("--event".utf8))
        && Self.namesEvents(value.decoded)
    }
  }

  /// Whether each name in a list is one of inotifywait's events, and none an extension that exists.
  package static func namesEvents(_ list: String) -> Bool {
    let names = list.lowercased().split(separator: Character(",")).map(String.init)
    return !names.isEmpty && names.allSatisfy { events[$0] != nil }
  }

  /// The events of inotifywait, and the kinds of change that they are here.
  package static let events = ProjectDetection.Script.table(
    """
    create | create
    delete delete_self remove | remove
    attrib metadata | metadata
    move move_self moved_from moved_to rename | rename
    access close close_nowrite close_write modify open | modify
    """)
}
