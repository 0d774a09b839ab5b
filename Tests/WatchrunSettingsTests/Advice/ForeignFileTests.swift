import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

/// The lines that do here what the files of other tools say.
struct ForeignFileTests {
  @Test(
    arguments: [
      (
        ".air.toml",
        """
        root = "."
        [build]
          args_bin = []
          bin = "tmp/main" # the program
          cmd = "go build -o ./tmp/main ."
          include_ext = ["go", "tpl"]
        [log]
          cmd = "none"
        """, "watchrun -e go,tpl --build 'go build -o ./tmp/main .' -r ./tmp/main"
      ),
      (
        "nodemon.json", #"{ "watch": ["src"], "ext": "ts, json", "exec": "npx tsx src/a.ts" }"#,
        "watchrun -w src -e ts,json -r npx tsx src/a.ts"
      ),
      ("bacon.toml", "default_job = \"clippy\"\n", "watchrun cargo clippy"),
      (
        "bacon.toml", "[jobs.check]\ncommand = [\"cargo\", \"check\", \"--all-targets\"]\n",
        "watchrun cargo check --all-targets"
      ),
      (
        "modd.conf",
        "# all\n**/*.go !vendor/** {\n  prep: go build -o app .\n  daemon +sigint: ./app -p 1\n}\n",
        "watchrun -f '**/*.go' -i 'vendor/**' --build 'go build -o app .' -r ./app -p 1"
      ),
      (
        "modd.conf", "*.c {\n  prep: make && make test\n}\n",
        "watchrun -f '*.c' 'make && make test'"
      ),
      ("reflex.conf", "-r '\\.go$' -s -- go run .\n", "watchrun -e go -r go run ."),
      ("reflex.conf", "# x\n-sg '*.c' make\n", nil),
      ("reflex.conf", "-g '*.c' make {}\n", "watchrun -f '*.c' make {}"),
      (".air.toml", "[build]\n", nil), ("modd.conf", "*.c {\n prep: cc @mods\n}\n", nil),
      ("nodemon.json", "{", nil),
    ] as [(String, String, String?)])
  func `a file has the line that does the same`(_ name: String, _ text: String, _ line: String?)
    throws
  {
    let directory = try TemporaryDirectory()
    try directory.write(text, to: name)
    let notes = ForeignFile.notes(in: ProjectDirectory(path: directory.path))
    let expected = line.map { "; the same: \($0)" } ?? "; --init writes a file for watchrun"
    #expect(notes.count == 1)
    #expect(notes.first?.hasSuffix(expected) == true, "\(notes)")
  }
}
