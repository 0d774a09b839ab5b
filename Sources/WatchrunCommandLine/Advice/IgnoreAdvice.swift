import PathFiltering
import Support

/// The pattern that ignores a path, or declares that it is written, as messages recommend it.
struct IgnoreAdvice {
  let pattern: GlobPattern

  /// The pattern that ignores this path and no other, or its entries with such names, with the options of this
  /// directory. Outside of it, patterns are compared with names only.
  init?(_ path: Path, in directory: Path, entries: String? = nil) {
    guard let pattern = GlobPattern(line: Self.line(path, directory, entries)) else { return nil }
    self.pattern = pattern
  }

  private static func line(_ path: Path, _ directory: Path, _ entries: String?) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    let backslash = UInt8(ascii: "\\")
    let names = entries.map { Array($0.utf8) }
    guard path.isWithin(directory) else {
      let line = names ?? GlobPattern.escaped(path.lastComponent)
      // A negated pattern, or a comment.
      return line.first.map { "!#".utf8.contains($0) } == true ? [backslash] + line : line
    }
    let isWhole = path == directory
    let relative = isWhole ? [] : path.relative(to: directory)?.bytes ?? path.bytes
    let parts = [GlobPattern.escaped(relative), names ?? []].filter { !$0.isEmpty }
    let line = Array(parts.joined(separator: [slash]))
    // A pattern that begins with the directory is an absolute path.
    let looksAbsolute = ([slash] + line).starts(with: directory.bytes + [slash])
    return [slash] + (looksAbsolute ? [backslash] : []) + line
  }

  /// For a command line: `-i '/a*'`.
  var option: String { "-i \(ShellWords.quoted(pattern.text))" }

  /// For a command line: `--writes '/a*'`.
  var writesOption: String { "--writes \(ShellWords.quoted(pattern.text))" }

  /// For a project file.
  var key: String { "\"ignore\": [\(string)] in watchrun.json" }

  /// For a task in a project file.
  func writesKey(of task: String) -> String {
    "\"writes\": [\(string)] of \(task.printable) in watchrun.json"
  }

  /// A string cannot hold bytes that are not UTF-8.
  private var string: String {
    JSONWriter.quoted(String(pattern.text.decoded.map { $0 == "\u{FFFD}" ? "*" : $0 }))
  }
}
