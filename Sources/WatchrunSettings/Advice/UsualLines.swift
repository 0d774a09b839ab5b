import Support
import SystemCalls

/// What the files of a directory are usually tested and run with: the words after `watchrun`.
struct UsualLines {
  let directory: ProjectDirectory

  /// What tests the project, or else builds it; `nil` if no project is detected.
  var test: String? {
    guard let kind = DetectedProject(directory)?.kinds.first else { return nil }
    let steps = kind.tasks.filter { !$0.isService }
    guard let step = steps.first(where: { $0.name == "test" }) ?? steps.first else { return nil }
    return ShellWords.quoted(TypedLine.words(ofLine: step.line.word))
  }

  /// What starts the program or the page of the directory; `nil` if nothing is known.
  var run: String? {
    Self.runners.firstResult { $0(directory) }
  }

  /// In order; the first that applies is used.
  private static let runners: [@Sendable (ProjectDirectory) -> String?] = [
    { directory in ["dev", "start", "serve"].firstResult { script($0, directory) } },
    { directory in
      directory.holds(["Cargo.toml"], with: "[workspace]")
        || directory.holds("Cargo.toml") && directory.holds("src/main.rs") ? "-r cargo run" : nil
    },
    { directory in
      if !directory.holds("go.mod") { return nil }
      if directory.holds("main.go") { return "-r go run ." }
      let commands = ProjectDirectory(path: directory.path.appending("cmd")).names(of: .directory)
      return commands.first { directory.holds("cmd/\($0)/main.go") }.map { name in
        "-r go run \(ShellWords.quoted("./cmd/\(name)".word))"
      }
    },
    { $0.holds(["Package.swift"], with: ".executableTarget(") ? "-r swift run" : nil },
    { $0.holds("manage.py") ? "-r python3 manage.py runserver --noreload" : nil },
    { $0.holds(["app.py", "wsgi.py"], with: "Flask(") ? "-r flask run" : nil },
    { $0.holds(["main.py"], with: "app = FastAPI(") ? "-r uvicorn main:app" : nil },
    { $0.holds("bin/rails") ? "-r bin/rails server" : nil },
    { directory in
      guard let makefile = ProjectDetection.readMakefile(in: directory) else { return nil }
      return ["run", "serve", "start"].first {
        makefile.targets.contains($0) && makefile.obstacle(to: $0) == nil
      }.map { "-r make \($0)" }
    },
    { ProjectDetection.mainScript(in: $0).map { "-r node \(ShellWords.quoted($0.word))" } },
    { $0.first(of: ["app.py", "main.py", "server.py"]).map { "-r python3 \($0)" } },
    { $0.first(of: ["index.js", "server.js", "app.js", "main.js"]).map { "-r node \($0)" } },
    { $0.holds("index.html") ? "--serve ." : nil },
  ]

  /// What runs the only source file of the directory; `nil` if there are several.
  var onlyFile: String? {
    // Other programs read these.
    let names = directory.names(of: .file).filter {
      !["gulpfile.js", "Gruntfile.js", "conf.py"].contains($0) && !$0.includes(".config.")
    }
    let commands = names.compactMap { Interpreter.command([$0.word], isProgram: false) }
    return commands.count == 1 ? ShellWords.quoted(commands[0]) : nil
  }

  private static func script(_ name: String, _ directory: ProjectDirectory) -> String? {
    guard let script = ProjectDetection.script(name, in: directory), !script.watchesByItself
    else { return nil }
    return ProjectDetection.commandLine(for: name, in: directory)
  }

  /// The line for a word that names a script, target or recipe, or a subcommand of the project's tool.
  func line(for word: String) -> String? {
    if let line = ProjectDetection.commandLine(for: word, in: directory) { return line }
    let row = Self.subcommands.first { directory.holds($0.file) && $0.words.contains(word) }
    if let row { return row.line.filled(with: word) }
    if directory.holds("node_modules/.bin/\(word)") { return "npx \(word)" }
    return ["run", "start", "dev", "serve", "server", "runserver"].contains(word) ? run : nil
  }

  /// The subcommands of a project's tool, and the lines with them.
  private static let subcommands: [(file: String, words: Set<String>, line: String)] = [
    ("Cargo.toml", ["check", "clippy", "doc", "bench", "fmt", "build", "test"], "cargo %"),
    ("Cargo.toml", ["nextest"], "cargo nextest run"), ("Cargo.toml", ["miri"], "cargo miri test"),
    ("go.mod", ["vet", "fmt", "test", "generate"], "go % ./..."),
    ("go.mod", ["build"], "go build -o /dev/null ./..."),
  ]
}
