import Support
import Testing

@testable import WatchrunCommandLine

struct UsageErrorTests {
  private static let unknown: [([String], String)] = [
    (["--restrat", "x"], "unknown option '--restrat'; did you mean '--restart'?"),
    (["--wach=src", "x"], "unknown option '--wach'; did you mean '--watch'?"),
    (["--post", "x"], "unknown option '--post'; did you mean '--postpone'?"),
    (["--frobnicate", "x"], "unknown option '--frobnicate'; see watchrun --help"),
    (["--\u{1B}[2J", "x"], "unknown option '--\\u{1B}[2J'; see watchrun --help"),
  ]

  private static let missing: [([String], String)] = [
    (["--watch"], "--watch needs a value: --watch PATH"),
    (["-w"], "-w needs a value: -w PATH"),
    (["-vw"], "-w needs a value: -w PATH"),
    (["--clear=yes", "x"], "--clear takes no value"),
    (["--watch=", "x"], "--watch: expected a path, not nothing"),
    (["-w=", "x"], "-w: expected a path, not nothing"),
    (["--exts=,", "x"], "--exts: expected extensions, as in swift,md"),
    (["--events", "", "x"], "--events: expected kinds of change, as in create,modify"),
  ]

  private static let bad: [([String], String)] = [
    (["-d", "50", "x"], "-d: '50' is no duration; write 50ms, 1.5s, 2m or 0"),
    (["--max-wait=soon", "x"], "--max-wait: 'soon' is no duration; write 50ms, 1.5s, 2m or 0"),
    (["-s", "TREM", "x"], "-s: 'TREM' is no signal; did you mean 'TERM'?"),
    (["--stop-signal", "nonsense", "x"], "--stop-signal: 'nonsense' is no signal"),
    (["-o", "wait", "x"], "-o: 'wait' is none of queue, ignore, restart, signal"),
    (["--color=blue", "x"], "--color: 'blue' is none of auto, always, never"),
    (["--print=xml"], "--print: 'xml' is none of json, lines"),
    (
      ["--events=create,delete", "x"],
      "--events: 'delete' is none of create, modify, remove, rename, metadata"
    ),
    (["--emit=yaml", "x"], "--emit: 'yaml' is none of env, lines, json, none"),
    (["--timeout=0", "x"], "--timeout: expected more time than 0"),
    (["--timeout=5", "x"], "--timeout: '5' is no duration; write 50ms, 1.5s, 2m or 0"),
    (["--build=", "x"], "--build: expected a command, not nothing"),
    (["-E", "NAME", "x"], "-E: 'NAME' is not NAME=VALUE"),
    (["--env==x", "x"], "--env: '=x' is not NAME=VALUE"),
  ]

  private static let together: [([String], String)] = [
    (["--explain"], "--explain needs paths, as in 'watchrun --explain build/a.o'"),
    (["-i", "", "x"], "-i: expected a pattern, not ''"),
    (["--poll=", "x"], "--poll: the value behind '=' is missing"),
    (["--poll=1ms", "x"], "--poll: an interval is to be at least 10ms"),
    (["--poll=often", "x"], "--poll: 'often' is no duration; write 50ms, 1.5s, 2m or 0"),
    (
      ["--build", "make"],
      "nothing to run after the build: give a command, as in 'watchrun --build make ./app'"
    ),
    (
      ["--on-failure", "beep"],
      "nothing to run before the hook: give a command, as in 'watchrun make test'"
    ),
    (
      ["--print", "json", "--build", "make"],
      "--print runs nothing: leave out the command, or leave out --print"
    ),
    (
      ["--print", "json", "make"],
      "--print runs nothing: leave out the command, or leave out --print"
    ),
    (
      ["-e", "swift"],
      "--exts goes with a command; in a project it is said of each task, by 'exts' in watchrun.json"
    ),
    (
      ["-r"],
      "--restart goes with a command; in a project it is said of each task, by 'onBusy' in "
        + "watchrun.json"
    ),
    (
      ["-I", "-q"],
      "--interactive goes with a command, as in 'watchrun make test'; none is given"
    ),
    (
      ["--check", "make"],
      "--list-tasks, --init, --check and --schema run nothing: leave out the command"
    ),
    (
      ["-t", "a", "make"], "--task goes with a project: leave out the command, or leave out --task"
    ),
    (
      ["--config", "a", "make"],
      "--config goes with a project: leave out the command, or leave out --config"
    ),
    (["-t", "", "-q"], "-t: expected the name of a task, not nothing"),
    (["-0", "make"], "-0 goes with --files-from, --print, --emit lines or --explain"),
  ]

  private static let pages: [([String], String)] = [
    (
      ["--serve", "a", "--proxy", "3000"],
      "a page has either --serve or --proxy: leave out one of them"
    ),
    (["--port", "80", "make"], "--port goes with a page: add --serve DIR or --proxy URL"),
    (["--host", "a", "make"], "--host goes with a page: add --serve DIR or --proxy URL"),
    (["--open", "make"], "--open goes with a page: add --serve DIR or --proxy URL"),
    (["--editor", "vi", "make"], "--editor goes with a page: add --serve DIR or --proxy URL"),
    (
      ["--port", "80"],
      "--port goes with --serve or --proxy; a page of a project has the key 'port' in watchrun.json"
    ),
    (["--serve", "a", "--port", "0"], "--port: '0' is not a port from 1 to 65535"),
    (["--serve", "a", "--port=65536"], "--port: '65536' is not a port from 1 to 65535"),
    (["--serve", "a", "--port=+80"], "--port: '+80' is not a port from 1 to 65535"),
    (
      ["--serve", "a", "--host", "a b"],
      "--host: 'a b' is not an address; write 0.0.0.0 or a host name"
    ),
    (["--serve="], "--serve: expected a path, not nothing"),
    (
      ["--proxy", "https://a:1"],
      "--proxy: watchrun speaks plain HTTP to the server behind it, not HTTPS; give its http:// "
        + "address, as in http://localhost:3000"
    ),
    (
      ["--proxy", "make"],
      "--proxy: 'make' is not the address of a server; write 3000, localhost:3000 or "
        + "http://localhost:3000/base"
    ),
    (["--proxy", ":0"], "--proxy: '0' is not a port from 1 to 65535"),
    (
      ["--print", "json", "--serve", "a"],
      "--print serves no page: leave out --serve, or leave out --print"
    ),
    (
      ["--explain", "--serve", "a", "b"],
      "--serve does not go with --explain, --list-tasks, --init, --check or --schema: leave it out"
    ),
    (
      ["--check", "--proxy", "80"],
      "--proxy does not go with --explain, --list-tasks, --init, --check or --schema: leave it out"
    ),
    (
      ["--serve", "a", "-r"],
      "--restart goes with a command, as in 'watchrun --proxy :3000 -r -- ./server'; none is given"
    ),
    (
      ["--serve", "a", "--build", "make"],
      "--build goes with a command, as in 'watchrun --proxy :3000 -r -- ./server'; none is given"
    ),
    (
      ["--serve", "a", "-t", "b"],
      "--task goes with a project: leave out --serve, or leave out --task"
    ),
    (
      ["--serve", "a", "--once", "make"],
      "--once exits after a run, and the page with it: leave out --serve, or --once"
    ),
  ]

  @Test(arguments: unknown + missing + bad + together + pages)
  func `says in one line what is wrong`(words: [String], message: String) {
    #expect(throws: UsageError(message)) {
      try OptionParser.parse(words.map { Array($0.utf8) })
    }
  }

  @Test(arguments: [["-Z", "x"], ["-vZ", "x"], ["-\u{E9}", "x"], ["-0Z"]])
  func `an unknown letter is quoted with what it stands in`(words: [String]) throws {
    let error = try #require(throws: UsageError.self) {
      try OptionParser.parse(words.map { Array($0.utf8) })
    }
    #expect(error.description.hasPrefix("unknown option '\(words[0])'; "))
    #expect(!error.description.contains("\n"))
  }

  @Test(arguments: [
    ["--help"], ["-V"], ["--print", "json", "--help", "make"], ["--serve", "a", "-h"],
  ])
  func `help and version ask for nothing else`(words: [String]) throws {
    #expect(try OptionParser.parse(words.map { Array($0.utf8) }).task != .run)
  }

  @Test(arguments: [
    ("watch", "watch"), ("wathc", "watch"), ("wtch", "watch"), ("watchs", "watch"),
    ("signal", "signal"), ("xyz", nil), ("", nil),
  ])
  func `the nearest name is offered if it is near`(written: String, nearest: String?) {
    let names = ["watch", "signal", "stop-signal"]
    #expect(nearestName(to: written, among: names) == nearest)
  }
}
