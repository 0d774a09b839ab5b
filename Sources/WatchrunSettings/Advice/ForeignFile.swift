/// A configuration file of another tool that runs programs, which is not read here.
struct ForeignFile: Sendable {
  let name: String
  let tool: String
  /// How to do here what it does.
  let remedy: String

  /// Those that people have; Procfiles are read.
  static let all: [ForeignFile] =
    [
      (".air.toml", "air", "its cmd and bin, as in: watchrun --build 'go build -o app .' -r ./app"),
      ("nodemon.json", "nodemon", "its exec, as in: watchrun -r node app.js"),
      ("bacon.toml", "bacon", "the command of a job, as in: watchrun cargo clippy"),
      ("modd.conf", "modd", "prep and daemon of a block, as in: watchrun --build make -r ./app"),
      ("reflex.conf", "reflex", "its command, as in: watchrun -e go -r go run ."),
      ("process-compose.yaml", "process-compose", processes),
      ("process-compose.yml", "process-compose", processes),
      ("mprocs.yaml", "mprocs", processes), ("mprocs.json", "mprocs", processes),
    ].map { ForeignFile(name: $0, tool: $1, remedy: "write \($2)") }

  private static let processes =
    "its processes as tasks of watchrun.json, as in: web: { run: \"./server\", service: true }"

  func note(in directory: ProjectDirectory) -> String? {
    guard directory.holds(name) else { return nil }
    return "\(name) is for \(tool) and not read here; \(remedy)"
  }

  static func advice(for name: String, in directory: ProjectDirectory) -> String? {
    if name.hasPrefix("Procfile"), directory.holds(name) {
      return
        "to run the processes of \(name.printable): \(TypedLine.line(["--config".word, name.word]))"
    }
    return named(name)?.note(in: directory)
  }

  static func named(_ name: String) -> ForeignFile? { all.first { $0.name == name } }

  static func notes(in directory: ProjectDirectory) -> [String] {
    all.compactMap { $0.note(in: directory) }
  }
}
