import Support
import SystemCalls

extension ProjectDetection {
  /// A command line, such as a script of `package.json` or a process of a Procfile, as far as its words tell what
  /// it starts.
  package struct Script {
    let line: String
    private let directory: ProjectDirectory

    init(_ line: String, in directory: ProjectDirectory) {
      (self.line, self.directory) = (line, directory)
    }

    /// - Parameter words: The words of a command, or its shell line.
    package init(_ words: [[UInt8]], in directory: ProjectDirectory) {
      let words = words.wordsOfLine
      self.init(
        words.count == 1 ? words[0].decoded : ShellWords.quoted(words), in: directory)
    }

    /// Whether a program that it starts sees changes by itself, so that restarts do harm.
    package var watchesByItself: Bool {
      var known: Set<String> = []
      return watches(&known)
    }

    /// - Parameter known: The lines that were looked at, since scripts may start each other.
    private func watches(_ known: inout Set<String>) -> Bool {
      guard known.insert("\(directory.path) \(line)").inserted else { return false }
      return commands.filter { !Self.takesWordsAsText($0.words) }.contains { command in
        Self.watches(command.all)
          || started(by: command).contains { line in line.watches(&known) }
      }
    }
  }
}

// MARK: - Programs that watch

extension ProjectDetection.Script {
  private static let watchers: Set = [
    "--watch", "--watch-path", "--watchAll", "--hot", "--reload",
    "nodemon", "ts-node-dev", "tsnd", "node-dev", "live-server", "browser-sync", "vite-node",
    "watchexec", "entr", "sphinx-autobuild", "start-storybook", "ptw", "pytest-watch",
    "pytest-watcher", "watchfiles", "watchmedo",
    "next dev", "nuxt dev", "nuxi dev", "astro dev", "fastapi dev", "webpack serve", "ng serve",
    "ng s", "react-scripts start", "craco start", "gatsby develop", "remix dev", "vite dev",
    "wrangler dev", "netlify dev", "expo start", "storybook dev", "vue-cli-service serve",
    "quasar dev", "docusaurus start", "eleventy --serve", "rsbuild dev", "rspack serve",
    "rspack dev", "svelte-kit dev", "ember serve", "ember s", "hugo server", "hugo serve",
    "mkdocs serve", "jekyll serve", "middleman server", "mdbook serve", "zola serve",
    "trunk serve", "mix phx.server", "tailwind start", "symfony serve", "artisan serve", "php -S",
  ]

  /// What watches beside some words only, or not beside some.
  private static let conditional: [(word: String, beside: Set<String>, unless: Set<String>)] = [
    (
      "-w",
      ["tsc", "rollup", "webpack", "babel", "postcss", "tailwindcss", "stylus", "swc", "coffee"], []
    ),
    (
      "watch",
      [
        "npm", "yarn", "pnpm", "bun", "make", "just", "task", "rake", "rails", "gulp", "grunt",
        "webpack", "turbo", "tsx", "dotnet", "cargo", "vitest", "compass",
      ], []
    ),
    ("guard", ["bundle"], []), ("-pvc", ["latexmk"], []),
    ("--continuous", ["gradle", "gradlew"], []),
    ("FLASK_DEBUG", ["1", "true"], []), ("vite", [], ["build", "preview"]),
    ("parcel", [], ["build"]), ("flask", ["--debug"], []),
    ("runserver", [], ["--noreload"]), ("runserver_plus", [], ["--noreload"]),
    ("react-scripts test", [], once), ("craco test", [], once),
    ("react-app-rewired test", [], once), ("ng test", [], once), ("karma start", [], once),
  ]

  /// What ends the tests of tools that watch otherwise.
  private static let once: Set = [
    "CI", "--no-watch", "--watch=false", "--watchAll=false", "--single-run",
  ]

  /// Programs that run none of their words, whatever these name.
  private static let readers: Set = [
    "apt", "apt-get", "awk", "brew", "cat", "cp", "echo", "egrep", "fgrep", "find", "git", "grep",
    "kill", "killall", "less", "ls", "man", "mkdir", "mv", "pgrep", "pip", "pip3", "pkill",
    "printf", "rg", "rm", "sed", "touch", "type", "which",
  ]

  /// Whether a program only searches, prints or installs what its words name: `grep -rn nodemon .`.
  private static func takesWordsAsText(_ words: [String]) -> Bool {
    guard let first = words.first, let name = first.split(separator: Character("/")).last
    else { return false }
    if ["npm", "yarn", "pnpm", "bun"].contains(name) {
      return words.count > 1 && ["add", "i", "install", "remove", "uninstall"].contains(words[1])
    }
    return readers.contains(String(name))
  }

  /// Whether one of the words says so.
  private static func watches(_ line: [String]) -> Bool {
    var words = line.flatMap { word in
      if word.hasSuffix("=false") { return [word] }
      return word.split { !$0.isLetter && !$0.isNumber && !"-_./".contains($0) }.map {
        String($0.split(separator: Character("/")).last ?? $0)
      }
    }
    if let node = words.firstIndex(of: "node"),
      let file = words[node...].firstIndex(where: { $0.hasSuffix("js") && $0.contains(".") })
    {
      // The options after the file are its own.
      words = words[...file] + words[file...].dropFirst().filter { !$0.hasPrefix("-") }
    }
    let known = Set(words + zip(words, words.dropFirst()).map { "\($0) \($1)" })
    return !known.isDisjoint(with: watchers) || words.contains { $0.hasSuffix("-dev-server") }
      || conditional.contains { row in
        known.contains(row.word) && known.isDisjoint(with: row.unless)
          && (row.beside.isEmpty || !known.isDisjoint(with: row.beside))
      }
  }
}

// MARK: - Commands

extension ProjectDetection.Script {
  /// A command of the line, and where it runs.
  private struct Command {
    var all: [String]
    /// Its program and the arguments.
    var words: [String]
    var directory: ProjectDirectory
  }

  private var commands: [Command] {
    var place = directory
    let words =
      ShellWords.split(line) ?? line.split(whereSeparator: \.isWhitespace).map(String.init)
    return words.split(whereSeparator: ["&&", "||", "|", ";", "&"].contains).map { part in
      let words = Array(part.drop { ["env", "exec"].contains($0) || $0.contains("=") })
      if words.first == "cd", words.count > 1 {
        place = ProjectDirectory(path: Path(words[1]).absolute(from: place.path))
      }
      return Command(all: Array(part), words: words, directory: place)
    }
  }

  /// The lines that a command runs: a script of `package.json` or several, a script of a shell, or its words.
  private func started(by command: Command) -> [Self] {
    guard let program = command.words.first else { return [] }
    let words = command.words.dropFirst()
    var lines = words.filter { $0.contains(" ") }.map { ($0, command.directory) }
    switch program {
    case "npm", "yarn", "pnpm", "bun":
      if let script = Self.managed(words, in: command.directory) {
        lines.append((script.line, script.directory))
      }
    case "concurrently", "npm-run-all", "run-p", "run-s":
      let names = words.map { $0.split(separator: Character(":"), maxSplits: 1) }.map { parts in
        ["npm", "yarn", "pnpm", "bun"].contains(parts.first)
          ? parts.last ?? "" : parts.joined(separator: ":")[...]
      }
      lines += names.flatMap { name in
        ProjectDetection.scripts(in: command.directory).filter { script, _ in
          name.last == "*" ? script.hasPrefix(name.dropLast()) : script == name
        }.map { ($0.value, command.directory) }
      }
    default:
      if let text = Self.shellScript(program, in: command.directory) {
        lines += text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") }.map {
          (String($0), command.directory)
        }
      }
    }
    return lines.map { Self($0.0, in: $0.1) }
  }

  /// The script of `yarn dev`, `npm run dev --prefix web`, `pnpm --filter web dev`, `yarn workspace web dev`.
  private static func managed(_ words: ArraySlice<String>, in directory: ProjectDirectory) -> Self?
  {
    var place = directory
    var names: [String] = []
    var isPlace = false
    for word in words.flatMap({ $0.split(separator: Character("="), maxSplits: 1) }) {
      if isPlace, let member = member(String(word), of: directory) {
        place = member
      } else if !word.hasPrefix("-"), !["run", "run-script", "workspace"].contains(word) {
        names.append(String(word))
      }
      isPlace = places.contains(String(word))
    }
    return names.first.flatMap { ProjectDetection.script($0, in: place) }
  }

  /// What package managers have before the package whose script they run.
  private static let places: Set = [
    "workspace", "--filter", "-F", "-w", "--workspace", "--prefix", "-C", "--cwd", "--dir",
  ]

  /// The package of this path, or of this name in the workspace.
  private static func member(_ name: String, of directory: ProjectDirectory) -> ProjectDirectory? {
    let place = ProjectDirectory(path: Path(name).absolute(from: directory.path))
    if place.holds(ProjectDetection.package) { return place }
    return Workspace(Workspace.root(of: directory) ?? directory)?.members.first {
      $0.json(of: ProjectDetection.package)?["name"]?.text == name
    }
  }

  private static let longestScript: UInt64 = 65536

  /// The text of a script that is started by its path: `bin/css`.
  private static func shellScript(_ program: String, in directory: ProjectDirectory) -> String? {
    guard interpreter(of: program, in: directory)?.hasSuffix("sh") == true else { return nil }
    return directory.text(of: program)
  }

  /// The program in the first line of a script: `ruby` of `#!/usr/bin/env ruby`.
  private static func interpreter(of program: String, in directory: ProjectDirectory) -> String? {
    let path = Path(program).absolute(from: directory.path)
    guard program.contains("/"), let status = try? FileStatus(of: path, followsLinks: true),
      status.type == .file, status.size <= longestScript, let text = directory.text(of: program),
      text.hasPrefix("#!")
    else { return nil }
    let words = text.prefix { !$0.isNewline }.split { " /!".contains($0) }
    return words.last { !$0.hasPrefix("-") }.map(String.init)
  }
}

// MARK: - What a process is restarted by

extension ProjectDetection.Script {
  /// The paths whose changes restart it as a service: none if it sees changes by itself, and what only a restart
  /// applies if Rails loads its code anew.
  var watched: [String] {
    if watchesByItself { return [] }
    guard directory.holds("config/application.rb"), !line.includes("RAILS_ENV=production"),
      commands.contains(where: { Self.loadsRails($0.words) })
    else { return ["."] }
    return ["config", "lib", "Gemfile.lock"].filter { directory.type(of: Path($0)) != nil }
  }

  private static func loadsRails(_ words: [String]) -> Bool {
    let names = words.map { String($0.split(separator: Character("/")).last ?? "") }
    return names.first == "jobs" || names.contains("puma") || names.contains("sidekiq")
      || zip(names, names.dropFirst()).contains {
        ["rails server", "rails s"].contains("\($0) \($1)")
      }
  }

  /// Patterns for the sources of languages other than that of its program, which has no use for them.
  var ignored: [String] {
    let kinds = [ProjectDetection.node, ProjectDetection.python, ProjectDetection.ruby]
    guard let command = commands.last(where: { $0.words.first != "cd" }),
      let word = command.words.first
    else { return [] }
    let program =
      Self.interpreter(of: word, in: command.directory)
      ?? String(word.split(separator: Character("/")).last ?? "")
    guard let own = kinds.first(where: { $0.programs.contains(program) }) else { return [] }
    // Any language reads data and pages.
    return kinds.filter { $0.name != own.name }.flatMap(\.sources).filter {
      $0.hasPrefix("*.") && !["*.json", "*.html"].contains($0)
    }
  }
}

extension ProjectDetection {
  /// For messages: what watches by itself, and what follows for one or several; `nil` for nothing.
  static func watching(_ names: [String], _ one: String, _ several: String) -> String? {
    if names.isEmpty { return nil }
    let end =
      names.count == 1 ? "watches by itself, and \(one)" : "watch by themselves, and \(several)"
    return "\(some(of: names)) \(end)"
  }
}

extension Project {
  /// For messages: the processes of a Procfile that no change restarts; `nil` if there is none.
  var unrestarted: String? {
    let names = tasks.filter { $0.isService && $0.watched.isEmpty }.map(\.name)
    return ProjectDetection.watching(names, "is not restarted", "are not restarted")
  }
}
