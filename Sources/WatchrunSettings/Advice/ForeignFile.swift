import Support
import SystemCalls

/// A configuration file of another tool, and the line that does the same here.
struct ForeignFile: Sendable {
  let name: String
  let tool: String
  /// The words after `watchrun`; `nil` if they cannot be told from the text.
  let words: @Sendable (_ text: String, ProjectDirectory) -> [String]?

  /// Those that people have; Procfiles are read.
  static let all: [ForeignFile] = [
    ForeignFile(name: ".air.toml", tool: "air") { text, _ in air(text) },
    ForeignFile(name: "nodemon.json", tool: "nodemon", words: nodemon),
    ForeignFile(name: "bacon.toml", tool: "bacon") { text, _ in bacon(text) },
    ForeignFile(name: "modd.conf", tool: "modd") { text, _ in modd(text) },
    ForeignFile(name: "reflex.conf", tool: "reflex") { text, _ in reflex(text) },
  ]

  func note(in directory: ProjectDirectory) -> String? {
    guard let text = directory.text(of: name) else { return nil }
    let line = words(text, directory).map { TypedLine.line($0) }
    return "\(name) is for \(tool) and not read here"
      + (line.map { "; the same: \($0)" } ?? "; --init writes a file for watchrun")
  }

  static func advice(
    for name: String, in directory: ProjectDirectory, _ line: TypedLine
  ) -> String? {
    if name.hasPrefix("Procfile"), directory.holds(name) {
      return "to run the processes of \(name.printable): \(TypedLine.line(["--config", name]))"
    }
    return all.first { $0.name == name }?.note(in: directory)
  }

  static func notes(in directory: ProjectDirectory) -> [String] {
    all.compactMap { $0.note(in: directory) }
  }
}

// MARK: - The files

extension ForeignFile {
  private static func air(_ text: String) -> [String]? {
    let build = values(in: text, section: "build")
    guard let command = build["cmd"]?.first,
      let program = build["full_bin"]?.first ?? build["bin"]?.first
    else { return nil }
    let extensions = build["include_ext"].map { ["-e", $0.joined(separator: ",")] } ?? []
    let isPath = program.contains { "./ ".contains($0) && program.hasPrefix(String($0)) }
    return extensions + ["--build", command, "-r"]
      + words(isPath || program.includes(" ") ? program : "./" + program)
  }

  private static func bacon(_ text: String) -> [String]? {
    let job = values(in: text, section: "")["default_job"]?.first ?? "check"
    return values(in: text, section: "jobs.\(job)")["command"]
      ?? (["check", "clippy", "test", "doc"].contains(job) ? ["cargo", job] : nil)
  }

  @Sendable private static func nodemon(_ text: String, _ directory: ProjectDirectory) -> [String]?
  {
    guard let file = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
    let watched = strings(file["watch"]).flatMap { ["-w", $0] }
    let extensions = strings(file["ext"]).flatMap {
      ["-e", $0.split { ", ".contains($0) }.joined(separator: ",")]
    }
    let ignored = strings(file["ignore"]).flatMap { ["-i", $0] }
    guard let command = strings(file["exec"]).first ?? runScript(in: directory) else { return nil }
    return watched + extensions + ignored + ["-r"] + words(command)
  }

  private static func runScript(in directory: ProjectDirectory) -> String? {
    let file =
      ProjectDetection.mainScript(in: directory)
      ?? ["index.js", "server.js", "app.js"].first(where: directory.holds)
    return file.map { "node \(ShellWords.quoted($0.word))" }
  }

  /// The first block with commands: `**/*.go { prep: go test }`.
  private static func modd(_ text: String) -> [String]? {
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") }
    for block in lines.joined(separator: "\n").split(separator: Character("}")) {
      let parts = block.split(separator: Character("{"), maxSplits: 1)
      guard parts.count == 2 else { continue }
      let build = value(of: "prep", in: parts[1])
      let server = value(of: "daemon", in: parts[1])
      guard let last = server ?? build else { continue }
      // Names of changed files are not passed like this.
      guard ![build, server].contains(where: { $0?.includes("@") == true }) else { return nil }
      let patterns = parts[0].split(whereSeparator: \.isWhitespace).flatMap {
        $0.hasPrefix("!") ? ["-i", String($0.dropFirst())] : ["-f", String($0)]
      }
      let before = server == nil ? [] : (build.map { ["--build", $0] } ?? []) + ["-r"]
      return patterns + before + words(last)
    }
    return nil
  }

  /// The command after a word such as `prep:` or `daemon +sigterm:`.
  private static func value(of key: String, in body: Substring) -> String? {
    let lines = body.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
    guard let line = lines.first(where: { $0.hasPrefix(key) }), let cut = line.firstIndex(of: ":")
    else { return nil }
    return String(line[cut...].dropFirst().drop(while: \.isWhitespace))
  }

  /// The first line: `-r '\.go$' -s -- go run .`.
  private static func reflex(_ text: String) -> [String]? {
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") }
    guard let words = lines.first.flatMap({ ShellWords.split(String($0)) }) else { return nil }
    var result: [String] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "-r", "-g", "--regex", "--glob":
        guard let option = rest.popFirst().flatMap(Pattern.option) else { return nil }
        result += option
      case "-s", "--start-service": result.append("-r")
      case "-sr":
        guard let option = rest.popFirst().flatMap(Pattern.option) else { return nil }
        result += option + ["-r"]
      case "--": return rest.isEmpty ? nil : result + rest
      default:
        if word.hasPrefix("-") { return nil }
        return result + [word] + rest
      }
    }
    return nil
  }
}

// MARK: - Text

extension ForeignFile {
  private static func words(_ line: String) -> [String] {
    TypedLine.words(ofLine: line.word).map { $0.decoded }
  }

  private static func strings(_ value: JSONValue?) -> [String] {
    value?.text.map { [$0] } ?? value?.elements.flatMap(strings) ?? []
  }

  /// The strings of a section of TOML, as far as they are in one line.
  private static func values(in text: String, section: String) -> [String: [String]] {
    var values: [String: [String]] = [:]
    var current = ""
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.drop(while: \.isWhitespace)
      if line.first == "[" {
        current = String(line.dropFirst().prefix { $0 != "]" })
      } else if current == section, let cut = line.firstIndex(of: "=") {
        let name = String(line[..<cut].filter { !$0.isWhitespace })
        values[name] = quotedStrings(in: line[cut...].dropFirst())
      }
    }
    return values.filter { !$0.value.isEmpty }
  }

  private static func quotedStrings(in text: Substring) -> [String] {
    var strings: [String] = []
    var rest = text
    while let open = rest.firstIndex(where: { "\"'#".contains($0) }), rest[open] != "#" {
      let body = rest[open...].dropFirst()
      guard let close = body.firstIndex(of: rest[open]) else { break }
      strings.append(String(body[..<close]))
      rest = body[close...].dropFirst()
    }
    return strings
  }
}
