import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

struct CommandNotesTests {
  private func notes(_ words: String...) throws -> [String] {
    let directory = try TemporaryDirectory()
    for name in ["app", "core"] { try directory.makeDirectories(name) }
    try directory.write("[dependencies]\ncore = { path = \"../core\" }\n", to: "app/Cargo.toml")
    try directory.write(
      "module x\nreplace core => ../core\nreplace y => ../gone\n", to: "app/go.mod")
    try directory.write(
      #"{"scripts":{"dev":"vite","start":"node server.js"}}"#, to: "app/package.json")
    let place = directory.path.appending("app")
    let settings = try OptionParser.parse(words.map { Array($0.utf8) }, in: place)
    let line = TypedLine(
      words: settings.command, options: settings.optionWords.filter { $0 != "--".word },
      directory: ProjectDirectory(path: place))
    return CommandNotes(line, settings).lines
  }

  @Test(arguments: [
    ["npm", "run", "dev"], ["npm", "run", "--silent", "dev"], ["yarn", "dev"], ["npx", "vite"],
    ["node", "--watch", "server.js"], ["npm run dev"], ["uvicorn", "main:app", "--reload"],
    ["python3", "manage.py", "runserver"], ["flask", "--app", "x", "run", "--debug"],
    ["hugo", "server", "-D"], ["mkdocs", "serve"], ["uvicorn a:b --reload --port $PORT"],
  ])
  func `of a command that watches by itself, it is said that it needs no watchrun`(
    words: [String]
  ) throws {
    let directory = try TemporaryDirectory()
    try directory.write(#"{"scripts":{"dev":"vite"}}"#, to: "package.json")
    for (options, end) in [
      ([], ", and needs no watchrun"), (["-r"], ", and -r restarts it on each change"),
    ] {
      let settings = try OptionParser.parse((options + words).map { Array($0.utf8) })
      let line = TypedLine(
        words: settings.command, directory: ProjectDirectory(path: directory.path))
      let shown = words.joined(separator: " ")
      #expect(CommandNotes(line, settings).lines == ["'\(shown)' watches by itself\(end)"])
    }
  }

  @Test func `nothing is said of others, of a page in front, or of one run`() throws {
    #expect(try notes("-r", "npm", "start") == [])
    #expect(try notes("--proxy", "5173", "npm", "run", "dev") == [])
    #expect(try notes("--once", "npm", "run", "dev") == [])
    #expect(try notes("vite", "build") == [])
    #expect(try notes("-r", "flask", "run") == [])
    #expect(try notes("grep", "watch", "guard") == [])
    #expect(try notes("-r", "python3", "manage.py", "runserver", "--noreload") == [])
  }

  @Test func `directories that a package is made from, and that are not watched, are named`() throws
  {
    #expect(
      try notes("-c", "--", "cargo", "test") == [
        "../core is used here, and not watched; to watch it: watchrun -c -w . -w ../core -- cargo test"
      ])
    #expect(
      try notes("go test ./...") == [
        "../core is used here, and not watched; to watch it: watchrun -w . -w ../core 'go test ./...'"
      ])
    #expect(try notes("-w", "src", "cargo", "test") == [])
    #expect(try notes("make") == [])
  }

  @Test func `an option of ours after the command is named`() throws {
    #expect(
      try notes("-e", "py", "pytest", "-x", "--once") == [
        "--once is given to the command; for watchrun: watchrun -e py --once pytest -x"
      ])
    #expect(try notes("--", "pytest", "--once") == [])
    #expect(try notes("pytest", "--release") == [])
  }

  @Test func `a placeholder is left out at the start`() throws {
    #expect(
      try notes("-e", "c", "cc", "-c", "{}") == [
        "{} is left out in the first run, which no change causes; to wait for one: "
          + "watchrun -e c -p cc -c {}"
      ])
    #expect(try notes("-p", "cc", "-c", "{}") == [])
  }
}
